"""The outcome of a compaction: what became of a view, by which rungs, and what is out of sight."""

from __future__ import annotations

from typing import Literal, TypeAlias

from foldline.core.spending import Spent
from foldline.frozen import field, frozen
from foldline.values.edits import Edit
from foldline.values.view import View

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
