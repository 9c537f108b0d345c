"""Spending limits of a compaction, and the circuit breaker of a failing summarizer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias, TypeVar

from foldline.core.asks import Ask, ModelLimits, Reply, Steps
from foldline.core.validation import positive, whole
from foldline.errors import BudgetError
from foldline.frozen import frozen, replace
from foldline.values.messages import Usage

Result = TypeVar("Result")


@frozen
class Limits:
    """
    The spending limits of one compaction.

    ``attempts`` counts requests, including retries; ``usd`` is in US dollars, None for no limit.

    Raises:
        BudgetError: A value is negative, or not a number.
    """

    attempts: int = 6
    seconds: float = 180.0
    usd: float | None = None

    def __post_init__(self) -> None:
        numbers = (self.attempts, self.seconds, 0.0 if self.usd is None else self.usd)
        if any(isinstance(n, bool) or not isinstance(n, (int, float)) for n in numbers) or not all(
            math.isfinite(n) and n >= 0 for n in numbers
        ):
            raise BudgetError(
                f"Impossible limits: {self.attempts!r} attempts, {self.seconds!r} seconds, "
                f"{self.usd!r} US dollars.",
                hint="Give numbers of 0 or more.",
            )


@frozen
class Spent:
    """Model usage: requests, seconds, US dollars as far as known, and tokens."""

    attempts: int = 0
    seconds: float = 0.0
    usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    model: str = ""

    def plus(self, reply: Reply) -> Spent:
        """Return the sum with the usage of one reply."""
        usage = reply.usage or Usage()
        attempts, seconds = max(1, reply.attempts), max(0.0, reply.seconds)
        usd = reply.usd or 0.0
        return self + Spent(attempts, seconds, usd, usage.read, usage.output, reply.model)

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.attempts + other.attempts,
            self.seconds + other.seconds,
            self.usd + other.usd,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            other.model or self.model,
        )


def within(
    steps: Steps[Result], limits: Limits, reader: ModelLimits | None, count: Callable[[str], int]
) -> Steps[tuple[Result, Spent]]:
    """
    Run steps within limits: an Ask beyond them is answered with an error and not sent.

    Args:
        steps: The steps, which yield Asks.
        limits: The total limits of all Asks.
        reader: The model's limits, for the price of an Ask before it is sent.
        count: Counts the tokens of a text.

    Returns:
        The result of the steps, and the usage.
    """
    spent = Spent()
    try:
        ask = next(steps)
        while True:
            refused = _find_excess(ask, limits, spent, reader, count)
            if refused:
                reply = Reply(error=refused, retry=False, attempts=0)
            else:
                reply = yield _bound(ask, limits, spent)
                spent = spent.plus(reply)
            ask = steps.send(reply)
    except StopIteration as stop:
        return stop.value, spent
    finally:
        steps.close()


def _bound(ask: Ask, limits: Limits, spent: Spent) -> Ask:
    return replace(
        ask,
        seconds=min(ask.seconds, limits.seconds - spent.seconds),
        attempts=min(ask.attempts, limits.attempts - spent.attempts),
    )


def _find_excess(
    ask: Ask, limits: Limits, spent: Spent, reader: ModelLimits | None, count: Callable[[str], int]
) -> str:
    """Return why an Ask exceeds the limits, "" if it does not."""
    if spent.attempts >= limits.attempts:
        return f"the limit of {limits.attempts} requests to a model is reached"
    if spent.seconds >= limits.seconds:
        return f"the limit of {limits.seconds:g} seconds for a model is reached"
    if limits.usd is None:
        return ""
    read = count(ask.prompt) + count(ask.system)
    price = None if reader is None else reader.usd(read, ask.max_tokens)
    if price is None:
        return "the price of the model is not known, and money is limited"
    if spent.usd + price > limits.usd:
        return (
            f"the request would cost up to {spent.usd + price:.4f} US dollars, "
            f"the limit is {limits.usd:.4f}"
        )
    return ""


BreakerState: TypeAlias = Literal["closed", "open", "half-open"]


@frozen
class BreakerSettings:
    """
    Settings of the circuit breaker of a summarizer.

    After ``failures`` compactions in a row without a usable answer it is not called for
    ``seconds`` seconds, or until the policy or the model changes; then once.

    Raises:
        BudgetError: A number is negative, or ``failures`` is 0.
    """

    failures: int = 3
    seconds: float = 300.0

    def __post_init__(self) -> None:
        whole("breaker.failures", self.failures, 1)
        positive("breaker.seconds", self.seconds)

    def closed(self) -> Breaker:
        """Return a new, closed breaker with these settings."""
        return Breaker(self.failures, self.seconds)


@frozen
class Breaker:
    """
    A circuit breaker, as an immutable value.

    It is closed below ``threshold`` failures in a row. From then on it is open for ``seconds``
    seconds after the last one, and half-open after that: one trial is allowed, whose outcome
    closes it or opens it again. ``since`` is the time of the last failure or trial, in seconds.
    """

    threshold: int = 3
    seconds: float = 300.0
    failures: int = 0
    since: float = 0.0
    eased: bool = False

    def after(self, success: bool, now: float) -> Breaker:
        """
        Return the breaker after an attempt.

        Args:
            success: Whether the attempt succeeded.
            now: The time of its end, in seconds.
        """
        failures = 0 if success else self.failures + 1
        return replace(self, failures=failures, since=now, eased=False)

    def trying(self, now: float) -> Breaker:
        """Return the breaker during an attempt: a half-open one allows no second trial."""
        return replace(self, since=now, eased=False)

    def ease(self) -> Breaker:
        """Return the breaker after a change of policy or model: an open one becomes half-open."""
        return replace(self, eased=True)

    def state(self, now: float) -> BreakerState:
        """Return the state at a time in seconds: closed, open, or half-open."""
        if self.failures < self.threshold:
            return "closed"
        return "open" if self.wait(now) else "half-open"

    def allows(self, now: float) -> bool:
        """Return True if an attempt is allowed at a time, in seconds."""
        return self.state(now) != "open"

    def wait(self, now: float) -> float:
        """Return the seconds that it stays open from a time on, 0 if it is not open."""
        elapsed = now - self.since
        if self.failures < self.threshold or self.eased or elapsed < 0:
            # A clock set back must not keep it open for years.
            return 0.0
        return max(0.0, self.seconds - elapsed)
