"""
Compare the speed of libraries: processor time, memory, and start-up cost.

    python bench/speed_peers.py [--quick] [--json FILE] [--peer NAME ...]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import cuts
import foldline
from foldline.evaluation.sections import Plot, ReportSection, ReportTable, Series
from part import finish, options_of
from peer import Peer, peers
from synthetic import session

Wire = Sequence[Mapping[str, Any]]

SHARE = 0.1
"""Share of the tokens to keep."""

RUNS, QUICK_RUNS = 3, 1
"""Number of fresh runs of each; the best counts."""

BYTES, QUICK_BYTES = 1_000_000, 250_000
"""Size of the generated session as JSON, in bytes."""

REAL = 3
"""Number of recorded sessions."""

LEAST, MOST = 300_000, 3_000_000
"""Length range of these, in characters."""

TEXT = """\
Every library compacts the same histories to {share:.0%} of their tokens: a made-up session of
{size:.1f} MB{real}. Each run is a fresh process that has done one small compaction before, and the
best of {runs} counts. Time is processor time of the call alone: conversions of an adapter are
excluded, and so is the stand-in for a summarizing model, which in production would take seconds.
Start is the cost of importing the library and one compaction of a few lines, on top of Python's
own start: some libraries import lazily. Peak is how much the process grew
during the call. Libraries that only cut off the oldest messages do not read the rest, which is
why they are fast: compare their retention, too."""


@dataclass(slots=True)
class Speed:
    """The cost of one library: seconds per million characters by data, and its start."""

    peer: Peer
    start_seconds: float = math.inf
    start_bytes: float = math.inf
    peak_bytes: float = 0.0
    per_million: dict[str, float] = field(default_factory=dict)
    problem: str = ""


def measured(peer: Peer, data: Mapping[str, Sequence[Wire]], runs: int) -> Speed:
    """Measure a library on all data."""
    speed = Speed(peer, problem=peer.problem)
    for name, histories in data.items():
        rates = [rate for history in histories if (rate := _best(speed, history, runs))]
        if rates:
            speed.per_million[name] = sum(rates) / len(rates)
    return speed


def _best(speed: Speed, history: Wire, runs: int) -> float:
    """Return the fewest seconds per million characters; 0 if there was no answer."""
    budget = int(foldline.count(list(history)) * SHARE)
    size = sum(len(str(message.get("content") or "")) for message in history)
    best, peak = math.inf, math.inf
    for _ in range(runs):
        with speed.peer.running() as running:
            answer = running.compact([dict(message) for message in history], budget)
        if answer.messages is None:
            speed.problem = answer.problem
            continue
        best, peak = min(best, answer.seconds), min(peak, answer.peak_bytes)
        speed.start_seconds = min(speed.start_seconds, running.start_seconds)
        speed.start_bytes = min(speed.start_bytes, running.start_bytes)
    if best is math.inf:
        return 0.0
    speed.peak_bytes = max(speed.peak_bytes, peak)
    return best / size * 1e6


def data(*, quick: bool) -> dict[str, list[Wire]]:
    """Return the histories to compact, by the name of their column."""
    found: dict[str, list[Wire]] = {"made-up": [session(QUICK_BYTES if quick else BYTES)]}
    if not quick and cuts.there(cuts.SHARED):
        found["recorded"] = list(_recorded())
    return found


def _recorded() -> Iterator[Wire]:
    """Yield some recorded sessions, spread over all of suitable size."""
    write = cuts.tool(cuts.SHARED, "retention").openai
    sized = [
        steps
        for _, steps in cuts.sessions(cuts.SHARED)
        if LEAST <= sum(len(step["text"]) for step in steps) <= MOST
    ]
    for steps in sized[:: max(1, len(sized) // REAL)][:REAL]:
        yield write([step for step in steps if step["role"] != "system"])


def section(options: argparse.Namespace) -> ReportSection:
    """Measure, and return the section."""
    histories = data(quick=options.quick)
    runs = QUICK_RUNS if options.quick else RUNS
    speeds = []
    for peer in peers(*options.peer):
        print(f"speed_peers: {peer.name}", file=sys.stderr, flush=True)
        speeds.append(measured(peer, histories, runs))
    recorded = len(histories.get("recorded", ()))
    text = TEXT.format(
        share=SHARE,
        size=(QUICK_BYTES if options.quick else BYTES) / 1e6,
        real=f" and {recorded} recorded ones" if recorded else "",
        runs=runs,
    )
    tables = (_table(speeds, tuple(histories)),)
    return ReportSection(
        "speed_peers", "Speed beside others", text, tables, (_plot(speeds, tuple(histories)),)
    )


def _table(speeds: Sequence[Speed], names: Sequence[str]) -> ReportTable:
    fastest = {
        name: min(each.per_million[name] for each in speeds if name in each.per_million)
        for name in names
        if any(name in each.per_million for each in speeds)
    }
    rows = []
    for each in speeds:
        row: list[Any] = [f"{each.peer.name} {each.peer.version}"]
        for name in names:
            rate = each.per_million.get(name)
            row.append(None if rate is None else rate * 1e3)
            row.append(None if rate is None else rate / max(fastest[name], 1e-9))
        known = each.start_seconds is not math.inf
        row.append(each.start_seconds * 1e3 if known else None)
        row.append(each.start_bytes / 1e6 if known else None)
        row.append(each.peak_bytes / 1e6 if each.per_million else None)
        row.append("" if each.per_million and not each.problem else each.problem)
        rows.append(tuple(row))
    columns = ["library"]
    for name in names:
        columns += [f"{name}, ms/MB", "× fastest"]
    columns += ["start, ms", "start, MB", "peak, MB", "problem"]
    note = "MB of text are a million characters; the fastest of a column is 1."
    return ReportTable("Processor time and memory", tuple(columns), tuple(rows), note)


def _plot(speeds: Sequence[Speed], names: Sequence[str]) -> Plot:
    ran = [each for each in speeds if each.per_million]
    series = tuple(
        Series(
            name,
            tuple(
                (float(index), each.per_million[name] * 1e3)
                for index, each in enumerate(ran)
                if name in each.per_million
            ),
        )
        for name in names
    )
    labels = tuple(each.peer.name for each in ran)
    title = "Processor time of one cold compaction"
    return Plot("speed_peers", title, "bars", "library", "ms/MB", series, labels, log_y=True)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--peer", action="append", default=[], help="this library only")
    options = parser.parse_args()
    finish(section(options), options)


if __name__ == "__main__":
    main()
