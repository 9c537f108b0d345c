"""Strategies propose plans; a policy is an ordered list of them with triggers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from foldline.core.asks import ModelLimits, Steps
from foldline.core.economy import Economy
from foldline.core.prepared import Prepared
from foldline.core.spending import Limits
from foldline.core.summary_settings import SummarySettings
from foldline.frozen import field, frozen, replace
from foldline.values.edits import Edit
from foldline.values.view import View


@frozen
class CompactionContext:
    """
    What a compaction has to reach.

    ``target`` is the number of tokens aimed for and ``limit`` the number that must be met.
    ``scale`` is the effective window in tokens. ``cold`` says that the provider's prompt cache has
    expired (or that the caller gave a hard budget), so that rewriting the prefix costs nothing
    extra; ``requests`` is how many more requests are expected to pay for a rewrite.
    ``handles`` maps message ids to the handles that stubs and snapshots name. ``reader`` is who
    answers an Ask, None without a model, and ``limits`` what may be spent on that. ``focus`` is
    what the caller wants to be remembered above all, in their own words. ``memory`` is what was
    prepared in the background, None when nothing is; ``summary`` is how a model is asked.
    ``account`` is a text of the user's own that takes the place of a model's, "" for none.
    """

    target: int
    limit: int
    scale: int
    handles: Mapping[str, str]
    cold: bool = True
    requests: int = 20
    reader: ModelLimits | None = None
    limits: Limits = field(default_factory=Limits)
    focus: str = ""
    memory: Prepared | None = None
    summary: SummarySettings = field(default_factory=SummarySettings)
    account: str = ""


@frozen
class Plan:
    """
    Proposed edits, or none with the reason why.

    ``fallback`` says that they were made by lesser means than intended; ``reason`` says why.
    """

    edits: tuple[Edit, ...] = ()
    reason: str = ""
    fallback: bool = False


class Strategy(Protocol):
    """
    Proposes edits.

    A strategy is pure: it reads the view and may yield an `Ask` for a model. It must not propose
    to remove what ``view.protected`` names, nor to split a group.
    """

    @property
    def name(self) -> str:
        """What receipts call it."""
        ...

    def propose(self, view: View, context: CompactionContext) -> Steps[Plan]:
        """Return the plan that brings the view towards ``context.target``."""
        ...


@frozen
class Rung:
    """
    A strategy in a ladder.

    ``trigger`` is the fraction of the effective window from which it is due. A plan that frees
    less than ``gain_tokens`` and less than ``gain_fraction`` of the effective window is rejected,
    unless it reaches the target or the caller gave a hard budget. A ``gentle`` rung is skipped for
    a hard budget: it frees tokens in good time, but forgets more than a summary of the same size.
    An ``early`` rung comes before the repair of the history: its edits fit a repaired one. A
    ``last`` one is only climbed while the limit is passed, not for the target.
    """

    strategy: Strategy
    trigger: float
    gain_tokens: int = 0
    gain_fraction: float = 0.0
    gentle: bool = False
    early: bool = False
    last: bool = False


@frozen
class Policy:
    """
    An ordered list of rungs, cheapest first.

    With an ``economy`` a session also folds where that is cheaper, before any rung is due.
    """

    name: str
    rungs: tuple[Rung, ...]
    economy: Economy | None = None

    @property
    def trigger(self) -> float:
        """The fraction of the effective window from which anything is due."""
        return min((rung.trigger for rung in self.rungs), default=1.0)


def force_policy(policy: Policy) -> Policy:
    """Return the policy with every rung due and no smallest gain, for an explicit request."""
    rungs = tuple(
        replace(rung, trigger=0.0, gain_tokens=0, gain_fraction=0.0) for rung in policy.rungs
    )
    return Policy(policy.name, rungs)
