"""When a compaction is due: the pressure on the window, and the wait after an attempt."""

from __future__ import annotations

from dataclasses import dataclass, field

from foldline.core.budget import Budget, Pacing
from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.engine.events import Level, Pressure


@dataclass(slots=True)
class CompactionThrottle:
    """
    The state since the last attempt at a compaction.

    ``grown`` is how many tokens were appended since, None before the first attempt; ``fitted``
    is True if the view was within its limit after it. ``active`` is when the model last
    read the view, in seconds. ``rules`` are the settings.
    """

    grown: int | None = None
    fitted: bool = False
    active: float = 0.0
    rules: Pacing = field(default_factory=Pacing)

    def grow(self, tokens: int) -> None:
        """Count the tokens of an appended message."""
        if self.grown is not None:
            self.grown += tokens

    def note_attempt(self, fitted: bool, grown: int = 0) -> None:
        """Record an attempt, whether the view fitted after it, and the tokens appended since."""
        self.grown, self.fitted = grown, fitted

    def holds(self, budget: Budget, tokens: int) -> bool:
        """
        Return True if an automatic attempt must wait.

        It waits until the window has grown by ``rules.growth``, after a failure and a success
        alike: an attempt that freed nothing will not free more one message later, and a successful
        one is not repeated. Only a view that has exceeded its limit since does not wait.
        """
        if self.grown is None or self.grown >= self.rules.growth * budget.scale:
            return False
        return not (self.fitted and self.grown and tokens > budget.limit)

    def is_cold(self, now: float) -> bool:
        """Return True if the provider's cache has expired by ``now``, in seconds."""
        return now - self.active > self.rules.cache_seconds


LEVELS: tuple[Level, ...] = ("calm", "warn", "due", "over")


def acts_at(policy: Policy) -> float:
    """Return the highest trigger of a policy, except for its last resort."""
    return max((rung.trigger for rung in policy.rungs if rung.trigger < 1), default=1.0)


def measure_pressure(fill: int, budget: Budget, policy: Policy, config: Config) -> Pressure:
    """
    Return how full the window is, in constant time.

    Args:
        fill: Size of the messages, in the provider's tokens.
        budget: The budget of the messages.
        policy: The policy, with its triggers; the warning always comes before them.
        config: The configuration, with the threshold of the warning.
    """
    at = config.thresholds
    acts = acts_at(policy)
    warns = at.warn_at if at.warn_at < acts else acts * at.warn_at / at.act_at
    level: Level = "calm"
    if fill > budget.limit:
        level = "over"
    elif budget.is_due(acts, fill):
        level = "due"
    elif budget.is_due(warns, fill):
        level = "warn"
    until = min(int(acts * budget.scale) - budget.overhead, budget.limit) - fill
    share = (fill + budget.overhead) / budget.scale
    return Pressure(fill, budget.limit, share, level, max(0, until))


def rises(before: Level, after: Level) -> bool:
    """Return True if a threshold was passed upwards."""
    return LEVELS.index(after) > LEVELS.index(before)
