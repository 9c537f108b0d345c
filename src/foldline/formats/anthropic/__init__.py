"""Anthropic Messages: user and assistant turns made of content blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from foldline.formats.anthropic.read import NAME, ROLES, read_message, system_text
from foldline.formats.anthropic.rules import SYSTEM, violations
from foldline.formats.anthropic.write import built_message, changed_message
from foldline.formats.dialect import Dialect, Violation, check_fields, in_body
from foldline.formats.foreign import START, leading_system, write_messages
from foldline.formats.tool_json import tool_schemas
from foldline.values.messages import Message, Role
from foldline.values.transcript import Transcript

_OWN_KEYS = frozenset({"anthropic_version", "anthropic_beta", "max_tokens", "stop_sequences"})


class AnthropicDialect(Dialect):
    """
    The Messages dialect.

    A user message that holds nothing but tool results is read as one of role "tool"; with
    anything besides them it is a user message.
    """

    name = NAME
    title = "Anthropic Messages"
    provider = "anthropic"

    def recognises(self, wire: Any) -> float:
        """Return how sure it is that this value is in the dialect, from 0 to 1."""
        items = wire.get("messages") if isinstance(wire, dict) else wire
        if not isinstance(items, list) or not items:
            return 0.0
        if not all(isinstance(item, dict) and _speaks(item) for item in items):
            return 0.0
        contents = [item.get("content") for item in items]
        if any(_is_own_block(one) for c in contents if isinstance(c, list) for one in c):
            return 1.0
        if isinstance(wire, dict) and ("system" in wire or not _OWN_KEYS.isdisjoint(wire)):
            return 0.8
        return 0.45

    read = staticmethod(read_message)
    rules = staticmethod(violations)

    def surroundings(self, around: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        """Return the text of the system prompt, and the tools."""
        return system_text(around.get("system")), super().surroundings(around)[1]

    def convert(self, transcript: Transcript, *, own: bool) -> Any:
        """
        Write a list, or a request body where there are tools or a system prompt.

        Anthropic keeps the system prompt outside the messages, and a user speaks first.
        """
        if own:
            items = self.messages(transcript.messages)
            around = {"system": transcript.system, "tools": list(transcript.tools)}
            return in_body(items, self.key, around)
        system, conversation = leading_system(transcript)
        items = self.messages(conversation)
        if items and items[0]["role"] == "assistant":
            items.insert(0, {"role": "user", "content": START})
        tools = [schema.as_object("input_schema") for schema in tool_schemas(transcript.tools)]
        return in_body(items, self.key, {"system": system, "tools": tools})

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """
        Write messages.

        Messages of this dialect stay one wire message each, so that the prefix of a prompt never
        moves; one whose parts are all left out is not written. Neighbouring assistant messages,
        and neighbouring tool messages, of other origin become one wire message. System messages
        in the middle, which this wire does not have, become user text.
        """
        joined: tuple[Role, ...] = ("assistant", "tool")
        return write_messages(messages, NAME, changed_message, built_message, "content", joined)

    def body_rules(self, around: dict[str, Any]) -> Iterable[Violation]:
        """Check the system prompt."""
        return check_fields(around, SYSTEM, 0)


def _speaks(item: dict[str, Any]) -> bool:
    role = item.get("role")
    foreign = "tool_calls" in item or "tool_call_id" in item or "parts" in item
    return isinstance(role, str) and role in ROLES and not foreign


def _is_own_block(block: Any) -> bool:
    match block:
        case {"type": "tool_use" | "tool_result" | "thinking" | "redacted_thinking"}:
            return True
        case {"type": "image" | "document", "source": dict()}:
            return True
        case _:
            return False
