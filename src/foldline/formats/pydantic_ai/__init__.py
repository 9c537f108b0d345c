"""Pydantic AI: requests and responses, as ``ModelMessagesTypeAdapter`` serializes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.formats.dialect import Dialect, Violation
from foldline.formats.foreign import write_messages
from foldline.formats.pydantic_ai.read import KINDS, NAME, read_message
from foldline.formats.pydantic_ai.rules import violations
from foldline.formats.pydantic_ai.write import built_message, changed_message
from foldline.values.messages import Message, Role
from foldline.values.transcript import Transcript


class PydanticAIDialect(Dialect):
    """
    The Pydantic AI dialect: requests that may hold prompts and tool returns, and responses.

    Parts of a kind that this library does not know are carried along untouched.
    """

    name = NAME
    title = "Pydantic AI messages"
    provider = "openai"
    key = ""

    def recognises(self, wire: Any) -> float:
        """Return how sure it is that this value is in the dialect, from 0 to 1."""
        if not isinstance(wire, list) or not wire:
            return 0.0
        return 1.0 if all(_is_message(item) for item in wire) else 0.0

    read = staticmethod(read_message)
    rules = staticmethod(violations)

    def convert(self, transcript: Transcript, *, own: bool) -> Any:
        """Write a list; a system prompt of another wire becomes a request at the start."""
        items = self.messages(transcript.messages)
        if not transcript.system or own:
            return items
        part = {"content": transcript.system, "part_kind": "system-prompt"}
        return [{"parts": [part], "kind": "request"}, *items]

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """
        Write messages.

        Messages of this dialect stay one wire message each; neighbouring tool messages of other
        origin become one request, as their calls stand in one response.
        """
        joined: tuple[Role, ...] = ("tool",)
        return write_messages(messages, NAME, changed_message, built_message, "parts", joined)

    def validate(self, wire: Any) -> list[Violation]:
        """Check what providers demand of a conversation."""
        if not isinstance(wire, list):
            return [Violation(0, "", "type", "the messages are no list")]
        return self.rules(wire)


def _is_message(item: Any) -> bool:
    match item:
        case {"kind": str(kind), "parts": list()}:
            return kind in KINDS
        case _:
            return False
