"""Anthropic Messages: user and assistant turns made of content blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.formats.anthropic.read import NAME, ROLES, read_message, system_text
from foldline.formats.anthropic.rules import body_violations
from foldline.formats.anthropic.write import built_blocks, changed_message
from foldline.formats.dialect import Violation, body, bounded_nesting
from foldline.formats.foreign import START, adapt, is_own, wire_ids
from foldline.formats.tool_json import tool_schemas
from foldline.values.groups import Site
from foldline.values.messages import Message, Role
from foldline.values.transcript import Transcript

_OWN_TYPES = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})


_OWN_KEYS = frozenset({"anthropic_version", "anthropic_beta", "max_tokens", "stop_sequences"})


class AnthropicDialect:
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
        blocks = [
            block
            for item in items
            if isinstance(item.get("content"), list)
            for block in item["content"]
        ]
        if any(_is_own_block(block) for block in blocks):
            return 1.0
        if isinstance(wire, dict) and ("system" in wire or not _OWN_KEYS.isdisjoint(wire)):
            return 0.8
        return 0.45

    def decode(self, wire: Any) -> Transcript:
        """Read a list of messages, or a request body with ``messages``, ``system``, ``tools``."""
        items, envelope = body(wire, "messages")
        with bounded_nesting():
            messages = [read_message(item, index) for index, item in enumerate(items)]
            around = envelope or {}
            tools = around.get("tools")
            return Transcript.of(
                messages,
                NAME,
                system=system_text(around.get("system")),
                tools=tuple(tools) if isinstance(tools, list) else (),
                envelope=envelope,
            )

    def encode(self, transcript: Transcript) -> Any:
        """
        Write a conversation in the shape in which it came.

        A conversation of another dialect becomes a request body when it has a system prompt,
        which Anthropic keeps outside the messages, or tools; else a list.
        """
        if transcript.dialect == NAME:
            items = self.messages(transcript.messages)
            envelope = transcript.envelope
            if isinstance(envelope, dict) and "messages" in envelope:
                return {**envelope, "messages": items}
            return _body(transcript.system, list(transcript.tools), items)
        spoken = list(transcript.messages)
        system = [transcript.system] if transcript.system else []
        while spoken and spoken[0].role == "system":
            system.append(spoken.pop(0).text)
        tools = [schema.as_anthropic() for schema in tool_schemas(transcript.tools)]
        items = self.messages(spoken)
        if items and items[0]["role"] == "assistant":
            items.insert(0, {"role": "user", "content": START})
        return _body("\n\n".join(system), tools, items)

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """
        Write messages.

        Messages of this dialect stay one wire message each, so that the prefix of a prompt never
        moves; one whose parts are all left out is not written. Neighbouring assistant messages,
        and neighbouring tool messages, of other origin become one wire message. System messages
        in the middle, which this wire does not have, become user text.
        """
        ready = adapt(messages, NAME)
        numbers = wire_ids(ready, NAME)
        out: list[Any] = []
        growing: Role | None = None
        for index, message in enumerate(ready):
            if is_own(message, NAME):
                wire = message.raw if message.intact else changed_message(message)
                out += [wire] if wire is not None else []
                growing = None
                continue
            blocks = built_blocks(message, _numbers(message, index, numbers))
            if blocks and message.role == growing:
                out[-1]["content"] += blocks
            elif blocks:
                role = "assistant" if message.role == "assistant" else "user"
                out.append({"role": role, "content": blocks})
                growing = message.role if message.role in ("assistant", "tool") else None
        return out

    def validate(self, wire: Any) -> list[Violation]:
        """Check the strict rules of the API."""
        return body_violations(wire)


def _numbers(message: Message, index: int, numbers: dict[Site, str]) -> list[str]:
    return [numbers.get(Site(index, position), "") for position in range(len(message.parts))]


def _body(system: str, tools: list[Any], items: list[Any]) -> Any:
    if not system and not tools:
        return items
    named = {"system": system, "tools": tools}
    return {**{key: value for key, value in named.items() if value}, "messages": items}


def _speaks(item: dict[str, Any]) -> bool:
    role = item.get("role")
    foreign = "tool_calls" in item or "tool_call_id" in item or "parts" in item
    return isinstance(role, str) and role in ROLES and not foreign


def _is_own_block(block: Any) -> bool:
    if not isinstance(block, dict):
        return False
    kind = block.get("type")
    if isinstance(kind, str) and kind in _OWN_TYPES:
        return True
    return kind in ("image", "document") and isinstance(block.get("source"), dict)
