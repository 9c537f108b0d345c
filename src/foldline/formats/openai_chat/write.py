"""Writing chat completions: messages that an edit changed, and messages from neutral parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.formats.blocks import media_source
from foldline.formats.foreign import flat_text
from foldline.formats.openai_chat.read import FUNCTION, LEGACY, call_shape
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

_REASONING = ("reasoning_content", "reasoning")
_SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


def changed_message(message: Message) -> list[Any]:
    """Write a message of this dialect that an edit changed; its other fields stay."""
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


def built_messages(message: Message) -> list[Any]:
    """
    Write a message that was made elsewhere.

    Returns:
        One message for each tool result, then one for the rest; none when nothing is said.
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
    """Put the calls that are left into a message that held them; say nothing rather than null."""
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
    Write content, None for nothing.

    Args:
        parts: Texts, media and opaque blocks.
        own: Whether their ``raw`` is of this dialect.
        listed: Whether the content came as a list and has to stay one.
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
