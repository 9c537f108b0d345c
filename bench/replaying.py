"""
Replay recorded sessions request by request: their cost, and how much of what was needed was in
view.

At every tenth request the identifiers that the assistant used afterwards are searched in what it
is sent, as ``../shared/tools/retention.py`` does at its cuts: those that it writes in its next
answers, has seen before, and does not see again before it writes them. Old are those not in the
last tenth of the characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import cuts
from foldline.evaluation.pricing import NOTHING_PAID, Bill, Show, Wire
from foldline.evaluation.pricing import replay as priced
from foldline.values.messages import Usage
from foldline.values.tokens import TokenCounter

LEAST_STEPS = 20
"""Minimum number of answers of a session."""

EVERY, HORIZON = 10, 30
"""Interval of the sampled requests, and number of following answers to examine."""


@dataclass(frozen=True, slots=True)
class Case:
    """A recorded session, and by request the identifiers needed next: all, and old ones."""

    name: str
    history: Wire
    needs: dict[int, tuple[frozenset[str], frozenset[str]]]

    @classmethod
    def of(cls, name: str, history: Wire) -> Case:
        """Find what is needed at the sampled requests of a session."""
        found = list(map(mentioned, history))
        sizes = [len(_text(message)) for message in history]
        requests = [i for i, m in enumerate(history) if m["role"] == "assistant" and i]
        needs = {}
        for position in requests[EVERY - 1 :: EVERY]:
            seen = set().union(*found[:position])
            needed = seen & _used(history[position:], found[position:])
            deep = needed - set().union(*found[_last_tenth(sizes[:position]) : position])
            if len(deep) >= cuts.LEAST_DEEP:
                needs[position] = (frozenset(needed), frozenset(deep))
        return cls(name, history, needs)


def _used(later: Wire, found: Sequence[frozenset[str]]) -> set[str]:
    """Return the identifiers that the next answers mention before any other message."""
    used, told, answers = set[str](), set[str](), 0
    for message, items in zip(later, found, strict=True):
        if message["role"] == "assistant":
            used |= items - told
            answers += 1
            if answers >= HORIZON:
                break
        else:
            told |= items
    return used


def _last_tenth(sizes: Sequence[int]) -> int:
    left, start = 0.1 * sum(sizes), len(sizes)
    while start and left > 0:
        start -= 1
        left -= sizes[start]
    return start


def read(shared: Path, every: int = 1) -> Iterator[Case]:
    """Read every Nth session that is long enough, as OpenAI messages without system prompts."""
    long = (
        (name, steps)
        for name, steps in cuts.sessions(shared)
        if sum(step["role"] == "assistant" for step in steps) >= LEAST_STEPS
    )
    for number, (name, steps) in enumerate(long):
        if number % every == 0:
            spoken = [step for step in steps if step["role"] != "system"]
            yield Case.of(name, cuts.tool(shared, "retention").openai(spoken))


@dataclass(slots=True)
class Paid:
    """
    The cost of sessions, and the share in view of what was needed.

    ``rewritten`` counts requests that did not begin like the previous one. ``needed`` and
    ``deep`` are sums of shares over ``samples``. ``failed`` counts calls without an answer.
    """

    bill: Bill = NOTHING_PAID
    rewritten: int = 0
    needed: float = 0.0
    deep: float = 0.0
    samples: int = 0
    failed: int = 0

    def add(self, other: Paid) -> None:
        """Add the cost of another session."""
        self.bill += other.bill
        self.rewritten += other.rewritten
        self.needed += other.needed
        self.deep += other.deep
        self.samples += other.samples
        self.failed += other.failed

    @property
    def kept(self) -> float:
        """The mean share of what was needed next that was in view."""
        return self.needed / max(1, self.samples)

    @property
    def kept_deep(self) -> float:
        """The same for identifiers outside the last tenth."""
        return self.deep / max(1, self.samples)


@dataclass(slots=True)
class Asked:
    """The tokens that a policy paid for summaries, and its failed requests."""

    read: int = 0
    written: int = 0
    failed: int = 0


@dataclass(slots=True)
class Watch:
    """Observes a policy: what it sends at the samples, and how its prefix continues."""

    case: Case
    show: Show
    paid: Paid = field(default_factory=Paid)
    _before: Wire = field(default_factory=list)

    def __call__(self, history: Wire) -> Wire:
        """Return the messages that the policy sends."""
        sent = self.show(history)
        before = self._before
        if any(old is not new and old != new for old, new in zip(before, sent, strict=False)):
            self.paid.rewritten += 1
        needs = self.case.needs.get(len(history))
        if needs is not None:
            shown = set().union(*map(mentioned, sent))
            needed, deep = needs
            self.paid.needed += len(needed & shown) / len(needed)
            self.paid.deep += len(deep & shown) / len(deep)
            self.paid.samples += 1
        self._before = sent
        return sent


def replay(case: Case, show: Show, asked: Asked, window: int, counter: TokenCounter) -> Paid:
    """Add up the cost of a session's requests, and the share in view of what was needed."""
    watch = Watch(case, show)
    bill = priced(case.history, watch, window, counter)
    watch.paid.bill = bill + Bill(Usage(asked.read, asked.written), 0, 0)
    watch.paid.failed = asked.failed
    return watch.paid


def mentioned(message: dict[str, Any]) -> frozenset[str]:
    """Return the identifiers in all text that a model reads of a message."""
    return _items(_text(message))


@cache
def _items(text: str) -> frozenset[str]:
    return frozenset(cuts.tool(cuts.SHARED, "retention").items(text))


def _text(message: dict[str, Any]) -> str:
    return cuts.flat(cuts.SHARED, [message]).partition("] ")[2]
