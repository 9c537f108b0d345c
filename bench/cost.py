"""
The cost of sessions under each policy, and how much of what was needed was in view.

    python bench/cost.py [SHARED] [--quick] [--json FILE] [--model NAME] [--windows 64000,200000]
                         [--every N] [--without-peers]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import cuts
from cost_section import Measured, cost_section
from foldline.evaluation.sections import ReportSection
from part import finish, options_of
from payers import PLAIN, Payer, counter
from peer import peers
from replaying import Asked, Case, Paid, read, replay

WINDOWS = "64000,200000"
QUICK_EVERY = 8
CASES: list[Case] = []
"""The sessions to replay; forked workers read them here."""

AT_ANY_WINDOW = ("no compaction", "clear at every step", "Foldline in 32,000")
"""Policies whose cost does not depend on the window, if it is larger."""


def section(options: argparse.Namespace) -> ReportSection:
    """Replay every session with every policy in every window."""
    every = options.every * (QUICK_EVERY if options.quick else 1)
    CASES[:] = read(options.shared, every)
    others = [] if options.without_peers or options.quick else peers()
    called = [p for p in others if p.environment and p.sizes]
    payers = (*PLAIN, *(Payer(p.name, peer=p) for p in called if not p.problem))
    windows = [int(window) for window in options.windows.split(",")]
    missing = [f"{p.name}: {p.problem}" for p in called if p.problem]
    missing += [f"{p.name}: it takes no size" for p in others if p.environment and not p.sizes]
    costs = dict(_measured(payers, windows))
    return cost_section(Measured(costs, payers, windows, len(CASES), options.model, missing))


def _measured(
    payers: Sequence[Payer], windows: Sequence[int]
) -> Iterator[tuple[tuple[str, int], Paid]]:
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(os.cpu_count(), context) as pool:
        jobs = {
            pool.submit(_replayed, payer, window): (payer, window)
            for payer in payers
            for window in (windows[-1:] if payer.name in AT_ANY_WINDOW else windows)
        }
        for done, job in enumerate(as_completed(jobs), 1):
            payer, window = jobs[job]
            paid, seconds = job.result()
            words = f"{done} of {len(jobs)}: {payer.name} in {window:,}, {seconds:.0f} s"
            print(words, file=sys.stderr)
            yield (payer.name, window), paid
            if payer.name in AT_ANY_WINDOW:
                yield from (((payer.name, smaller), paid) for smaller in windows[:-1])


def _replayed(payer: Payer, window: int) -> tuple[Paid, float]:
    """Replay all sessions with one policy; also return the seconds of this process."""
    began, total, counts = time.process_time(), Paid(), counter()
    with payer.ready() as begin:
        for case in CASES:
            summary_costs = Asked()
            total.add(replay(case, begin(window, summary_costs), summary_costs, window, counts))
    return total, time.process_time() - began


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("shared", nargs="?", type=Path, default=cuts.SHARED)
    parser.add_argument("--model", default="claude-sonnet-4-5", help="whose prices count")
    parser.add_argument("--windows", default=WINDOWS)
    parser.add_argument("--every", type=int, default=1, help="use every Nth session only")
    parser.add_argument("--without-peers", action="store_true")
    options = parser.parse_args()
    if not cuts.there(options.shared):
        sys.exit(f"No transcripts in {options.shared}: nothing to measure.")
    finish(section(options), options)


if __name__ == "__main__":
    main()
