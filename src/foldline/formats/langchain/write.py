"""Writing LangChain messages: each call in up to three places, as it stood there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from foldline.formats.blocks import media_source
from foldline.formats.foreign import note
from foldline.formats.foreign import write_messages as write_in_order
from foldline.formats.langchain.read import LISTS, NAME, PARSED, place_shape
from foldline.formats.langchain_shapes import Shape, fields_of, new_message, update_message
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


def write_messages(messages: Sequence[Message], shape: Shape) -> list[Any]:
    """Write messages in one of the four shapes."""
    return write_in_order(messages, NAME, _update, partial(_foreign, shape=shape))


def _update(message: Message) -> list[Any]:
    parts = tuple(part for part in message.parts if not isinstance(part, Omitted))
    if not parts:
        return []
    fields = fields_of(message.raw)
    blocks = isinstance(fields.get("content"), list)
    result = next((part for part in parts if isinstance(part, ToolResult)), None)
    if result is not None:
        content = write_content(result.content, True, blocks=blocks)
        number = {"tool_call_id": result.call_id} if result.call_id else {}
        return [update_message(message.raw, {"content": content, **number})]
    calls = [part for part in parts if isinstance(part, ToolCall)]
    changes = {"content": write_content(parts, True, blocks=blocks), **call_fields(fields, calls)}
    extra = fields.get("additional_kwargs")
    if isinstance(extra, dict):
        kept = sent_fields(extra, calls)
        if not any(_is_beside(part) for part in parts):
            kept.pop("reasoning_content", None)
        changes["additional_kwargs"] = kept
    return [update_message(message.raw, changes)]


def _is_beside(part: Part) -> bool:
    """Return True if a part is reasoning that stands in additional_kwargs."""
    return isinstance(part, Thinking) and isinstance(part.raw, dict) and "type" not in part.raw


def _foreign(message: Message, shape: Shape) -> list[Any]:
    out = [_answer(result, shape) for result in message.results]
    rest = tuple(p for p in message.parts if not isinstance(p, (ToolResult, Omitted)))
    if any(not isinstance(part, Text) or part.text for part in rest):
        out.append(_write_message(message, rest, shape))
    return out


def _answer(result: ToolResult, shape: Shape) -> Any:
    fields: dict[str, Any] = {"content": write_content(result.content, False)}
    if result.name:
        fields["name"] = result.name
    fields["tool_call_id"] = result.call_id or ""
    fields["status"] = "error" if result.is_error else "success"
    return new_message("tool", fields, shape)


def _write_message(message: Message, parts: tuple[Part, ...], shape: Shape) -> Any:
    kinds = {"assistant": "ai", "system": "system"}
    fields: dict[str, Any] = {"content": write_content(parts, False)}
    if message.name:
        fields["name"] = message.name
    thoughts = [p.text for p in parts if isinstance(p, Thinking) and p.text and not p.signed]
    if thoughts:
        fields["additional_kwargs"] = {"reasoning_content": "\n".join(thoughts)}
    calls = [PARSED.write(part, None) for part in parts if isinstance(part, ToolCall)]
    if calls:
        fields["tool_calls"] = calls
    return new_message(kinds.get(message.role, "human"), fields, shape)


def call_fields(fields: Mapping[str, Any], calls: Sequence[ToolCall]) -> dict[str, Any]:
    """Return the fields beside the content that repeat calls, holding only these calls."""
    out: dict[str, Any] = {}
    for key in LISTS:
        if isinstance(fields.get(key), list):
            out[key] = [_write_place(call, key) for call in calls if key in call.raw]
    chunks = fields.get("tool_call_chunks")
    if isinstance(chunks, list):
        known = {call.id: call for call in calls if call.id}
        named = [c for c in chunks if isinstance(c, dict) and isinstance(c.get("id"), str)]
        out["tool_call_chunks"] = [
            chunk if _is_unchanged(call) else {**chunk, "args": call.arguments}
            for chunk in named
            if (call := known.get(chunk["id"])) is not None
        ]
    return out


def sent_fields(extra: Mapping[str, Any], calls: Sequence[ToolCall]) -> dict[str, Any]:
    """Return additional_kwargs with only these calls; the keys vanish with the last call."""
    out = dict(extra)
    sent = [_write_place(call, "sent") for call in calls if "sent" in call.raw]
    if isinstance(extra.get("tool_calls"), list):
        out["tool_calls"] = sent
        if not sent:
            del out["tool_calls"]
    elif isinstance(extra.get("function_call"), dict):
        out.pop("function_call")
        if sent:
            out["function_call"] = sent[0]
    return out


def _write_place(call: ToolCall, place: str) -> dict[str, Any]:
    """Write what stands for a call in one place; places may spell the same arguments otherwise."""
    entry = call.raw[place]
    shape = place_shape(place, entry)
    if _is_unchanged(call):
        call = replace(call, arguments=shape.text(entry))
    return shape.write(call, entry)


def _is_unchanged(call: ToolCall) -> bool:
    """Return True if the arguments are those that were read, in the first of the places."""
    place = next(place for place in (*LISTS, "sent", "block") if place in call.raw)
    return place_shape(place, call.raw[place]).text(call.raw[place]) == call.arguments


def write_content(parts: Sequence[Part], own: bool, *, blocks: bool = False) -> Any:
    """
    Write parts as content.

    Args:
        parts: Parts of a message; calls are written only where a block repeated them.
        own: Whether the ``raw`` of the parts is LangChain's.
        blocks: Whether the content came as a list and has to stay one.

    Returns:
        A string where texts suffice, else a list of blocks.
    """
    written = [wire for part in parts if (wire := _wire(part, own)) is not None]
    if not blocks and all(isinstance(wire, str) for wire in written):
        return "\n".join(written)
    return [
        {"type": "text", "text": wire} if isinstance(wire, str) and not own else wire
        for wire in written
    ]


def _wire(part: Part, own: bool) -> Any:
    match part:
        case ToolCall():
            return _write_place(part, "block") if own and "block" in part.raw else None
        case Thinking(raw=raw):
            return raw if own and isinstance(raw, dict) and "type" in raw else None
        case Omitted() | ToolResult():
            return None
        case _ if own and isinstance(part.raw, (dict, str)):
            return part.raw
        case Text(text):
            return text or None
        case Media():
            return _media(part)
        case Opaque():
            return note(part)


def _media(part: Media) -> Any:
    source = media_source(part.raw)
    if source is None or not source.data_uri:
        return note(part)
    if source.kind == "image":
        return {"type": "image_url", "image_url": {"url": source.data_uri}}
    if not source.data:
        return note(part)
    kind = "file" if source.kind == "document" else source.kind
    return {"type": kind, "mime_type": source.media_type, "base64": source.data}
