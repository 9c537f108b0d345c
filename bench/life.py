"""
A long life: thousands of turns, over a hundred compactions, with kills and restarts between.

    python bench/life.py [--quick] [--json FILE] [--turns N] [--without-peers]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foldline.evaluation.sections import ReportSection
from life_section import PEER, Lived, life_section
from lifetime import begin, by_turn, facts, turn
from living import WINDOW, Known, Moment, find_known, message_text
from part import finish, options_of
from payers import called
from peer import peers
from replaying import Asked

TURNS, QUICK_TURNS = 5_000, 600
PARTS, MOMENTS = 5, 20
"""Number of successive processes, and of measurements."""

SECONDS = 1_800
"""Timeout of one process, in seconds."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The length of the session, and the interval of measurements, in turns."""

    turns: int
    every: int

    @property
    def parts(self) -> list[tuple[int, int]]:
        """The first and the last turn of every process."""
        step = -(-self.turns // PARTS)
        return [(start, min(start + step, self.turns)) for start in range(0, self.turns, step)]


def section(options: argparse.Namespace) -> ReportSection:
    """Run it, next to a summarizing library, and report what is left."""
    turns = options.turns or (QUICK_TURNS if options.quick else TURNS)
    plan = Plan(turns, max(1, turns // MOMENTS))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as beside:
        summaries = None
        if not (options.without_peers or options.quick):
            summaries = beside.submit(lambda: dict(_summarized(plan)))
        moments = list(_lived(plan, Path(folder) / "life.db"))
        return life_section(
            Lived(facts(turns), moments, summaries.result() if summaries else {}, PARTS)
        )


def _lived(plan: Plan, archive: Path) -> Iterator[Moment]:
    """Run one process after another, each continuing where the last was killed."""
    script = Path(__file__).with_name("living.py")
    for start, stop in plan.parts:
        numbers = {"turns": plan.turns, "start": start, "stop": stop, "every": plan.every}
        given = [word for name, value in numbers.items() for word in (f"--{name}", str(value))]
        done = subprocess.run(  # this interpreter, and our own script
            [sys.executable, script, archive, *given],
            stdout=subprocess.PIPE,
            timeout=SECONDS,
            check=True,
            text=True,
        )
        print(f"{stop:,} of {plan.turns:,} turns", file=sys.stderr)
        yield from map(_moment, done.stdout.splitlines())


def _moment(line: str) -> Moment:
    found: dict[str, Any] = json.loads(line)
    numbers = {name: tuple(value) for name, value in found.pop("known").items()}
    return Moment(known=Known(**numbers), **found)


def _summarized(plan: Plan) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield by turn the facts still in view in a library that summarizes by a stand-in."""
    peer = peers(PEER)[0]
    if peer.problem:
        return
    expected, history = facts(plan.turns), begin()
    planted = by_turn(expected)
    with peer.running() as running:
        show = called(running, WINDOW, Asked())
        for number in range(plan.turns):
            for message in turn(number, planted):
                if message["role"] == "assistant":
                    view = show(history)
                history.append(message)
            if (number + 1) % plan.every == 0:
                lines = "\n".join(map(message_text, view)).split("\n")
                yield number + 1, find_known(expected, number, lines, ()).seen


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--turns", type=int, default=0, help=f"default {TURNS:,}")
    parser.add_argument("--without-peers", action="store_true")
    options = parser.parse_args()
    finish(section(options), options)


if __name__ == "__main__":
    main()
