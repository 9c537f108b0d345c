"""Policies by name, each a ladder of rungs that can be tuned."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

from foldline.core.budget import Thresholds
from foldline.core.config import Config
from foldline.core.economy import Economy
from foldline.core.retention_settings import Clearing
from foldline.core.strategy import Policy, Rung
from foldline.core.validation import suggest_name
from foldline.errors import BudgetError
from foldline.frozen import replace
from foldline.strategies.clear import Clear
from foldline.strategies.dedupe import Dedupe
from foldline.strategies.reasoning import Reasoning
from foldline.strategies.tail import TAIL, Keep
from foldline.strategies.truncate import Truncate
from foldline.strategies.window import Window
from foldline.summary.summarize import Summarize

CLEAR_AT, ACT_AT = Thresholds().clear_at, Thresholds().act_at
GAIN_TOKENS, GAIN_SHARE = Clearing().gain_tokens, Clearing().gain_fraction
THRIFT = Economy()


LAST_RESORT = (Rung(Window(), 1.0), Rung(Truncate(), 1.0))
"""The last rungs of every ladder."""


def default(
    keep: int = 4,
    tail: float = TAIL,
    snapshot: float = 1.0,
    clear_at: float = CLEAR_AT,
    act_at: float = ACT_AT,
    only: tuple[str, ...] | None = None,
    never: tuple[str, ...] = (),
    gain_tokens: int = GAIN_TOKENS,
    gain_fraction: float = GAIN_SHARE,
    economy: Economy | None = THRIFT,
) -> Policy:
    """
    The whole ladder: dedupe, clear, reasoning, summarize, window, truncate.

    Args:
        keep: Newest groups whose tool results are never cleared.
        tail: Fraction of the target that stays verbatim.
        snapshot: Largest snapshot, as a fraction of the effective window.
        clear_at: Fraction of the effective window from which old results are cleared.
        act_at: Fraction from which the old groups are folded.
        only: Tools whose results may be cleared; None for all.
        never: Tools whose results are never cleared.
        gain_tokens: Minimum that clearing must free, in tokens.
        gain_fraction: The same as a fraction of the effective window.
        economy: When a session folds early because that is cheaper; None for never.
    """
    gain = (gain_tokens, gain_fraction)
    return Policy(
        "default",
        (
            Rung(Dedupe(), clear_at, *gain),
            Rung(Clear(keep, only, never), clear_at, *gain, gentle=True),
            Rung(Reasoning(), act_at),
            Rung(Summarize(Keep("target", tail), snapshot), act_at),
            *LAST_RESORT,
        ),
        economy,
    )


def salient(tail: float = TAIL, act_at: float = ACT_AT) -> Policy:
    """Summarize without clearing first: the most important content in the fewest tokens."""
    fold = Rung(Summarize(Keep("target", tail)), act_at)
    return Policy("salient", (Rung(Reasoning(), act_at), fold, *LAST_RESORT))


def clear(
    keep: int = 4,
    trigger: float = CLEAR_AT,
    only: tuple[str, ...] | None = None,
    never: tuple[str, ...] = (),
    gain_tokens: int = GAIN_TOKENS,
    gain_fraction: float = GAIN_SHARE,
) -> Policy:
    """Tool-result clearing alone, as many agents do it."""
    rung = Rung(Clear(keep, only, never), trigger, gain_tokens, gain_fraction)
    return Policy("clear", (rung, *LAST_RESORT))


def keep_recent(n: int = 20, trigger: float = ACT_AT) -> Policy:
    """Fold all but the newest ``n`` groups."""
    rung = Rung(Summarize(Keep("groups", n)), trigger)
    return Policy("keep_recent", (rung, *LAST_RESORT))


def rounds(min_retain_rounds: int = 10, trigger: float = ACT_AT) -> Policy:
    """Keep the newest rounds, each a user message with all that follows it."""
    rung = Rung(Summarize(Keep("rounds", min_retain_rounds)), trigger)
    return Policy("rounds", (rung, Rung(Summarize(), trigger), *LAST_RESORT))


def fraction(preserve: float = 0.3, trigger: float = 0.7) -> Policy:
    """
    Split the history by tokens and keep the newest ``preserve`` of it verbatim.

    For a history larger than the window, the fraction is of the window.
    """
    rung = Rung(Summarize(Keep("share", preserve), share=1.0), trigger)
    further = (Rung(Summarize(), trigger), *LAST_RESORT)
    return Policy("fraction", (rung, *(replace(one, last=True) for one in further)))


def window() -> Policy:
    """Drop the oldest groups, without ranking."""
    return Policy("window", LAST_RESORT)


POLICIES: dict[str, Callable[..., Policy]] = {
    make.__name__: make
    for make in (default, salient, clear, keep_recent, rounds, fraction, window)
}


def policy(name: str | Policy = "default", **tuning: Any) -> Policy:
    """
    Return a policy.

    Args:
        name: A key of `POLICIES`, or a policy, which is returned unchanged.
        **tuning: Arguments of the policy of that name.

    Raises:
        BudgetError: The name or an argument is unknown.
    """
    if isinstance(name, Policy):
        return name
    make = POLICIES.get(name)
    if make is None:
        near, known = suggest_name(str(name), POLICIES), ", ".join(POLICIES)
        raise BudgetError(f"There is no policy {name!r}.", hint=f"{near}Known policies: {known}.")
    try:
        return make(**tuning)
    except TypeError as error:
        raise BudgetError(f"Policy {name}: {error}.") from error


TAIL_READERS: Final = {
    "fraction": ("default", "salient", "fraction"),
    "newest": ("keep_recent", "rounds"),
}
"""Policies that read each setting of ``tail``."""


def configure(config: Config, chosen: str | Policy | None = None) -> Policy:
    """
    Return the policy that a configuration and an argument describe together.

    A name overrides the one in the configuration, whose thresholds, tail and clearing settings
    still apply. Of the configuration, a policy object takes only the tools whose results are
    never cleared.

    Args:
        config: The policy name, thresholds, and tail and clearing settings.
        chosen: A policy or its name, instead of the one in ``config``.

    Raises:
        BudgetError: The name is unknown, or the policy does not read a setting of ``tail``.
    """
    if isinstance(chosen, Policy):
        return _protect_tools(chosen, config.clearing.never)
    name = config.policy if chosen is None else chosen
    return policy(name, **(tuning(config, name) if name in POLICIES else {}))


def _protect_tools(policy: Policy, never: Collection[str]) -> Policy:
    """Return the policy with more tools whose results are never cleared."""
    if not never:
        return policy
    rungs = tuple(
        replace(rung, strategy=replace(rung.strategy, never=(*rung.strategy.never, *never)))
        if isinstance(rung.strategy, Clear)
        else rung
        for rung in policy.rungs
    )
    return replace(policy, rungs=rungs)


def tuning(config: Config, name: str) -> dict[str, Any]:
    """
    Return the arguments of a policy that a configuration sets.

    Args:
        config: The configuration.
        name: Name of the policy, a key of `POLICIES`.

    Raises:
        BudgetError: The policy does not read a setting of ``tail``.
    """
    at, tail = config.thresholds, config.tail
    for setting, users in TAIL_READERS.items():
        if getattr(tail, setting) is not None and name not in users:
            raise BudgetError(
                f"The policy {name} does not read tail.{setting}.",
                hint=f"The policies that do: {', '.join(users)}.",
            )
    clearing = config.clearing
    cleared = {
        "keep": clearing.keep,
        "only": clearing.only,
        "never": clearing.never,
        "gain_tokens": clearing.gain_tokens,
        "gain_fraction": clearing.gain_fraction,
    }
    # The policy "fraction" has an earlier default, which only a threshold that is set replaces.
    early = None if at.act_at == ACT_AT else at.act_at
    act, economy = {"act_at": at.act_at}, {"economy": config.economy}
    read: dict[str, dict[str, Any]] = {
        "default": {**cleared, "tail": tail.fraction, "clear_at": at.clear_at, **act, **economy},
        "salient": {"tail": tail.fraction, **act},
        "clear": {**cleared, "trigger": at.clear_at},
        "keep_recent": {"n": tail.newest, "trigger": at.act_at},
        "rounds": {"min_retain_rounds": tail.newest, "trigger": at.act_at},
        "fraction": {"preserve": tail.fraction, "trigger": early},
        "window": {},
    }
    # A setting that is None leaves the default of the policy.
    return {key: value for key, value in read[name].items() if value is not None}
