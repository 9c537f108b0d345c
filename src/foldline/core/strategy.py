"""What a strategy is given and proposes, the rungs of a policy, and what became of them."""

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


Status: TypeAlias = Literal["compacted", "unchanged", "failed"]


@frozen
class RungReport:
    """
    What one rung did.

    ``outcome`` is "applied", "fallback" when it was by lesser means than intended, "skipped" or
    "rejected"; ``freed`` the tokens that it saved.
    """

    name: str
    outcome: Literal["applied", "fallback", "skipped", "rejected"]
    freed: int = 0
    reason: str = ""

    @property
    def is_in_effect(self) -> bool:
        """Whether the view is what this rung made of it."""
        return self.outcome in ("applied", "fallback")


@frozen
class Evicted:
    """
    What a compaction took out of sight of the files that tools had read, written or changed.

    ``files`` are paths whose newest content is no longer in the view: who wants it has to read it
    again. ``unknown`` counts results of such tools whose path is not known.
    """

    files: tuple[str, ...] = ()
    unknown: int = 0


@frozen
class Outcome:
    """
    The result of a compaction.

    Unless ``status`` is "compacted", ``view`` is the one that came in and ``edits`` is empty.
    ``spent`` is what the model calls took, ``evicted`` which files left the view, ``needed``
    the tokens of what must stay where that is more than the budget, else 0.
    """

    status: Status
    reason: str
    view: View
    edits: tuple[Edit, ...] = ()
    rungs: tuple[RungReport, ...] = ()
    spent: Spent = field(default_factory=Spent)
    evicted: Evicted = field(default_factory=Evicted)
    needed: int = 0
