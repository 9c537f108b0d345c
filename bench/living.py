"""
Run a part of a long session in this process, and report at intervals what it still knows.

    python bench/living.py ARCHIVE --turns 5000 --start 0 --stop 1000 --every 250

Prints one JSON object per interval. It then ends without closing anything, like a killed
process; the next part is another process.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import sqlite3
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import foldline
from foldline.engine.receipt import Receipt
from lifetime import Fact, begin, by_turn, facts, turn

WINDOW = 64_000
BLOBS = {
    "messages": "select wire from messages",
    "edits": "select edits from batches union select receipt from batches",
}
HANDLE = re.compile(r"\b[0-9a-f]{6,32}(?:\.\d{1,6})?\b")


@dataclass(frozen=True, slots=True)
class Known:
    """
    The known ones of the facts stated so far, by fact number.

    ``seen`` are in the view with their current value; ``found`` are there or in what a handle in
    the view recalls; ``stale`` are in the view only with an old value.
    """

    told: tuple[int, ...]
    seen: tuple[int, ...]
    found: tuple[int, ...]
    stale: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Moment:
    """
    Measurements of a session after a number of turns.

    ``tail`` are the facts in the newest messages of the view's size. Sizes are in bytes, except
    ``tokens``. The rest covers the turns since the previous moment: ``milliseconds`` their mean
    without compaction attempts, ``pauses`` those with one, ``folds`` the compactions as
    turn, tokens before and after, and ``vain`` the attempts that changed nothing. ``opening`` is
    the time to open the session in this process, in milliseconds.
    """

    turn: int
    known: Known
    tail: tuple[int, ...]
    tokens: int
    handles: int
    messages: int
    edits: int
    memory: int
    milliseconds: float
    pauses: tuple[float, ...]
    folds: tuple[tuple[int, int, int], ...]
    vain: int
    opening: float


@dataclass(slots=True)
class Log:
    """Events since the last moment; see `Moment`."""

    quick: list[float] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    folds: list[tuple[int, int, int]] = field(default_factory=list)
    vain: int = 0

    def note(self, number: int, milliseconds: float, receipts: Sequence[Receipt]) -> None:
        """Record the time of a turn, and the compactions attempted in it."""
        (self.pauses if receipts else self.quick).append(milliseconds)
        for receipt in receipts:
            if receipt.status == "compacted":
                self.folds.append((number, receipt.tokens_before, receipt.tokens_after))
            else:
                self.vain += 1


class Life:
    """
    A session and the facts stated in it.

    Args:
        archive: The SQLite file.
        turns: Total turns of the session.
        window: The window of the model, in tokens.
    """

    def __init__(self, archive: Path, turns: int, window: int = WINDOW) -> None:
        self.archive = archive
        self.told = facts(turns)
        self.planted = by_turn(self.told)
        began = time.process_time()
        self.session = foldline.Session.open(
            archive, "life", window=window, format="openai-chat", output=2_000
        )
        self.opening = 1_000 * (time.process_time() - began)

    def live(self, start: int, stop: int, every: int) -> Iterator[Moment]:
        """Run from one turn to another, and yield a moment after every interval."""
        if start == 0:
            self.session.extend(begin())
        log = Log()
        for number in range(start, stop):
            tried = len(self.session.receipts)
            began = time.process_time()
            for message in turn(number, self.planted):
                if message["role"] == "assistant":
                    self.session.view()
                self.session.append(message)
            spent = 1_000 * (time.process_time() - began)
            log.note(number, spent, self.session.receipts[tried:])
            if (number + 1) % every == 0 or number + 1 == stop:
                yield self._moment(number, log)
                log = Log()

    def _moment(self, number: int, log: Log) -> Moment:
        view, tokens = self.session.view(), self.session.tokens
        seen = "\n".join(map(message_text, view))
        names = list(dict.fromkeys(HANDLE.findall(seen)))
        sizes = stored(self.archive)
        return Moment(
            number + 1,
            find_known(self.told, number, seen.split("\n"), self._recalled(names)),
            self._in_tail(number, tokens),
            tokens,
            len(names),
            sizes["messages"],
            sizes["edits"],
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            sum(log.quick) / max(1, len(log.quick)),
            tuple(log.pauses),
            tuple(log.folds),
            log.vain,
            self.opening,
        )

    def _recalled(self, names: Iterable[str]) -> Iterator[str]:
        for name in names:
            try:
                yield from self.session.recall(name).text.split("\n")
            except foldline.FoldlineError:
                # A number that only resembles a handle.
                continue

    def _in_tail(self, number: int, tokens: int) -> tuple[int, ...]:
        """Return the facts in the newest messages of the same size."""
        newest, left = deque[Any](), tokens
        for message in reversed(self.session.messages):
            left -= foldline.count([message.raw], format="openai-chat")
            if left < 0:
                break
            newest.appendleft(message.raw)
        return find_known(
            self.told, number, "\n".join(map(message_text, newest)).split("\n"), ()
        ).seen


def find_known(
    told: Iterable[Fact], number: int, seen: Iterable[str], recalled: Iterable[str]
) -> Known:
    """Find the facts stated up to a turn, in the lines in view and in recalled lines."""
    due = {fact.number: fact for fact in told if fact.turn <= number}
    inside = _by_subject(due, seen)
    behind = _by_subject(due, recalled)
    now = [n for n, fact in due.items() if any(fact.stands_in(x, number) for x in inside[n])]
    found = [n for n, fact in due.items() if any(fact.stands_in(x, number) for x in behind[n])]
    old = [
        n
        for n, fact in due.items()
        if n not in now and any(fact.subject in x and fact.value in x for x in inside[n])
    ]
    return Known(tuple(due), tuple(now), tuple(sorted({*now, *found})), tuple(old))


def _by_subject(due: dict[int, Fact], lines: Iterable[str]) -> dict[int, list[str]]:
    """Group lines by the fact whose subject they name."""
    numbers = {fact.subject: number for number, fact in due.items()}
    found: dict[int, list[str]] = {number: [] for number in due}
    for line in dict.fromkeys(lines):
        for word in set(re.findall(r"\w+", line)):
            for name in {word, word.removeprefix("test_")} & numbers.keys():
                found[numbers[name]].append(line)
    return found


def message_text(message: dict[str, Any]) -> str:
    calls = message.get("tool_calls") or ()
    calls_text = [f"{call['function']['name']} {call['function']['arguments']}" for call in calls]
    return "\n".join((message.get("content") or "", *calls_text))


def stored(archive: Path) -> dict[str, int]:
    """Return the compressed size of messages, edits and receipts in the archive, in bytes."""
    with sqlite3.connect(f"file:{archive}?mode=ro", uri=True) as base:
        return {
            what: base.execute(
                f"select coalesce(sum(length(data)), 0) from blobs where id in ({rows})"  # noqa: S608  # ours
            ).fetchone()[0]
            for what, rows in BLOBS.items()
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--turns", type=int, default=5_000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--stop", type=int, default=1_000)
    parser.add_argument("--every", type=int, default=250)
    options = parser.parse_args()
    life = Life(options.archive, options.turns)
    for moment in life.live(options.start, options.stop, options.every):
        print(json.dumps(asdict(moment)), flush=True)
    sys.stdout.flush()
    # As a killed process ends: nothing is closed.
    os._exit(0)


if __name__ == "__main__":
    main()
