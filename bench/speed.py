"""
Measure the speed of Foldline against its goals.

    python bench/speed.py [--quick] [--json FILE] [--only WORD]

Everything is measured in one run, after a warm-up that loads the vocabulary; nothing is cached
between two measurements. A MB is a million bytes of the messages as JSON. Real transcripts are
measured if they exist in ``../shared``, the generated session of `synthetic` everywhere.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

import foldline
import synthetic
from foldline.core.prepared import MemorySettings
from foldline.evaluation.sections import Goal, ReportSection, ReportTable
from foldline.formats.files import read_file
from foldline.formats.registry import dialect
from foldline.stores.sqlite import SqliteStore
from foldline.tokens.choose import choose_counter
from part import finish, options_of

TRANSCRIPTS = Path(__file__).resolve().parents[2] / "shared" / "data" / "transcripts"
REAL = (
    "codex-jdx-mise/rollout-019f2016-8a7a.jsonl.gz",
    "codex-jdx-mise/rollout-019f627f-f4b0.jsonl.gz",
    "pi-pi-mono/before-compaction.jsonl.gz",
    "mini-swe-agent-deepseek/deepseek_lite_dev_noparallel--sqlfluff__sqlfluff-1733.traj.json.gz",
)
MADE_UP = "made-up session"
SHARE = 0.10
"""The budget of a cold compaction, as a share of the input tokens."""

WINDOW = 4_000_000
"""A window that the warm session does not fill: every view decides, but none compacts."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of a table; ``goal`` is its maximum, None if there is no goal."""

    what: str
    value: float
    unit: str
    goal: float | None = None


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument(
        "--only", default="", metavar="WORD", help="kinds of figures with this in the name"
    )
    options = parser.parse_args()
    finish(section(options), options)


TEXT = """\
Everything is measured in one run, after a warm-up that loads the vocabulary; nothing is cached
between two measurements. A MB is a million bytes of the messages as JSON. Where a figure has a
goal, that stands beside it.
"""


def section(options: argparse.Namespace) -> ReportSection:
    busy = os.getloadavg()[0] > (os.cpu_count() or 1) / 2
    foldline.compact(synthetic.session(50_000, seed=1), budget=2_000)
    tables, goals, only = [], [], getattr(options, "only", "")
    for title, figures in KINDS.items():
        if only in figures.__name__:
            print(f"speed: {title}", file=sys.stderr, flush=True)
            found = list(figures(options.quick))
            tables.append(_table(title, found))
            goals += [Goal(f.what, _short(f.value), f.unit, most=f.goal) for f in found if f.goal]
    note = "\n\nThe machine was busy with other work: figures are worse than necessary."
    text = TEXT + note * busy
    return ReportSection("speed", "Speed and memory", text, tuple(tables), goals=tuple(goals))


def _table(title: str, figures: list[Figure]) -> ReportTable:
    rows = tuple((one.what, _short(one.value), one.unit, one.goal) for one in figures)
    return ReportTable(title, ("", "measured", "unit", "goal, at most"), rows)


def _short(value: float) -> float:
    return float(f"{value:.3g}") if abs(value) < 100 else float(round(value))


# --- cold compaction ---------------------------------------------------------------------------


def cold_figures(quick: bool) -> Iterator[Figure]:
    """Compact whole conversations to a tenth, without a model; decoding and counting included."""
    made_up = []
    for name, messages in conversations(quick):
        size = len(as_json(messages)) / 1e6
        budget = round(foldline.count(messages) * SHARE)
        spent = best(lambda m=messages, b=budget: compacted(m, b), 2 if quick else 3)
        title = f"cold compaction, {name} ({size:.1f} MB), processor time"
        yield Figure(title, spent * 1_000 / size, "ms/MB", 60)
        made_up += [(math.log(size), math.log(spent))] if name == MADE_UP else []
    if len(made_up) > 1:
        (small, fast), (large, slow) = made_up
        yield Figure("growth with size, as a power", (slow - fast) / (large - small), "", 1.05)


def conversations(quick: bool) -> Iterator[tuple[str, list[Any]]]:
    for megabytes in (1,) if quick else (1, 4):
        yield MADE_UP, synthetic.session(megabytes * 1_000_000)
    for name in REAL[:1] if quick else REAL:
        if (TRANSCRIPTS / name).is_file():
            yield name.split("/")[0], real_messages(TRANSCRIPTS / name)


def real_messages(path: Path) -> list[Any]:
    """Read a session as if its agent had never compacted it, in the OpenAI chat format."""
    parts = [part.transcript.messages for part in read_file(path).conversations]
    return dialect("openai-chat").messages([message for part in parts for message in part])


def compacted(messages: list[Any], budget: int) -> None:
    receipt = foldline.compact(messages, budget=budget).receipt
    assert receipt.status == "compacted", receipt


# --- a warm session ----------------------------------------------------------------------------


def warm_figures(quick: bool) -> Iterator[Figure]:
    """Append a message and request the view, in sessions of three sizes on disk."""
    rounds = 200 if quick else 1_000
    for durability in ("full", "process"):
        medians = {}
        for size in (100, 10_000) if quick else (100, 1_000, 10_000):
            wall, processor = zip(*append_times(durability, size, rounds), strict=True)
            medians[size] = percentile(sorted(wall), 0.5)
            title = f"append and decide at {size:,} messages, {durability}"
            yield Figure(f"{title}, median", medians[size] * 1_000, "ms")
            yield Figure(f"{title}, p99", percentile(sorted(wall), 0.99) * 1_000, "ms", 1)
            busy = percentile(sorted(processor), 0.99)
            yield Figure("  of it processor time, p99", busy * 1_000, "ms")
        ratio = medians[10_000] / medians[100]
        yield Figure(f"cost at 10,000 over cost at 100 messages, {durability}", ratio, "×", 1.5)


def append_times(durability: Any, size: int, rounds: int) -> Iterator[tuple[float, float]]:
    """Yield wall-clock and processor time of each append with its view."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "agent.db", durability=durability)
        with foldline.Session.open(None, "bench", window=WINDOW, store=store) as session:
            session.extend(synthetic.message(number) for number in range(size))
            session.view()
            for number in range(size, size + rounds):
                wire = synthetic.message(number)
                wall, processor = time.perf_counter(), time.thread_time()
                session.append(wire)
                session.view()
                yield time.perf_counter() - wall, time.thread_time() - processor
        store.close()


# --- session memory ----------------------------------------------------------------------------


def rung_figures(quick: bool) -> Iterator[Figure]:
    """Compact sessions on disk by a snapshot prepared in the background, including the commit."""
    for size in (1_000,) if quick else (1_000, 10_000):
        spent = min(remembered_time(size) for _ in range(2 if quick else 5))
        title = f"compaction by session memory at {size:,} messages"
        yield Figure(title, spent * 1_000, "ms", 10)


def remembered_time(size: int) -> float:
    settings = foldline.Config(memory=MemorySettings(enabled=True))
    # About 97 tokens per message fill the window to 81 %.
    window = round(size * 97 / 0.81) + 20_480
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "agent.db", durability="process")
        with foldline.Session.open(
            None, "bench", window=window, store=store, config=settings
        ) as session:
            session.extend(synthetic.message(number) for number in range(size * 98 // 100))
            deadline = time.monotonic() + 60
            while session.memory is None and time.monotonic() < deadline:
                time.sleep(0.005)
            session.extend(synthetic.message(number) for number in range(size * 98 // 100, size))
            start = time.perf_counter()
            receipt = session.compact(force=True)
            spent = time.perf_counter() - start
        store.close()
    assert receipt.reason == "session memory", receipt
    return spent


# --- memory ------------------------------------------------------------------------------------

MEMORY = """
import contextlib, ctypes, json, pathlib, sys
import foldline, synthetic

def taken(field):
    status = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split(field + ":")[1].split()[0]) * 1024

start = taken("VmRSS")
foldline.compact(synthetic.session(50_000, seed=1), budget=2_000)
warm = taken("VmRSS")
messages = json.load(sys.stdin)
with contextlib.suppress(OSError, AttributeError):
    ctypes.CDLL(None).malloc_trim(0)  # release the other memory of reading them
loaded = taken("VmRSS")
with contextlib.suppress(OSError):
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
assert foldline.compact(messages, budget=int(sys.argv[1])).receipt.status == "compacted"
peak = taken("VmHWM")
print(json.dumps({"once": warm - start, "input": loaded - warm, "all": peak - warm}))
"""


def memory_figures(quick: bool) -> Iterator[Figure]:
    """Yield the peak memory of a separate process, above that for a small session."""
    if not Path("/proc/self/status").is_file():
        return
    session = synthetic.session(1_000_000 if quick else 4_000_000)
    size, taken = peak(session, round(foldline.count(session) * SHARE))
    title = f"peak memory for a made-up session of {size / 1e6:.1f} MB"
    yield Figure(f"{title}, over import", taken["all"] / size, "×", 3)
    yield Figure("  of it the input messages", taken["input"] / size, "×")
    yield Figure("  in addition, once: modules and vocabulary", taken["once"] / 1e6, "MB")
    words = ("do it", "yes", "a" * (2_000_000 if quick else 8_000_000), "done", "go on")
    roles = ("user", "assistant") * 3
    session = [{"role": r, "content": c} for r, c in zip(roles, words, strict=False)]
    size, taken = peak(session, 20_000)
    yield Figure(f"  for one letter, {size / 1e6:.0f} million times", taken["all"] / size, "×", 6)


def peak(messages: list[Any], budget: int) -> tuple[int, dict[str, int]]:
    """Compact in a separate process; return the bytes of the messages, and of memory."""
    text = as_json(messages)
    ran = subprocess.run(
        [sys.executable, "-c", MEMORY, str(budget)],
        input=text,
        capture_output=True,
        check=True,
        cwd=Path(__file__).parent,
    )
    return len(text), json.loads(ran.stdout)


# --- start -------------------------------------------------------------------------------------


FIRST_USE = """
import sys
import foldline
from foldline.tokens.choose import choose_counter
words = "message {0} says something about src/app_{0}.py "
roles = ("user", "assistant") * 30
messages = [{"role": r, "content": words.format(n) * 3} for n, r in enumerate(roles)]
done = foldline.compact(messages, budget=600, counter=choose_counter(prefer=sys.argv[1]))
assert done.receipt.status == "compacted"
"""


def start_figures(quick: bool) -> Iterator[Figure]:
    """Start processes, take the best of many, and subtract the bare interpreter."""

    def clock() -> float:
        spent = getrusage(RUSAGE_CHILDREN)
        return spent.ru_utime + spent.ru_stime

    repeat = 5 if quick else 20
    command = Path(sys.executable).with_name("foldline")
    bare = best(lambda: run(sys.executable, "-I", "-c", "pass"), repeat, clock)
    imported = best(lambda: run(sys.executable, "-I", "-c", "import foldline"), repeat, clock)
    used, exact = (
        best(lambda c=counter: run(sys.executable, "-I", "-c", FIRST_USE, c), repeat, clock)
        for counter in ("estimate", "splintr")
    )
    yield Figure("bare interpreter, processor time", bare * 1_000, "ms")
    yield Figure("import foldline, over that", (imported - bare) * 1_000, "ms", 45)
    yield Figure("first use of foldline.compact, over that", (used - bare) * 1_000, "ms", 60)
    yield Figure("  with a real vocabulary", (exact - bare) * 1_000, "ms")
    if command.is_file():
        printed = best(lambda: run(str(command), "--version"), repeat, clock)
        yield Figure("foldline --version, over that", (printed - bare) * 1_000, "ms", 100)


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


# --- counting ----------------------------------------------------------------------------------


def count_figures(quick: bool) -> Iterator[Figure]:
    """Count the texts of a session, every one for the first time."""
    made_up = synthetic.session(500_000 if quick else 2_000_000)
    texts = [message["content"] for message in made_up]
    size = sum(len(text.encode()) for text in texts) / 1e6
    for prefer in ("splintr", "tiktoken", "estimate"):
        counter = choose_counter(prefer=prefer)
        if counter.name.startswith(prefer):
            spent = best(lambda c=counter: [c.count(text) for text in texts], 3)
            yield Figure(f"counting tokens, {counter.name}", size / spent, "MB/s")


# --- measuring ---------------------------------------------------------------------------------


def best(
    work: Callable[[], Any], repeat: int, clock: Callable[[], float] = time.process_time
) -> float:
    """Return the shortest of several runs, in seconds: the least disturbed one."""
    shortest = math.inf
    for _ in range(repeat):
        start = clock()
        work()
        shortest = min(shortest, clock() - start)
    return shortest


def percentile(ranked: list[float], share: float) -> float:
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]


def as_json(messages: list[Any]) -> bytes:
    return json.dumps(messages, ensure_ascii=False).encode("utf-8", "surrogatepass")


KINDS: dict[str, Callable[[bool], Iterator[Figure]]] = {
    "Cold compaction": cold_figures,
    "A warm session": warm_figures,
    "Session memory": rung_figures,
    "Memory": memory_figures,
    "Start": start_figures,
    "Counting tokens": count_figures,
}


if __name__ == "__main__":
    main()
