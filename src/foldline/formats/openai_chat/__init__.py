"""OpenAI chat completions and compatible APIs: messages with ``tool_calls``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.formats.blocks import media_source
from foldline.formats.conversion import flat_text, write_messages
from foldline.formats.dialect import Dialect
from foldline.formats.fields import expect
from foldline.formats.openai_chat.read import (
    FUNCTION,
    LEGACY,
    NAME,
    ROLES,
    call_shape,
    read_message,
)
from foldline.formats.openai_chat.rules import violations
from foldline.formats.tool_json import tool_schemas
from foldline.values.messages import (
    Media,
    Message,
    Omitted,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from foldline.values.transcript import Transcript

_OWN_KEYS = frozenset({"tool_calls", "tool_call_id", "function_call"})


_OWN_BLOCKS = frozenset({"text", "image_url", "input_audio", "file", "refusal"})


_ANTHROPIC_KEYS = frozenset({"system", "anthropic_version", "anthropic_beta", "stop_sequences"})


class OpenAIChatDialect(Dialect):
    """The chat completions dialect."""

    name = NAME
    title = "OpenAI chat completions"
    provider = "openai"

    def recognises(self, wire: Any) -> float:
        """Return the confidence that a value is in this dialect, from 0 to 1."""
        items = wire.get("messages") if isinstance(wire, dict) else wire
        if not isinstance(items, list) or not items or not all(map(_is_message, items)):
            return 0.0
        if any(not _OWN_KEYS.isdisjoint(item) or item["role"] == "tool" for item in items):
            return 1.0
        if not all(_is_own_content(item.get("content")) for item in items):
            return 0.3
        if ROLES[items[0]["role"]] == "system":
            return 0.9
        if isinstance(wire, dict):
            return 0.3 if _is_anthropic_body(wire) else 0.9
        return 0.6

    read = staticmethod(read_message)
    rules = staticmethod(violations)

    def system_and_tools(self, around: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        """Return the tools; the system prompt is a message."""
        return "", tuple(expect(around.get("tools") or [], list, None, "tools"))

    def convert(self, transcript: Transcript, *, own: bool) -> Any:
        """Write a list, or a request body if there are tools; a system prompt comes first."""
        items = self.messages(transcript.messages)
        if own:
            return items
        if transcript.system:
            items.insert(0, {"role": "system", "content": transcript.system})
        tools = [
            {"type": "function", "function": schema.as_object("parameters")}
            for schema in tool_schemas(transcript.tools)
        ]
        return {"messages": items, "tools": tools} if tools else items

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages; one that holds several tool results becomes several."""
        return write_messages(messages, NAME, update_message, build_messages)


def _is_message(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("role"), str):
        return False
    return item["role"] in ROLES and "parts" not in item


def _is_anthropic_body(wire: dict[str, Any]) -> bool:
    tools = wire.get("tools")
    listed = tools if isinstance(tools, list) else []
    schemas = any(isinstance(tool, dict) and "input_schema" in tool for tool in listed)
    return schemas or not _ANTHROPIC_KEYS.isdisjoint(wire)


def _is_own_content(content: Any) -> bool:
    if not isinstance(content, list):
        return True
    kinds = [block.get("type") if isinstance(block, dict) else "text" for block in content]
    return all(isinstance(kind, str) and kind in _OWN_BLOCKS for kind in kinds)


_REASONING = ("reasoning_content", "reasoning")
_SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


def update_message(message: Message) -> list[Any]:
    """Write a message of this dialect after an edit; its other fields are kept."""
    raw: dict[str, Any] = message.raw
    kept = tuple(part for part in message.parts if not isinstance(part, Omitted))
    if not kept:
        return []
    listed = isinstance(raw.get("content"), list)
    result = next((part for part in kept if isinstance(part, ToolResult)), None)
    if result is not None:
        content = _content(result.content, own=True, listed=listed)
        number = {"tool_call_id": result.call_id} if result.call_id else {}
        return [{**raw, **number, "content": "" if content is None else content}]
    wire = dict(raw)
    thoughts = [part.raw for part in kept if isinstance(part, Thinking)]
    for key in _REASONING:
        if not any(isinstance(thought, dict) and key in thought for thought in thoughts):
            wire.pop(key, None)
    wire["content"] = _content([p for p in kept if _is_content(p)], own=True, listed=listed)
    return [_with_calls(wire, [part for part in kept if isinstance(part, ToolCall)])]


def build_messages(message: Message) -> list[Any]:
    """
    Write a message that has no original in this dialect.

    Returns:
        One message for each tool result, then one for the rest; none if there is no content.
    """
    out: list[Any] = [
        {
            "role": "tool",
            "tool_call_id": result.call_id or "",
            "content": flat_text(result.content),
        }
        for result in message.results
    ]
    calls = [FUNCTION.write(call, None) for call in message.calls]
    content = _content([p for p in message.parts if _is_content(p)], own=False)
    if content is None and not calls:
        return out
    wire: dict[str, Any] = {"role": "user" if message.role == "tool" else message.role}
    if message.name:
        wire["name"] = message.name
    wire["content"] = content
    thoughts = [p for p in message.parts if isinstance(p, Thinking) and p.text and not p.signed]
    if thoughts and message.role == "assistant":
        wire["reasoning_content"] = "\n".join(part.text for part in thoughts)
    return [*out, {**wire, "tool_calls": calls} if calls else wire]


def _is_content(part: Part) -> bool:
    return isinstance(part, (Text, Media, Opaque))


def _with_calls(wire: dict[str, Any], calls: Sequence[ToolCall]) -> dict[str, Any]:
    """Put the remaining calls into their message; omit empty content rather than write null."""
    legacy = next((call for call in calls if _is_legacy(call)), None)
    if legacy is not None:
        return LEGACY.write(legacy, wire)
    wire.pop("function_call", None)
    wire.pop("tool_calls", None)
    if calls:
        return {
            **wire,
            "tool_calls": [call_shape(call.raw).write(call, call.raw) for call in calls],
        }
    return {**wire, "content": wire["content"] or ""}


def _is_legacy(call: ToolCall) -> bool:
    return isinstance(call.raw, dict) and isinstance(call.raw.get("function_call"), dict)


def _content(parts: Sequence[Part], *, own: bool, listed: bool = False) -> Any:
    """
    Write content, None if there is none.

    Args:
        parts: Texts, media and opaque blocks.
        own: Whether their ``raw`` is of this dialect.
        listed: Whether the original content was a list and must stay one.
    """
    kept_parts = [part for part in parts if own or not isinstance(part, Text) or part.text]
    if not kept_parts:
        return None
    if listed or not all(isinstance(part, Text) for part in kept_parts):
        blocks = [_block(part, own=own) for part in kept_parts]
        if own or any(block["type"] != "text" for block in blocks):
            return blocks
    return flat_text(kept_parts)


def _block(part: Part, *, own: bool) -> Any:
    if own and isinstance(part, (Text, Media, Opaque)) and isinstance(part.raw, (dict, str)):
        return part.raw
    source = media_source(part.raw) if isinstance(part, Media) else None
    if source is not None:
        if source.kind == "image" and source.data_uri:
            return {"type": "image_url", "image_url": {"url": source.data_uri}}
        sound = _SOUNDS.get(source.media_type)
        if source.data and sound:
            return {"type": "input_audio", "input_audio": {"data": source.data, "format": sound}}
        if source.data and source.media_type == "application/pdf":
            file = {"filename": "document.pdf", "file_data": source.data_uri}
            return {"type": "file", "file": file}
    return {"type": "text", "text": flat_text([part])}
