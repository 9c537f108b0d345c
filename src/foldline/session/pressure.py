"""How full the window of a session is: known at once, and told when a threshold is passed."""

from __future__ import annotations

from foldline.core.budget import Budget
from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.engine.events import Level, Pressure

LEVELS: tuple[Level, ...] = ("calm", "warn", "due", "over")


def acts_at(policy: Policy) -> float:
    """Return the fraction at which a policy does its most, short of its last resort."""
    return max((rung.trigger for rung in policy.rungs if rung.trigger < 1), default=1.0)


def pressure(fill: int, budget: Budget, policy: Policy, config: Config) -> Pressure:
    """
    Tell how full the window is, in constant time.

    Args:
        fill: What the messages take, in the provider's tokens.
        budget: What they may take.
        policy: Says when a compaction is due; the warning comes before that, however early it is.
        config: Says how long before.
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
    """Tell whether a threshold was passed upwards."""
    return LEVELS.index(after) > LEVELS.index(before)
