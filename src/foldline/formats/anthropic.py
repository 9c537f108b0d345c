"""Anthropic Messages: user and assistant turns made of content blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.formats.anthropic_rules import body_violations
from foldline.formats.anthropic_writing import built_blocks, changed_message
from foldline.formats.arguments import arguments_text
from foldline.formats.call_ids import wire_ids
from foldline.formats.dialect import Violation, body, expect
from foldline.formats.foreign import START, adapted, is_own
from foldline.formats.media_blocks import media_part
from foldline.formats.nesting import bounded_nesting
from foldline.formats.opaque_text import opaque_text
from foldline.formats.tool_schemas import tool_schemas
from foldline.formats.unknown import unknown_role
from foldline.values.groups import Site
from foldline.values.messages import (
    Content,
    Media,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from foldline.values.transcript import Transcript

NAME = "anthropic"
ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}

_OWN_TYPES = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})
_OWN_KEYS = frozenset({"anthropic_version", "anthropic_beta", "max_tokens", "stop_sequences"})


class Anthropic:
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
            messages = [_message(item, index) for index, item in enumerate(items)]
            around = envelope or {}
            tools = around.get("tools")
            return Transcript.of(
                messages,
                NAME,
                system=_system(around.get("system")),
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
        ready = adapted(messages, NAME)
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


# --- reading -------------------------------------------------------------------------------


def _message(item: Any, index: int) -> Message:
    wire = expect(item, dict, index, "")
    named = expect(wire.get("role"), str, index, "role")
    role = ROLES.get(named)
    if role is None:
        return unknown_role(wire, named, NAME, index)
    parts = _parts(wire.get("content"), index)
    if role == "user" and parts and all(isinstance(part, ToolResult) for part in parts):
        role = "tool"
    return Message(role, parts, wire, NAME, usage=_usage(wire.get("usage")))


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    keys = ("input_tokens", "output_tokens", "cache_read_input_tokens")
    counts = [value.get(key) for key in (*keys, "cache_creation_input_tokens")]
    numbers = [n if isinstance(n, int) and n > 0 else 0 for n in counts]
    return Usage(*numbers) if any(numbers) else None


def _system(value: Any) -> str:
    blocks = expect(value, (str, list, type(None)), None, "system")
    if not isinstance(blocks, list):
        return blocks or ""
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _parts(content: Any, index: int) -> tuple[Part, ...]:
    content = expect(content, (str, list), index, "content")
    if isinstance(content, str):
        return (Text(content, raw=content),) if content else ()
    return tuple(_part(block, index, f"content[{at}]") for at, block in enumerate(content))


def _part(block: Any, index: int, field: str) -> Part:
    wire = expect(block, dict, index, field)
    match wire.get("type"):
        case "tool_use":
            number = expect(wire.get("id"), str, index, f"{field}.id")
            name = expect(wire.get("name"), str, index, f"{field}.name")
            return ToolCall(
                number, name, arguments_text(wire.get("input"), index, f"{field}.input"), raw=wire
            )
        case "tool_result":
            return _result(wire, index, field)
        case "thinking":
            text = expect(wire.get("thinking"), (str, type(None)), index, f"{field}.thinking")
            return Thinking(text or "", signed=bool(wire.get("signature")), raw=wire)
        case "redacted_thinking":
            return Thinking("", signed=True, raw=wire)
        case _:
            return _content(wire, index, field)


def _result(wire: dict[str, Any], index: int, field: str) -> ToolResult:
    number = expect(wire.get("tool_use_id"), str, index, f"{field}.tool_use_id")
    content = expect(wire.get("content"), (str, list, type(None)), index, f"{field}.content")
    pieces: tuple[Content, ...] = ()
    if isinstance(content, list):
        pieces = tuple(
            _content(expect(block, dict, index, f"{field}.content[{at}]"), index, field)
            for at, block in enumerate(content)
        )
    elif content:
        pieces = (Text(content, raw=content),)
    return ToolResult(number, pieces, is_error=bool(wire.get("is_error")), raw=wire)


def _content(wire: dict[str, Any], index: int, field: str) -> Content:
    kind = wire.get("type")
    if kind == "text":
        return Text(expect(wire.get("text"), str, index, f"{field}.text"), raw=wire)
    source = wire.get("source")
    spelled_out = isinstance(source, dict) and source.get("type") in ("text", "content")
    if kind in ("image", "document") and not spelled_out:
        media: Media | None = media_part(wire)
        if media is not None:
            return media
    if kind == "document" and isinstance(source, dict) and isinstance(source.get("data"), str):
        return Opaque(kind, f"{wire.get('title') or ''}\n{source['data']}".strip(), raw=wire)
    return Opaque(kind if isinstance(kind, str) else "unknown", opaque_text(wire), raw=wire)
