"""Reasoning: leave out the thinking of finished turns, which no provider asks to see again."""

from __future__ import annotations

from dataclasses import dataclass, field

from foldline.core.asks import Steps
from foldline.core.edits import Edit, Rewrite
from foldline.core.handles import part_handle
from foldline.core.messages import Thinking
from foldline.core.strategy import Need, Plan
from foldline.core.view import View


@dataclass(frozen=True, slots=True)
class Reasoning:
    """
    Leave out old reasoning.

    The reasoning since the latest user message stays as it is, signatures included: providers
    check it while a tool loop runs.
    """

    name: str = field(default="reasoning", init=False)

    def propose(self, view: View, need: Need) -> Steps[Plan]:
        """Leave out all reasoning before the latest thing that the user said."""
        yield from ()
        spoken = [i for i, message in enumerate(view.messages) if message.is_spoken()]
        end = spoken[-1] if spoken else 0
        edits: list[Edit] = []
        for index in range(end):
            if index not in view.protected and view.messages[index].role == "assistant":
                edits += self._strip(view, need, index)
        return Plan(tuple(edits), "" if edits else "no old reasoning")

    def _strip(self, view: View, need: Need, index: int) -> list[Edit]:
        message = view.messages[index]
        handle = need.handles.get(message.id, "")
        return [
            Rewrite(message.id, position, None, self.name, part_handle(handle, message, position))
            for position, part in enumerate(message.parts)
            if isinstance(part, Thinking)
        ]
