"""Reasoning: remove the thinking of finished turns, which no provider requires."""

from __future__ import annotations

from itertools import takewhile
from typing import ClassVar

from foldline.core.asks import Steps
from foldline.core.strategy import CompactionContext, Plan
from foldline.frozen import frozen
from foldline.values.edits import Edit, Rewrite
from foldline.values.groups import only_thinks
from foldline.values.handles import part_handle
from foldline.values.messages import Message, Opaque, Text, Thinking, ToolCall
from foldline.values.provider_rules import ANY_ORDER
from foldline.values.view import View


@frozen
class Reasoning:
    """
    Remove old reasoning.

    The reasoning since the latest user message stays unchanged, signatures included: providers
    check it while a tool loop runs.
    """

    name: ClassVar[str] = "reasoning"

    def propose(self, view: View, context: CompactionContext) -> Steps[Plan]:
        """Remove all reasoning before the latest user message."""
        yield from ()
        messages = view.messages
        newest = range(len(messages) - 1, -1, -1)
        end = next((index for index in newest if messages[index].is_from_user()), 0)
        edits: list[Edit] = []
        for index, message in enumerate(messages[:end]):
            thinks = any(isinstance(part, Thinking) for part in message.parts)
            if thinks and message.role == "assistant" and index not in view.protected:
                edits += self._strip(view, context, index)
        return Plan(tuple(edits), "" if edits else "no old reasoning")

    def _strip(self, view: View, context: CompactionContext, index: int) -> list[Edit]:
        message = view.messages[index]
        led_to = _find_outcome(view, index)
        if any(isinstance(part, Opaque) for other in led_to for part in other.parts):
            # Opaque parts of a provider cannot be separated from their reasoning.
            return []
        handle = context.handles.get(message.id, "")
        return [
            Rewrite(message.id, position, None, self.name, part_handle(handle, message, position))
            for position, part in enumerate(message.parts)
            if isinstance(part, Thinking)
        ] + [edit for other in led_to for edit in self._unbind(other)]

    def _unbind(self, message: Message) -> list[Edit]:
        """Rewrite a part to the same text, so that it is sent without its provider id."""
        part = message.parts[0] if message.parts and message.intact else None
        if isinstance(part, (Text, ToolCall)):
            text = part.text if isinstance(part, Text) else part.arguments
            return [Rewrite(message.id, 0, text, self.name)]
        return []


def _find_outcome(view: View, index: int) -> list[Message]:
    """Return the messages that follow from reasoning, where it is a message of its own."""
    if view.dialect not in ANY_ORDER or not only_thinks(view.messages[index]):
        return []
    following = map(view.messages.__getitem__, range(index + 1, len(view.messages)))
    return list(
        takewhile(
            lambda message: message.role == "assistant" and not only_thinks(message), following
        )
    )
