"""From scores to tables and plots: means over cuts, with intervals over sessions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from foldline.evaluation.intervals import Estimate, clustered
from foldline.evaluation.kept import MEASURES, Score
from foldline.evaluation.sections import Plot, Series, Table

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
    return clustered(clusters)


def measured(scores: Iterable[Score], measure: str) -> Estimate | None:
    """Return the mean of one of the `MEASURES`."""
    return estimate(scores, lambda score: float(getattr(score.kept, measure)))


def names(scores: Iterable[Score], of: str) -> list[str]:
    """Name the methods, goals or sources, in the order in which they came."""
    return list(dict.fromkeys(getattr(score, of) for score in scores))


def picked(scores: Iterable[Score], **wanted: str) -> list[Score]:
    """Choose scores by their fields, such as ``method="Foldline default", goal="5%"``."""
    return [s for s in scores if all(getattr(s, key) == name for key, name in wanted.items())]


def overview(scores: Sequence[Score], title: str, measure: str = "need") -> Table:
    """Make the table of methods and budgets, a measure with its interval in every cell."""
    goals = names(scores, "goal")
    rows = []
    for method in names(scores, "method"):
        found = [measured(picked(scores, method=method, goal=goal), measure) for goal in goals]
        rows.append((method, *(None if one is None else str(one) for one in found)))
    note = f"Fractions ({TITLES[measure]}), in brackets the 95 % interval over sessions."
    return Table(title, ("history cut to", *goals), tuple(rows), note)


def details(scores: Sequence[Score], title: str = "", by: str = "method") -> Table:
    """Make the table of every measure, a row for every budget and method, or source."""
    rows = []
    for goal in names(scores, "goal"):
        for name in names(scores, by):
            chosen = picked(scores, goal=goal, **{by: name})
            if not chosen:
                continue
            means = [measured(chosen, measure) for measure in MEASURES]
            size = sum(score.size for score in chosen) / len(chosen)
            figures = (None if mean is None else round(mean.mean, 4) for mean in means)
            rows.append((goal, name, len(chosen), *figures, f"{size:.1%}"))
    columns = ("budget", by, "cuts", *(TITLES[m] for m in MEASURES), "size")
    return Table(title, columns, tuple(rows), NOTE)


def library_plot(scores: Sequence[Score], name: str, title: str, measure: str = "need") -> Plot:
    """Draw a measure as bars: a group for every method, best first, a bar for every budget."""
    best = sorted(names(scores, "method"), key=lambda name: -_mean(scores, name, measure))
    return _bars(scores, name, title, "method", best, measure)


def source_plot(scores: Sequence[Score], name: str, title: str, measure: str = "need") -> Plot:
    """Draw a measure as bars: a group for every source, a bar for every budget."""
    return _bars(scores, name, title, "source", sorted(names(scores, "source")), measure)


def _mean(scores: Sequence[Score], method: str, measure: str) -> float:
    found = [float(getattr(score.kept, measure)) for score in picked(scores, method=method)]
    return sum(found) / len(found)


def _bars(
    scores: Sequence[Score], name: str, title: str, by: str, labels: Sequence[str], measure: str
) -> Plot:
    series = []
    for goal in names(scores, "goal"):
        found = [
            (place, one)
            for place, label in enumerate(labels)
            if (one := measured(picked(scores, goal=goal, **{by: label}), measure))
        ]
        points = tuple((float(place), round(one.mean, 4)) for place, one in found)
        low = tuple(round(one.low, 4) for _, one in found)
        high = tuple(round(one.high, 4) for _, one in found)
        series.append(Series(f"cut to {goal}", points, low, high))
    what = f"{TITLES[measure]}: fraction of what was needed that is still there"
    return Plot(name, title, "bars", "", what, tuple(series), tuple(labels))
