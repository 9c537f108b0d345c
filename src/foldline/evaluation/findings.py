"""What was measured on somebody's sessions, as the sections of a report."""

from __future__ import annotations

from collections.abc import Sequence

from foldline.evaluation.kept import Score
from foldline.evaluation.measuring import Observation
from foldline.evaluation.pricing import NOTHING_PAID, Bill
from foldline.evaluation.recordings import UNCOMPACTED, Measured
from foldline.evaluation.sections import Goal, Section, Table
from foldline.evaluation.tallies import (
    details,
    library_plot,
    names,
    overview,
    picked,
    source_plot,
)
from foldline.models.info import Prices

MOST_BROKEN = 5
"""How many broken promises are told in full."""


def retention(scores: Sequence[Score], mine: str) -> Section:
    """
    Tell what is kept.

    Args:
        scores: Of every cut, budget and method.
        mine: The method that is shown by source.
    """
    own = picked(scores, method=mine)
    sessions = len(names(scores, "session"))
    cuts = len(own) // max(1, len(names(own, "goal")))
    tables = [overview(scores, "Kept of what was needed"), details(scores, "In detail")]
    plots = [library_plot(scores, "kept", "What is kept of what was needed later")]
    if len(names(own, "source")) > 1:
        tables.append(details(own, f"{mine}, by source", by="source"))
        plots.append(source_plot(own, "kept-by-source", f"{mine}: what is kept, by source"))
    text = (
        f"{cuts} cuts through {sessions} sessions. At a cut, everything before it is compacted; "
        "what counts is how many of the identifiers that the assistant went on to use, without "
        "being told again, are still there."
    )
    return Section("retention", "What is kept", text, tuple(tables), tuple(plots))


def validity(observations: Sequence[Observation]) -> Section:
    """Tell whether every compaction of ours kept its promises."""
    ours = [seen for seen in observations if seen.score.method.startswith("Foldline")]
    broken = [seen for seen in ours if seen.made.broken]
    failed = [seen for seen in ours if seen.made.problem]
    rows = [
        (
            method,
            sum(seen.score.method == method for seen in ours),
            sum(seen.score.method == method for seen in failed),
            sum(seen.score.method == method for seen in broken),
        )
        for method in dict.fromkeys(seen.score.method for seen in ours)
    ]
    table = Table("", ("method", "compactions", "could not fit", "promise broken"), tuple(rows))
    told = [f"- {seen.score.session}: {seen.made.broken}" for seen in broken[:MOST_BROKEN]]
    text = (
        "Every compaction was checked against what Foldline promises: valid for its provider, "
        "pairs together, smaller and within the budget, the task in sight, everything that was "
        "removed recalled exactly."
    )
    goal = Goal("compactions that break a promise", float(len(broken)), "", most=0.0)
    return Section("validity", "What is promised", "\n".join([text, *told]), (table,), (), (goal,))


def speed(observations: Sequence[Observation]) -> Section:
    """Tell how much processor time making a history smaller takes, in milliseconds per MB."""
    rows = []
    for method in dict.fromkeys(seen.score.method for seen in observations):
        seen = [one for one in observations if one.score.method == method]
        seconds = sum(one.made.seconds for one in seen)
        megabytes = sum(one.characters for one in seen) / 1e6
        rows.append((method, len(seen), round(megabytes, 2), round(seconds / megabytes * 1e3, 1)))
    table = Table("", ("method", "runs", "MB", "ms per MB"), tuple(rows))
    text = "Processor time, counting of tokens included; a megabyte is a million characters."
    return Section("speed", "What it takes", text, (table,))


def price(measured: Sequence[Measured], prices: Prices, model: str, window: int) -> Section | None:
    """
    Tell what the sessions would have cost; None where none is long enough.

    Args:
        measured: The files.
        prices: Of the model, in US dollars.
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
        f"of {window:,} tokens: what a request shares with the one before is read from the prompt "
        "cache, the rest is written to it. Requests that are too long would have been refused."
    )
    return Section("price", "What it costs", text, (Table("", columns, tuple(rows)),))
