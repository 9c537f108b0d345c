"""Policies by name, each a ladder of rungs that can be tuned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from foldline.core.errors import BudgetError
from foldline.core.strategy import Policy, Rung
from foldline.strategies.clear import Clear
from foldline.strategies.dedupe import Dedupe
from foldline.strategies.reasoning import Reasoning
from foldline.strategies.summarize import Summarize
from foldline.strategies.tail import TAIL, Keep
from foldline.strategies.truncate import Truncate
from foldline.strategies.window import Window

CLEAR_AT, ACT_AT = 0.55, 0.80
GAIN_TOKENS, GAIN_SHARE = 2_000, 0.05


def _last_resort() -> tuple[Rung, ...]:
    return (
        Rung(Window(), 1.0),
        Rung(Truncate(), 1.0),
    )


def default(keep: int = 4, tail: float = TAIL, snapshot: float = 1.0) -> Policy:
    """
    The whole ladder: dedupe, clear, reasoning, summarize, window, truncate.

    Args:
        keep: Newest groups whose tool results are never cleared.
        tail: Fraction of the target that stays verbatim.
        snapshot: Largest snapshot, as a fraction of the effective window.
    """
    return Policy(
        "default",
        (
            Rung(Dedupe(), CLEAR_AT, GAIN_TOKENS, GAIN_SHARE),
            Rung(Clear(keep), CLEAR_AT, GAIN_TOKENS, GAIN_SHARE, gentle=True),
            Rung(Reasoning(), ACT_AT),
            Rung(Summarize(Keep("target", tail), snapshot), ACT_AT),
            *_last_resort(),
        ),
    )


def salient(tail: float = TAIL) -> Policy:
    """Fold at once: the most of what matters in the fewest tokens."""
    return Policy(
        "salient",
        (
            Rung(Reasoning(), ACT_AT),
            Rung(Summarize(Keep("target", tail)), ACT_AT),
            *_last_resort(),
        ),
    )


def clear(keep: int = 4, trigger: float = CLEAR_AT, only: tuple[str, ...] | None = None) -> Policy:
    """Tool-result clearing alone, as many agents do it."""
    rung = Rung(Clear(keep, only), trigger, GAIN_TOKENS, GAIN_SHARE)
    return Policy("clear", (rung, *_last_resort()))


def keep_recent(n: int = 20) -> Policy:
    """Fold all but the newest ``n`` groups."""
    return Policy(
        "keep_recent",
        (
            Rung(Summarize(Keep("groups", n)), ACT_AT),
            *_last_resort(),
        ),
    )


def rounds(min_retain_rounds: int = 10, trigger: float = ACT_AT) -> Policy:
    """Keep the newest rounds, each a user message with all that follows it."""
    return Policy(
        "rounds",
        (
            Rung(Summarize(Keep("rounds", min_retain_rounds)), trigger),
            Rung(Summarize(), trigger),
            *_last_resort(),
        ),
    )


def fraction(preserve: float = 0.3, trigger: float = 0.7) -> Policy:
    """Split the history by tokens and keep the newest ``preserve`` of it."""
    return Policy(
        "fraction",
        (
            Rung(Summarize(Keep("share", preserve)), trigger),
            Rung(Summarize(), trigger),
            *_last_resort(),
        ),
    )


def window() -> Policy:
    """Drop the oldest groups; nothing is ranked."""
    return Policy("window", _last_resort())


POLICIES: dict[str, Callable[..., Policy]] = {
    "default": default,
    "salient": salient,
    "clear": clear,
    "keep_recent": keep_recent,
    "rounds": rounds,
    "fraction": fraction,
    "window": window,
}


def policy(name: str | Policy = "default", **tuning: Any) -> Policy:
    """
    Return a policy.

    Args:
        name: One of `POLICIES`, or a policy, which is returned as it is.
        **tuning: Arguments of the policy of that name.

    Raises:
        BudgetError: The name or an argument is unknown.
    """
    if isinstance(name, Policy):
        return name
    make = POLICIES.get(name)
    if make is None:
        known = ", ".join(POLICIES)
        raise BudgetError(f"There is no policy {name!r}.", hint=f"Known policies: {known}.")
    try:
        return make(**tuning)
    except TypeError as error:
        raise BudgetError(f"Policy {name}: {error}.") from error
