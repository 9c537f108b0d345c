"""Aggregate measurements with confidence intervals, as report sections."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from foldline.evaluation.pricing import NOTHING_PAID, Bill
from foldline.evaluation.retention import (
    MEASURES,
    UNCOMPACTED,
    RecordingResult,
    RetentionObservation,
    Score,
)
from foldline.evaluation.sections import Cell, Goal, Plot, ReportSection, ReportTable, Series
from foldline.frozen import frozen
from foldline.models.info import Prices

RESAMPLES = 2_000
SEED = 7
"""Seed of the resampling: the same values give the same interval."""

SURE = 0.95
"""Confidence level of an interval, a fraction."""


@frozen
class Estimate:
    """A mean with its interval; ``count`` is the number of values."""

    mean: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        if self.low == self.high:  # one session gives no interval
            return f"{self.mean:.3f}"
        return f"{self.mean:.3f} ({self.low:.3f}–{self.high:.3f})"


def estimate_clustered(
    values: Mapping[str, Sequence[float]], *, resamples: int = RESAMPLES
) -> Estimate | None:
    """
    Estimate the mean of values that come in clusters, such as the cuts of one session.

    Whole clusters are drawn with replacement, because values of one session resemble each other
    (the cluster bootstrap; Davison and Hinkley, Bootstrap Methods, 1997, section 3.8).

    Args:
        values: The values of each cluster, by its name.
        resamples: Number of resamples.

    Returns:
        The mean of all values with its percentile interval; None without values.
    """
    sums = [(sum(found), len(found)) for _, found in sorted(values.items()) if found]
    if not sums:
        return None
    total, count = sum(s for s, _ in sums), sum(n for _, n in sums)
    draw = random.Random(SEED)  # noqa: S311  # not a secret: the same interval on every run
    means = sorted(_resampled_mean(draw.choices(sums, k=len(sums))) for _ in range(resamples))
    cut = (1 - SURE) / 2
    low, high = means[int(cut * resamples)], means[min(resamples - 1, int((1 - cut) * resamples))]
    return Estimate(total / count, low, high, count)


def _resampled_mean(drawn: list[tuple[float, int]]) -> float:
    return sum(s for s, _ in drawn) / sum(n for _, n in drawn)


TITLES = {"need": "need", "deep": "deep", "line": "line", "line_deep": "line deep"}

NOTE = (
    "Fractions of the identifiers that the assistant used later. Need: the identifier is there. "
    "Deep: the same for those outside the last tenth. Line: a line of the source that holds it "
    "is there, with at least 60 % of its words. Size: characters that were really taken."
)


def estimate(scores: Iterable[Score], value: Callable[[Score], float]) -> Estimate | None:
    """Return the mean of a value over scores, with its interval over sessions."""
    clusters: dict[str, list[float]] = defaultdict(list)
    for score in scores:
        clusters[score.session].append(value(score))
    return estimate_clustered(clusters)


def estimate_mean(scores: Iterable[Score], measure: str) -> Estimate | None:
    """Return the mean of one of the `MEASURES`."""
    return estimate(scores, lambda score: float(getattr(score.kept, measure)))


def names(scores: Iterable[Score], of: str) -> list[str]:
    """List the methods, goals or sources of scores, in their order."""
    return list(dict.fromkeys(getattr(score, of) for score in scores))


def select(scores: Iterable[Score], **criteria: str) -> list[Score]:
    """Select scores by their fields, such as ``method="Foldline default", goal="5%"``."""
    return [s for s in scores if all(getattr(s, key) == name for key, name in criteria.items())]


def overview(scores: Sequence[Score], title: str, measure: str = "need") -> ReportTable:
    """Return a table of methods and budgets, with a measure and its interval in every cell."""
    goals = names(scores, "goal")
    rows = []
    for method in names(scores, "method"):
        found = [
            estimate_mean(select(scores, method=method, goal=goal), measure) for goal in goals
        ]
        rows.append((method, *(None if one is None else str(one) for one in found)))
    note = f"Fractions ({TITLES[measure]}), in brackets the 95 % interval over sessions."
    return ReportTable(title, ("history cut to", *goals), tuple(rows), note)


def details(scores: Sequence[Score], title: str = "", by: str = "method") -> ReportTable:
    """Return a table of all measures, with a row per budget and method, or source."""
    rows = []
    for goal in names(scores, "goal"):
        for name in names(scores, by):
            chosen = select(scores, goal=goal, **{by: name})
            if not chosen:
                continue
            means = [estimate_mean(chosen, measure) for measure in MEASURES]
            size = sum(score.size for score in chosen) / len(chosen)
            figures = (None if mean is None else round(mean.mean, 4) for mean in means)
            rows.append((goal, name, len(chosen), *figures, f"{size:.1%}"))
    columns = ("budget", by, "cuts", *(TITLES[m] for m in MEASURES), "size")
    return ReportTable(title, columns, tuple(rows), NOTE)


def library_plot(scores: Sequence[Score], name: str, title: str) -> Plot:
    """Draw need as bars: a group for every method, best first, a bar for every budget."""
    best = sorted(names(scores, "method"), key=lambda name: -_mean(scores, name))
    return _bars(scores, name, title, "method", best)


def source_plot(scores: Sequence[Score], name: str, title: str) -> Plot:
    """Draw need as bars: a group for every source, a bar for every budget."""
    return _bars(scores, name, title, "source", sorted(names(scores, "source")))


def _mean(scores: Sequence[Score], method: str) -> float:
    found = [score.kept.need for score in select(scores, method=method)]
    return sum(found) / len(found)


def _bars(scores: Sequence[Score], name: str, title: str, by: str, labels: Sequence[str]) -> Plot:
    series = []
    for goal in names(scores, "goal"):
        found = [
            (place, one)
            for place, label in enumerate(labels)
            if (one := estimate_mean(select(scores, goal=goal, **{by: label}), "need"))
        ]
        points = tuple((float(place), round(one.mean, 4)) for place, one in found)
        low = tuple(round(one.low, 4) for _, one in found)
        high = tuple(round(one.high, 4) for _, one in found)
        series.append(Series(f"cut to {goal}", points, low, high))
    what = "need: fraction of what was needed that is still there"
    return Plot(name, title, "bars", "", what, tuple(series), tuple(labels))


MOST_BROKEN = 5
"""Maximum number of broken promises quoted."""


def retention(scores: Sequence[Score], mine: str) -> ReportSection:
    """
    Report retention.

    Args:
        scores: Scores of every cut, budget and method.
        mine: The method to break down by source.
    """
    own = select(scores, method=mine)
    sessions = len(names(scores, "session"))
    cuts = len(own) // max(1, len(names(own, "goal")))
    tables = [overview(scores, "Kept of what was needed"), details(scores, "In detail")]
    plots = [library_plot(scores, "kept", "What is kept of what was needed later")]
    if len(names(own, "source")) > 1:
        tables.append(details(own, f"{mine}, by source", by="source"))
        plots.append(source_plot(own, "kept-by-source", f"{mine}: what is kept, by source"))
    text = (
        f"{cuts} cuts through {sessions} sessions. At a cut, everything before it is compacted; "
        "counted are those identifiers that the assistant used afterwards, without seeing "
        "them again, that are still there."
    )
    return ReportSection("retention", "What is kept", text, tuple(tables), tuple(plots))


def validity(observations: Sequence[RetentionObservation]) -> ReportSection:
    """Report whether every compaction of Foldline kept its promises."""
    ours = [seen for seen in observations if seen.score.method.startswith("Foldline")]
    broken = [seen for seen in ours if seen.made.broken]
    failed = [seen for seen in ours if seen.made.problem]
    counts = [Counter(seen.score.method for seen in some) for some in (ours, failed, broken)]
    rows: list[tuple[Cell, ...]] = [(one, *(count[one] for count in counts)) for one in counts[0]]
    table = ReportTable(
        "", ("method", "compactions", "could not fit", "promise broken"), tuple(rows)
    )
    examples = [f"- {seen.score.session}: {seen.made.broken}" for seen in broken[:MOST_BROKEN]]
    text = (
        "Every compaction was checked against what Foldline promises: valid for its provider, "
        "pairs together, smaller and within the budget, the task in view, everything that was "
        "removed recalled exactly."
    )
    goal = Goal("compactions that break a promise", float(len(broken)), "", most=0.0)
    return ReportSection(
        "validity", "What is promised", "\n".join([text, *examples]), (table,), (), (goal,)
    )


def speed(observations: Sequence[RetentionObservation]) -> ReportSection:
    """Report the processor time of compacting a history, in milliseconds per MB."""
    rows = []
    for method in dict.fromkeys(seen.score.method for seen in observations):
        seen = [one for one in observations if one.score.method == method]
        seconds = sum(one.made.seconds for one in seen)
        megabytes = sum(one.characters for one in seen) / 1e6
        rows.append((method, len(seen), round(megabytes, 2), round(seconds / megabytes * 1e3, 1)))
    table = ReportTable("", ("method", "runs", "MB", "ms per MB"), tuple(rows))
    text = "Processor time, including token counting; a megabyte is a million characters."
    return ReportSection("speed", "What it takes", text, (table,))


def price(
    measured: Sequence[RecordingResult], prices: Prices, model: str, window: int
) -> ReportSection | None:
    """
    Report what the sessions would have cost; None if none is long enough.

    Args:
        measured: The files.
        prices: Prices of the model, in US dollars.
        model: Its name.
        window: Its window in tokens.
    """
    total = dict[str, Bill]()
    for one in measured:
        for name, bill in one.bills.items():
            total[name] = total.get(name, NOTHING_PAID) + bill
    if not total:
        return None
    whole = prices.of(total[UNCOMPACTED].usage)
    rows = []
    for name, bill in total.items():
        usd, used = prices.of(bill.usage), bill.usage
        rows.append(
            (
                name,
                f"${usd:,.2f}",
                f"{usd / whole:.0%}" if whole else None,
                f"{used.cache_read / 1e6:.2f}M",
                f"{used.cache_write / 1e6:.2f}M",
                f"{bill.over:,} of {bill.requests:,}",
            )
        )
    columns = ("context", "price", "of no compaction", "read", "written", "too long")
    sessions = sum(bool(one.bills) for one in measured)
    text = (
        f"{sessions} sessions replayed request by request at the prices of {model}, in a window "
        f"of {window:,} tokens: the prefix shared with the request before is read from the prompt "
        "cache, the rest is written to it. Requests that are too long would have been rejected."
    )
    return ReportSection("price", "What it costs", text, (ReportTable("", columns, tuple(rows)),))
