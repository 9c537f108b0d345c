"""
Attacks: changed inputs, killed processes, damaged archives, hostile terminal commands.

    python bench/hostile.py [--quick] [--json FILE] [--seed N]

Every line of the table counts attempts and those that did harm: an error that is not
Foldline's own, a lost message, an exposed secret. Harmful attempts are printed, with their seed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import hostile_archives
import hostile_inputs
import hostile_kills
import hostile_terminal
from foldline.evaluation.sections import Goal, ReportSection, ReportTable
from part import finish, options_of

FULL: Final = {"inputs": 6_000, "kills": 220, "archives": 3_000, "terminal": 400}
QUICK: Final = {"inputs": 240, "kills": 6, "archives": 60, "terminal": 40}

WHAT: Final[dict[str, tuple[str, Callable[[int, int], tuple[Any, list[str]]]]]] = {
    "inputs": ("changed files and conversations", hostile_inputs.fuzz),
    "kills": ("processes killed while they append or compact", hostile_kills.fuzz),
    "archives": ("damaged archives, used in every way", hostile_archives.fuzz),
    "terminal": ("attacks on the terminal, in each of its modes", hostile_terminal.fuzz),
}

TEXT: Final = """\
Inputs are recorded files and made conversations with bytes and JSON values changed at random, for
every reader and for compacting and recalling in every wire format. Processes that append, compact
and undo are killed with SIGKILL; then the archive is opened, and every acknowledged message must
exist, the view be consistent, and every handle recallable. Archives are damaged in bytes,
pages, rows, cells and in their JSON, and then listed, read, salvaged, recalled from
and continued. The terminal gets commands that reach outside its workspace."""


def section(sizes: dict[str, int], seed: int) -> tuple[ReportSection, list[str]]:
    """Attack, and return the figures and the harmful attempts."""
    rows, goals, harm = [], [], []
    with ThreadPoolExecutor(2) as beside:  # killed processes leave a core to the others
        running = {
            name: beside.submit(_timed, fuzz, sizes[name], seed)
            for name, (_, fuzz) in WHAT.items()
        }
    for name, (what, _) in WHAT.items():
        found, wrong, taken = running[name].result()
        harm += wrong
        detail = (
            ", ".join(f"{kind} {count:,}" for kind, count in sorted(found.items()))
            if (isinstance(found, dict))
            else f"{found:,} messages acknowledged"
        )
        seconds = f"{taken:,.0f}"
        rows.append((what, f"{sizes[name]:,}", f"{len(wrong):,}", seconds, detail))
        goals.append(Goal(f"harm done by {what}", len(wrong), "", most=0))
    head = ("what", "attempts", "harm", "seconds", "of which")
    table = ReportTable("Attempts, and those that did harm", head, tuple(rows))
    return ReportSection("hostile", "Under attack", TEXT, (table,), goals=tuple(goals)), harm


def _timed(
    fuzz: Callable[[int, int], tuple[Any, list[str]]], count: int, seed: int
) -> tuple[Any, list[str], float]:
    began = time.monotonic()
    return *fuzz(count, seed), time.monotonic() - began


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    made, harm = section(QUICK if options.quick else FULL, options.seed)
    finish(made, options)
    for one in harm[:100]:
        print(one, file=sys.stderr)
    if harm:
        sys.exit(1)


if __name__ == "__main__":
    main()
