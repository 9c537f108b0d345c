"""What the requests of a session cost, and what other policies would have cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from foldline.core.config import POLICY_NAMES
from foldline.core.strategy import Policy
from foldline.engine.policies import policy as named_policy
from foldline.errors import FoldlineError
from foldline.evaluation.pricing import (
    Bill,
    Show,
    as_wire,
    clear_every_step,
    in_session,
    nothing,
    replay,
)
from foldline.inspector.timeline import Point
from foldline.inspector.trace import Trace
from foldline.models.info import price
from foldline.values.messages import Usage
from foldline.values.transcript import Transcript

MOST: Final = 6_000
"""Messages of a session that is replayed under other policies: each request sends all of them."""


@dataclass(frozen=True, slots=True)
class Total:
    """What requests used together, in tokens; ``usd`` in US dollars, None without prices."""

    usage: Usage
    requests: int
    usd: float | None


@dataclass(frozen=True, slots=True)
class Alternative:
    """What a session would have cost; ``error`` says why that is not known."""

    name: str
    bill: Bill | None
    usd: float | None
    error: str = ""


def asked(trace: Trace) -> tuple[Point, ...]:
    """Return the requests that were really made."""
    return trace.timeline.points[:-1]


def usd(trace: Trace, usage: Usage) -> float | None:
    """Return what one request costs, in US dollars; None without prices."""
    return price(trace.model, usage)


def total(trace: Trace, usages: Iterable[Usage]) -> Total:
    """Add up requests, each priced by itself."""
    together = [0, 0, 0, 0]
    money, known, count = 0.0, True, 0
    for usage in usages:
        count += 1
        for index, tokens in enumerate(
            (usage.input, usage.output, usage.cache_read, usage.cache_write)
        ):
            together[index] += tokens
        cost = usd(trace, usage)
        known = known and cost is not None
        money += cost or 0.0
    return Total(Usage(*together), count, money if known else None)


def paid(trace: Trace) -> Total:
    """Return what the requests took: as reported by the provider, else as counted here."""
    return total(trace, (point.usage for point in asked(trace)))


def counted(trace: Trace) -> Total:
    """Return what the requests took as counted here, whatever the provider reported."""
    return total(
        trace,
        (Usage(0, p.output, cache_read=p.cached, cache_write=p.written) for p in asked(trace)),
    )


def alternatives(trace: Trace, progress: Callable[[float, str], None]) -> tuple[Alternative, ...]:
    """
    Replay a session under other policies, each request with the prompt cache modelled.

    Everything that was ever said counts as the history; each policy decides what is sent of it.

    Args:
        trace: The session, of at most `MOST` messages.
        progress: Is told a fraction of the work and what comes next.
    """
    if len(trace.log) > MOST:
        words = f"a session of more than {MOST:,} messages is not replayed"
        return (Alternative("every policy", None, None, words),)
    window = trace.model.window
    history = as_wire(_whole(trace))
    ways: list[tuple[str, Callable[[], Show]]] = [
        ("everything, never compacted", nothing),
        ("results cleared at every step", clear_every_step),
    ]
    ways += [
        (name.replace("_", "-"), _in_session(trace, named_policy(name), window))
        for name in POLICY_NAMES
    ]
    made = []
    for index, (name, make) in enumerate(ways):
        progress(index / len(ways), f"Replaying: {name}")
        try:
            bill = replay(history, make(), window, trace.counter)
            made.append(Alternative(name, bill, usd(trace, bill.usage)))
        except FoldlineError as error:
            made.append(Alternative(name, None, None, str(error)))
    return tuple(made)


def _in_session(trace: Trace, policy: Policy, window: int) -> Callable[[], Show]:
    return lambda: in_session(policy, window, trace.counter, trace.config)


def _whole(trace: Trace) -> Transcript:
    return Transcript(trace.log, trace.current.dialect)
