"""The input and output of strategies, the rungs of a policy, and their reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

from foldline.core.asks import ModelLimits, Steps
from foldline.core.economy import Economy
from foldline.core.limits import Limits, Spent
from foldline.core.prepared import Prepared
from foldline.core.summary_settings import SummarySettings
from foldline.frozen import field, frozen, replace
from foldline.values.edits import Edit
from foldline.values.view import View


@frozen
class CompactionContext:
    """
    The goal and the resources of a compaction.

    ``target`` is the number of tokens to aim for and ``limit`` the maximum. ``scale`` is the
    effective window in tokens. ``cold`` is True if the provider's prompt cache has expired (or the
    caller gave a hard budget), so that rewriting the prefix costs nothing extra; ``requests`` is
    the number of further requests expected to pay for a rewrite. ``handles`` maps message ids to
    the handles in stubs and snapshots. ``reader`` describes the model that answers Asks, None
    without a model, and ``limits`` bounds its use. ``focus`` is the content to remember above all,
    in the caller's words. ``memory`` are the edits prepared in the background, None if there are
    none; ``summary`` are the settings of model summaries. ``account`` is a text of the user that
    replaces a model's summary, "" for none.
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
    Proposed edits, or none with a reason.

    ``fallback`` is True if they were made by a lesser method than intended, for this ``reason``.
    """

    edits: tuple[Edit, ...] = ()
    reason: str = ""
    fallback: bool = False


class Strategy(Protocol):
    """
    Proposes edits.

    A strategy is pure: it reads the view and may yield an `Ask` for a model. It must not propose
    to remove a message in ``view.protected``, nor to split a group.
    """

    @property
    def name(self) -> str:
        """Its name in receipts."""
        ...

    def propose(self, view: View, context: CompactionContext) -> Steps[Plan]:
        """Return a plan that reduces the view towards ``context.target``."""
        ...


@frozen
class Rung:
    """
    A strategy in a ladder.

    ``trigger`` is the fraction of the effective window from which it is due. A plan that frees
    less than ``gain_tokens`` and less than ``gain_fraction`` of the effective window is rejected,
    unless it reaches the target or the caller gave a hard budget. A ``gentle`` rung is skipped for
    a hard budget: it frees tokens early, but forgets more than a summary of the same size. An
    ``early`` rung runs before the repair of the history: its edits fit a repaired one. A ``last``
    rung runs only while the limit is exceeded, not for the target.
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

    With an ``economy`` a session also folds if that is cheaper, before any rung is due.
    """

    name: str
    rungs: tuple[Rung, ...]
    economy: Economy | None = None

    @property
    def trigger(self) -> float:
        """The fraction of the effective window from which anything is due."""
        return min((rung.trigger for rung in self.rungs), default=1.0)


def force_policy(policy: Policy) -> Policy:
    """Return the policy with every rung due and no minimum gain, for an explicit request."""
    rungs = tuple(
        replace(rung, trigger=0.0, gain_tokens=0, gain_fraction=0.0) for rung in policy.rungs
    )
    return Policy(policy.name, rungs)


Status: TypeAlias = Literal["compacted", "unchanged", "failed"]


@frozen
class RungReport:
    """
    The report of one rung.

    ``outcome`` is "applied", "fallback" if by a lesser method than intended, "skipped" or
    "rejected"; ``freed`` the tokens that it saved.
    """

    name: str
    outcome: Literal["applied", "fallback", "skipped", "rejected"]
    freed: int = 0
    reason: str = ""

    @property
    def is_in_effect(self) -> bool:
        """Whether the edits of this rung are in effect."""
        return self.outcome in ("applied", "fallback")


@frozen
class Evicted:
    """
    Files read, written or edited by tools that a compaction removed from the view.

    ``files`` are paths whose newest content is no longer in the view and must be read again.
    ``unknown`` counts results of such tools with an unknown path.
    """

    files: tuple[str, ...] = ()
    unknown: int = 0


@frozen
class Outcome:
    """
    The result of a compaction.

    Unless ``status`` is "compacted", ``view`` is the original one and ``edits`` is empty.
    ``spent`` is the usage of the model calls, ``evicted`` the files removed from the view,
    ``needed`` the tokens of the protected messages if they exceed the budget, else 0.
    """

    status: Status
    reason: str
    view: View
    edits: tuple[Edit, ...] = ()
    rungs: tuple[RungReport, ...] = ()
    spent: Spent = field(default_factory=Spent)
    evicted: Evicted = field(default_factory=Evicted)
    needed: int = 0
