"""Window: drop the oldest groups until the rest fits, without a model or a ranking."""

from __future__ import annotations

from typing import ClassVar

from foldline.core.asks import Steps
from foldline.core.strategy import CompactionContext, Plan
from foldline.frozen import frozen
from foldline.values.edits import Drop
from foldline.values.protect import is_snapshot
from foldline.values.view import View


@frozen
class Window:
    """
    Drop the oldest groups.

    Args:
        keep: How many of the newest groups to keep; None to stop at the target instead.
    """

    keep: int | None = None
    name: ClassVar[str] = "window"

    def propose(self, view: View, context: CompactionContext) -> Steps[Plan]:
        """Drop whole groups, oldest first, except protected ones and snapshots."""
        yield from ()
        groups = [g for g in view.foldable() if not is_snapshot(view.messages[g.start])]
        if self.keep is not None:
            groups = groups[: max(0, len(groups) - self.keep)]
        left = view.tokens
        removed: list[str] = []
        for group in groups:
            if self.keep is None and left <= context.target:
                break
            removed += [view.messages[index].id for index in group.members]
            left -= sum(view.counts[index] for index in group.members)
        if not removed:
            return Plan(reason="nothing may be dropped")
        return Plan((Drop(tuple(removed), self.name),))
