"""A breaker: what failed several times in a row is left alone for a while, then tried once."""

from __future__ import annotations

from typing import Literal, TypeAlias

from foldline.core.validation import positive, whole
from foldline.frozen import frozen, replace

BreakerState: TypeAlias = Literal["closed", "open", "half-open"]


@frozen
class BreakerSettings:
    """
    When a summarizer that gives nothing usable is left alone.

    After ``failures`` compactions in a row without a usable answer it is not called for
    ``seconds`` seconds, or until the policy or the model is another; then once.

    Raises:
        BudgetError: A number is negative, or no failure at all is allowed.
    """

    failures: int = 3
    seconds: float = 300.0

    def __post_init__(self) -> None:
        whole("breaker.failures", self.failures, 1)
        positive("breaker.seconds", self.seconds)

    def closed(self) -> Breaker:
        """Return a breaker of these settings that nothing has happened to."""
        return Breaker(self.failures, self.seconds)


@frozen
class Breaker:
    """
    Counts failures in a row; a value that only says what follows from what happened.

    It is closed below ``threshold`` failures. From then on it is open for ``seconds`` seconds
    after the last one, and half-open after that: one trial is allowed, whose outcome closes it or
    opens it again. ``since`` is when it last failed, or was last tried, in seconds.
    """

    threshold: int = 3
    seconds: float = 300.0
    failures: int = 0
    since: float = 0.0
    eased: bool = False

    def after(self, success: bool, now: float) -> Breaker:
        """
        Return the breaker after something was tried.

        Args:
            success: Whether it worked.
            now: When it was over, in seconds.
        """
        failures = 0 if success else self.failures + 1
        return replace(self, failures=failures, since=now, eased=False)

    def trying(self, now: float) -> Breaker:
        """Return the breaker while something is tried: a half-open one allows no second trial."""
        return replace(self, since=now, eased=False)

    def ease(self) -> Breaker:
        """Return the breaker when the circumstances have changed: an open one is half-open."""
        return replace(self, eased=True)

    def state(self, now: float) -> BreakerState:
        """Return whether it is closed, open, or half-open at a moment, in seconds."""
        if self.failures < self.threshold:
            return "closed"
        return "open" if self.wait(now) else "half-open"

    def allows(self, now: float) -> bool:
        """Return True if something may be tried at a moment, in seconds."""
        return self.state(now) != "open"

    def wait(self, now: float) -> float:
        """Return how many seconds it stays open from a moment on, 0 when it is not open."""
        elapsed = now - self.since
        if self.failures < self.threshold or self.eased or elapsed < 0:
            # A clock that was set back must not keep it open for years.
            return 0.0
        return max(0.0, self.seconds - elapsed)
