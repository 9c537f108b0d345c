"""Summarize: fold the old groups into a snapshot, and keep the newest ones verbatim."""

from __future__ import annotations

from dataclasses import dataclass, field

from foldline.core.asks import Steps
from foldline.core.edits import Fold
from foldline.core.identity import derived_id
from foldline.core.messages import Message, Text
from foldline.core.strategy import Need, Plan
from foldline.core.tokens import MESSAGE_TOKENS
from foldline.core.view import View
from foldline.strategies.digest import digest
from foldline.strategies.tail import Keep

SMALLEST = 160
"""The least that a snapshot is given, in tokens."""


@dataclass(frozen=True, slots=True)
class Summarize:
    """
    Fold everything older than the tail into one snapshot of verbatim lines; no model is needed.

    Args:
        keep: How much of the newest history stays verbatim.
        most: The largest snapshot, as a fraction of the effective window.
    """

    keep: Keep = field(default_factory=lambda: Keep("target", 0.12))
    most: float = 1.0
    name: str = field(default="summarize", init=False)

    def propose(self, view: View, need: Need) -> Steps[Plan]:
        """Fold the groups before the tail; an earlier snapshot among them is taken up."""
        yield from ()
        positions = sorted(i for group in self.keep.older(view, need) for i in group.members)
        if not positions:
            return Plan(reason="nothing is older than what must stay")
        folded = sum(view.counts[index] for index in positions)
        room = need.target - (view.tokens - folded) - MESSAGE_TOKENS
        room = max(SMALLEST, min(room, round(self.most * need.scale)))
        if folded <= room:
            return Plan(reason="what could be folded is smaller than its snapshot")
        ids = tuple(view.messages[index].id for index in positions)
        snapshot = Message(
            "user",
            (Text(digest(view, need, positions, room)),),
            id=derived_id("snapshot", *ids),
            origin="snapshot",
        )
        return Plan((Fold(ids, snapshot),))
