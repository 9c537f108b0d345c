"""Pydantic AI: requests and responses, as ``ModelMessagesTypeAdapter`` serializes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.formats.dialect import Violation, bounded_nesting, expect
from foldline.formats.foreign import adapt, is_own, wire_ids
from foldline.formats.pydantic_ai.read import KINDS, NAME, read_message
from foldline.formats.pydantic_ai.rules import violations
from foldline.formats.pydantic_ai.write import built_message, changed_message
from foldline.values.groups import Site
from foldline.values.messages import Message
from foldline.values.transcript import Transcript


class PydanticAIDialect:
    """
    The Pydantic AI dialect: requests that may hold prompts and tool returns, and responses.

    Parts of a kind that this library does not know are carried along untouched.
    """

    name = NAME
    title = "Pydantic AI messages"
    provider = "openai"

    def recognises(self, wire: Any) -> float:
        """Return how sure it is that this value is in the dialect, from 0 to 1."""
        if not isinstance(wire, list) or not wire:
            return 0.0
        return 1.0 if all(_is_message(item) for item in wire) else 0.0

    def decode(self, wire: Any) -> Transcript:
        """Read a list of serialized messages."""
        items = expect(wire, list, None, "")
        with bounded_nesting():
            return Transcript.of([read_message(item, i) for i, item in enumerate(items)], NAME)

    def encode(self, transcript: Transcript) -> Any:
        """Write a conversation; a system prompt of another wire becomes a request at the start."""
        items = self.messages(transcript.messages)
        if not transcript.system or transcript.dialect == NAME:
            return items
        part = {"content": transcript.system, "part_kind": "system-prompt"}
        return [{"parts": [part], "kind": "request"}, *items]

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """
        Write messages.

        Messages of this dialect stay one wire message each; neighbouring tool messages of other
        origin become one request, as their calls stand in one response.
        """
        if all(message.intact and is_own(message, NAME) for message in messages):
            return [message.raw for message in messages]
        ready = adapt(messages, NAME)
        numbers = wire_ids(ready, NAME)
        out: list[Any] = []
        growing = False
        for index, message in enumerate(ready):
            if is_own(message, NAME):
                wire = message.raw if message.intact else changed_message(message)
            else:
                places = range(len(message.parts))
                wire = built_message(message, [numbers.get(Site(index, at), "") for at in places])
            answers = message.role == "tool" and not is_own(message, NAME)
            if wire is not None and answers and growing:
                out[-1]["parts"] += wire["parts"]
            elif wire is not None:
                out.append(wire)
                growing = answers
        return out

    def validate(self, wire: Any) -> list[Violation]:
        """Check what providers demand of a conversation."""
        return violations(wire)


def _is_message(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and isinstance(item.get("kind"), str)
        and item["kind"] in KINDS
        and isinstance(item.get("parts"), list)
    )
