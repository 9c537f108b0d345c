"""The parts of Pydantic AI messages, as they are serialized: what each one means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from foldline.formats.arguments import arguments_text, json_text
from foldline.formats.dialect import expect
from foldline.formats.media_blocks import media_part
from foldline.formats.opaque_text import opaque_text
from foldline.values.messages import (
    Content,
    Media,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

URLS = {"image-url": "image", "audio-url": "audio", "video-url": "video", "document-url": "file"}
"""Kinds of content that refer to media, and what other wires call such a block."""

FAILED = frozenset({"retried", "failed", "denied"})
"""Outcomes of a tool return that the model has to take as an error."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part stands: its position among the wire parts and, in a prompt, in the content."""

    part: int
    item: int | None = None


def read(parts: list[Any], index: int) -> Iterator[tuple[Place, Part]]:
    """
    Read the parts of a message, each with its place; a prompt with a list becomes several.

    Args:
        parts: As they are serialized.
        index: Position of their message, for errors.

    Raises:
        InputError: A known part has a wrong type.
    """
    for position, part in enumerate(parts):
        field = f"parts[{position}]"
        wire = expect(part, dict, index, field)
        if wire.get("part_kind") == "user-prompt":
            yield from _prompt(wire, position, index, field)
        else:
            yield Place(position), _part(wire, index, field)


def _prompt(
    wire: dict[str, Any], position: int, index: int, field: str
) -> Iterator[tuple[Place, Part]]:
    content = expect(wire.get("content"), (str, list), index, f"{field}.content")
    if isinstance(content, str):
        yield Place(position), Text(content, wire)
        return
    for at, item in enumerate(content):
        yield Place(position, at), _item(item, index, f"{field}.content[{at}]")


def _item(item: Any, index: int, field: str) -> Content:
    if isinstance(item, str):
        return Text(item, item)
    wire = expect(item, dict, index, field)
    kind = wire.get("kind")
    if kind == "text-content":
        return Text(expect(wire.get("content"), str, index, f"{field}.content"), wire)
    label = kind if isinstance(kind, str) else "unknown"
    return _media(wire) or Opaque(label, opaque_text(wire), wire)


def _media(item: Mapping[str, Any]) -> Media | None:
    """Describe media as a block that other wires can read too; ``item`` keeps the original."""
    kind, media_type = item.get("kind"), item.get("media_type")
    described = {"media_type": media_type} if isinstance(media_type, str) else {}
    if kind == "binary" and isinstance(item.get("data"), str):
        return media_part({"type": "file", **described, "data": item["data"], "item": item})
    if isinstance(kind, str) and kind in URLS and isinstance(item.get("url"), str):
        return media_part({"type": URLS[kind], **described, "url": item["url"], "item": item})
    return None


def _part(wire: dict[str, Any], index: int, field: str) -> Part:
    match wire.get("part_kind"):
        case "text":
            return Text(expect(wire.get("content"), str, index, f"{field}.content"), wire)
        case "thinking":
            text = expect(wire.get("content"), (str, type(None)), index, f"{field}.content")
            bound = ("signature", "id", "provider_details")
            return Thinking(text or "", any(wire.get(key) for key in bound), wire)
        case "tool-call":
            return _call(wire, index, field)
        case "tool-return":
            return _result(wire, index, field)
        case "retry-prompt" if isinstance(wire.get("tool_name"), str):
            return _result(wire, index, field)
        case "file" if isinstance(wire.get("content"), dict):
            media = _media(wire["content"])
            return media or Opaque("file", "", wire)
        case "system-prompt":
            text = expect(wire.get("content"), str, index, f"{field}.content")
            return Opaque("system-prompt", text, wire)
        case kind:
            return Opaque(kind if isinstance(kind, str) else "unknown", _words(wire), wire)


def _words(wire: Mapping[str, Any]) -> str:
    """Return what a model reads in a part of another kind, such as feedback or instructions."""
    content = wire.get("content")
    return content if isinstance(content, str) else opaque_text(dict(wire))


def _call(wire: dict[str, Any], index: int, field: str) -> ToolCall:
    number = expect(wire.get("tool_call_id"), str, index, f"{field}.tool_call_id")
    name = expect(wire.get("tool_name"), str, index, f"{field}.tool_name")
    details = wire.get("provider_details")
    signed = isinstance(details, dict) and "thought_signature" in details
    return ToolCall(
        number, name, arguments_text(wire.get("args"), index, f"{field}.args"), signed, wire
    )


def _result(wire: dict[str, Any], index: int, field: str) -> ToolResult:
    number = expect(wire.get("tool_call_id"), str, index, f"{field}.tool_call_id")
    name = expect(wire.get("tool_name"), str, index, f"{field}.tool_name")
    failed = wire["part_kind"] == "retry-prompt" or str(wire.get("outcome")) in FAILED
    content = tuple(answer(wire.get("content"), index, f"{field}.content"))
    return ToolResult(number, content, name, failed, wire)


def answer(content: Any, index: int, field: str) -> Iterator[Content]:
    """
    Read what a tool returned: a text, or any JSON value, with media in it or without.

    Args:
        content: As it is serialized.
        index: Position of its message, for errors.
        field: Its path, for errors.
    """
    if content is None or content == "":
        return
    items = content if isinstance(content, list) else [content]
    media = [_media(item) if isinstance(item, dict) else None for item in items]
    if not any(media):
        text = content if isinstance(content, str) else json_text(content, index, field)
        yield Text(text, content)
        return
    for item, found in zip(items, media, strict=True):
        text = item if isinstance(item, str) else json_text(item, index, field)
        yield found or Text(text, item)
