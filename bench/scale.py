"""
Measure a session as it grows: `python bench/scale.py [--quick] [--json FILE] [--most N]`.

One session in a file grows to a million messages of about 100 tokens with default settings,
compacting as in use. At every power of ten it is measured: the cost of an
append with its decision, of opening, viewing and recalling in a separate process,
and the memory and disk space. Wall-clock times include the load of other programs;
processor times do not.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import synthetic
from foldline import Session
from foldline.evaluation.sections import Goal, Plot, ReportSection, ReportTable, Series
from foldline.stores.sqlite import SqliteStore
from part import finish, options_of

NAME = "bench"
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
CHUNK = 1_000
"""Messages imported between two views: about one ordinary window."""

WINDOW = 200_000
ROUNDS = 1_000
"""Appends timed at each size, each with the view that follows it."""

QUICK_ROUNDS = 300
P99 = 0.99

PROBE = """
import json, pathlib, sys, time
import foldline, synthetic

def resident():
    status = pathlib.Path("/proc/self/status")
    if not status.is_file():
        return 0
    return int(status.read_text(encoding="ascii").split("VmRSS:")[1].split()[0]) * 1024

path, name, handle = sys.argv[1:]
foldline.compact(synthetic.session(50_000, seed=1), budget=2_000)
start, cpu = resident(), time.process_time()
session = foldline.Session.open(path, name, window=200_000)
opened = time.process_time()
shown = session.view()
viewed = time.process_time()
taken = resident() - start
session.recall(handle)
recalled = time.process_time()
session.close()
closed = time.process_time()
with foldline.Archive.open(path) as archive:
    archive.recall(handle)
print(json.dumps({
    "open": opened - cpu, "view": viewed - opened, "recall": recalled - viewed,
    "archive": time.process_time() - closed, "memory": taken, "shown": len(shown),
}))
"""


@dataclass(frozen=True, slots=True)
class Look:
    """
    Measurements of a session at one size. Times are in seconds, sizes in bytes.

    ``wall`` and ``cpu`` are the median and the p99 of an append with its view; those that
    compacted are counted in ``compactions`` and timed by ``compacting``, at the median.
    """

    messages: int
    wall: tuple[float, float]
    cpu: tuple[float, float]
    compactions: int
    compacting: float | None
    open: float
    view: float
    recall: float
    archive: float
    memory: int
    disk: float


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--most", type=int, default=0, metavar="N", help="grow to N messages")
    parser.add_argument("--durability", choices=("full", "process"), default="full")
    options = parser.parse_args()
    finish(section(options), options)


def section(options: Any) -> ReportSection:
    most = getattr(options, "most", 0) or (10_000 if options.quick else SIZES[-1])
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    durability = getattr(options, "durability", "full")
    return scale_section(
        list(looks([n for n in SIZES if n <= most], rounds, durability)), durability
    )


# --- growing -----------------------------------------------------------------------------------


def looks(sizes: list[int], rounds: int, durability: Any) -> Iterator[Look]:
    with tempfile.TemporaryDirectory() as folder:
        path, first = Path(folder) / "agent.db", ""
        for size in sizes:
            print(f"scale: {size:,} messages", file=sys.stderr, flush=True)
            store = SqliteStore(path, durability=durability)
            with Session.open(None, NAME, window=WINDOW, store=store) as session:
                first = first or session.append(synthetic.message(0))[:12]
                grow(session, size)
                times = append_times(session, rounds)
            store.close()
            yield look(size, times, path, first)


def grow(session: Session, size: int) -> None:
    """Import messages up to a size, with views in between as by an agent."""
    for begin in range(session.length, size, CHUNK):
        end = min(begin + CHUNK, size)
        session.import_messages(synthetic.message(number) for number in range(begin, end))
        session.view()


def append_times(session: Session, rounds: int) -> list[tuple[float, float, bool]]:
    """Append and decide; return wall-clock and processor time, and whether it compacted."""
    spent = []
    for number in range(session.length, session.length + rounds):
        wire, before = synthetic.message(number), session.tokens
        wall, cpu = time.perf_counter(), time.thread_time()
        session.append(wire)
        session.view()
        used = (time.perf_counter() - wall, time.thread_time() - cpu)
        spent.append((*used, session.tokens < before))
    return spent


def look(size: int, times: list[tuple[float, float, bool]], path: Path, handle: str) -> Look:
    ran = subprocess.run(
        [sys.executable, "-c", PROBE, str(path), NAME, handle],
        capture_output=True,
        check=True,
        text=True,
        cwd=Path(__file__).parent,
    )
    found = json.loads(ran.stdout)
    plain = [one for one in times if not one[2]]
    compacting = sorted(one[0] for one in times if one[2])
    return Look(
        size,
        both([one[0] for one in plain]),
        both([one[1] for one in plain]),
        len(compacting),
        compacting[len(compacting) // 2] if compacting else None,
        found["open"],
        found["view"],
        found["recall"],
        found["archive"],
        found["memory"],
        path.stat().st_size / size,
    )


def both(times: list[float]) -> tuple[float, float]:
    """Return the median and the p99."""
    ranked = sorted(times)
    return ranked[len(ranked) // 2], ranked[min(len(ranked) - 1, int(P99 * len(ranked)))]


# --- report ------------------------------------------------------------------------------------

TEXT = """\
One session grows in one file, with a window of 200,000 tokens and the default settings. An append
is durable when it returns, with one fsync; the view after it decides whether to compact. Appends
that compacted are excluded from the percentiles and have their own column. Opening, viewing
and recalling are measured in a separate process, which has opened another session before; the
memory is the growth of that process up to the first view.
"""


def scale_section(found: list[Look], durability: str) -> ReportSection:
    tables = (_costs(found), _taking_up(found))
    text = TEXT if durability == "full" else TEXT.replace(", with one fsync", ", without fsync")
    return ReportSection(
        "scale", "A session that grows", text, tables, _plots(found), _goals(found)
    )


def _costs(found: list[Look]) -> ReportTable:
    columns = (
        "messages", "append and decide, ms", "p99", "processor time, ms", "p99",
        "compactions", "one takes, ms",
    )  # fmt: skip
    rows = tuple(
        (
            one.messages,
            *(_ms(seconds) for seconds in (*one.wall, *one.cpu)),
            one.compactions,
            None if one.compacting is None else _ms(one.compacting),
        )
        for one in found
    )
    return ReportTable(
        "Appending", columns, rows, "Median and p99; of the compactions the median."
    )


def _taking_up(found: list[Look]) -> ReportTable:
    columns = (
        "messages", "open, ms", "first view, ms", "recall, ms", "recall by archive, ms",
        "memory, MB", "file, bytes a message",
    )  # fmt: skip
    rows = tuple(
        (
            one.messages,
            *(_ms(seconds) for seconds in (one.open, one.view, one.recall, one.archive)),
            round(one.memory / 1e6, 1),
            round(one.disk),
        )
        for one in found
    )
    return ReportTable("Reopening", columns, rows, "Processor time in a separate process.")


def _plots(found: list[Look]) -> tuple[Plot, ...]:
    def series(name: str, values: list[float]) -> Series:
        points = zip((one.messages for one in found), values, strict=True)
        return Series(name, tuple((float(x), y) for x, y in points))

    appending = (
        series("median", [_ms(one.wall[0]) for one in found]),
        series("p99", [_ms(one.wall[1]) for one in found]),
        series("p99 of processor time", [_ms(one.cpu[1]) for one in found]),
    )
    opening = (
        series("open", [max(0.01, _ms(one.open)) for one in found]),
        series("recall", [max(0.01, _ms(one.recall)) for one in found]),
    )
    where = "messages in the session"
    return (
        Plot(
            "scale_append", "Append and decide", "lines", where, "ms", appending,
            log_x=True, log_y=True, goal=1.0,
        ),
        Plot(
            "scale_open", "Open and recall", "lines", where, "ms", opening,
            log_x=True, log_y=True,
        ),
    )  # fmt: skip


def _goals(found: list[Look]) -> tuple[Goal, ...]:
    by_size = {one.messages: one for one in found}
    goals = [
        Goal(f"append and decide at {size:,} messages, p99", _ms(one.wall[1]), "ms", most=1.0)
        for size, one in by_size.items()
        if size >= 10_000
    ]
    goals += [
        Goal(f"processor time of that at {size:,} messages, p99", _ms(one.cpu[1]), "ms", most=0.6)
        for size, one in by_size.items()
    ]
    if len(found) > 1:
        small, large = found[-2:]
        each = (large.memory - small.memory) / (large.messages - small.messages)
        goals.append(Goal("resident memory a message", round(each), "bytes", most=600))
    if {100, 10_000} <= by_size.keys():
        ratio = by_size[10_000].wall[0] / by_size[100].wall[0]
        goals.append(Goal("cost at 10,000 messages over 100", round(ratio, 2), "x", most=1.5))
    return tuple(goals)


def _ms(seconds: float) -> float:
    return round(seconds * 1_000, 3)


if __name__ == "__main__":
    main()
