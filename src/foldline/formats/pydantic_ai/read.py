"""Reading serialized Pydantic AI messages and their parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from foldline.errors import InputError
from foldline.formats.blocks import media_part, opaque, opaque_text
from foldline.formats.fields import expect, token_counts, usage_of
from foldline.formats.tool_json import CallShape, json_text
from foldline.frozen import replace
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

NAME = "pydantic-ai"


CALL = CallShape(
    "args",
    "tool_name",
    "tool_call_id",
    needs_id=True,
    as_text=None,
    new={"part_kind": "tool-call"},
)


KINDS = frozenset({"request", "response"})


MARKS = "__pydantic_ai__"
"""The key of a response's metadata that holds the framework's own data."""


def read_message(item: Any, index: int) -> Message:
    """
    Read one message.

    Raises:
        InputError: Naming the message index and the field.
    """
    wire = expect(item, dict, index, "")
    kind = expect(wire.get("kind"), str, index, "kind")
    if kind not in KINDS:
        raise InputError(
            f"unknown kind {kind[:40]!r}",
            index=index,
            field="kind",
            hint=f"Known kinds: {', '.join(sorted(KINDS))}.",
        )
    wires = expect(wire.get("parts"), list, index, "parts")
    read = (read_part(one, index, f"parts[{at}]") for at, one in enumerate(wires))
    parts = tuple(chain.from_iterable(read))
    if kind == "response":
        return Message("assistant", parts, wire, NAME, usage=_usage(wire))
    role = _role(wires, parts)
    return Message(role, _as_system(parts) if role == "system" else parts, wire, NAME)


def _role(wires: Sequence[dict[str, Any]], parts: Sequence[Part]) -> Role:
    """Return the role of a request: user if it has a prompt, else tool, else system."""
    if any(wire.get("part_kind") == "user-prompt" for wire in wires):
        return "user"
    return "tool" if any(isinstance(part, ToolResult) for part in parts) else "system"


def _as_system(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Read the system prompts of a request that holds nothing else as text."""
    return tuple(
        Text(part.text, part.raw)
        if isinstance(part, Opaque) and part.kind == "system-prompt"
        else part
        for part in parts
    )


def _usage(response: dict[str, Any]) -> Usage | None:
    value = response.get("usage")
    if not isinstance(value, dict):
        return None
    keys = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    given, output, read, write = token_counts(value, *keys)
    held = _context(response.get("metadata"))
    if held is not None:
        return Usage(held, output) if held else None
    return usage_of(given, output, read, write)


def _context(metadata: Any) -> int | None:
    """Return the tokens of the last request, where the usage sums several requests."""
    marks = metadata.get(MARKS) if isinstance(metadata, dict) else None
    held = marks.get("context_input_tokens") if isinstance(marks, dict) else None
    return token_counts(marks, "context_input_tokens")[0] if held is not None else None


URLS = {"image-url": "image", "audio-url": "audio", "video-url": "video", "document-url": "file"}
"""Kinds of content that refer to media, and the block type of other wires."""


FAILED = frozenset({"retried", "failed", "denied"})
"""Outcomes of a tool return that mean an error to the model."""


def read_part(part: Any, index: int, field: str) -> list[Part]:
    """
    Read a part of a message; a prompt with a list becomes several.

    Args:
        part: The serialized part.
        index: Position of its message, for errors.
        field: Its path in the message, for errors.

    Raises:
        InputError: A known part has a wrong type.
    """
    wire = expect(part, dict, index, field)
    if wire.get("part_kind") != "user-prompt":
        return [_part(wire, index, field)]
    content = expect(wire.get("content"), (str, list), index, f"{field}.content")
    if isinstance(content, str):
        return [Text(content, wire)]
    return [_item(item, index, f"{field}.content[{at}]") for at, item in enumerate(content)]


def _item(item: Any, index: int, field: str) -> Content:
    if isinstance(item, str):
        return Text(item, item)
    wire = expect(item, dict, index, field)
    kind = wire.get("kind")
    if kind == "text-content":
        return Text(expect(wire.get("content"), str, index, f"{field}.content"), wire)
    return _media(wire) or opaque(wire, "kind")


def _media(item: Mapping[str, Any]) -> Media | None:
    """Return media in a form that other wires can write; its ``raw`` is the original."""
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
            return _media(wire["content"]) or Opaque("file", "", wire)
        case "system-prompt":
            text = expect(wire.get("content"), str, index, f"{field}.content")
            return Opaque("system-prompt", text, wire)
        case kind:
            return Opaque(kind if isinstance(kind, str) else "unknown", _words(wire), wire)


def _words(wire: Mapping[str, Any]) -> str:
    """Return the text of a part of another kind, such as feedback or instructions."""
    content = wire.get("content")
    return content if isinstance(content, str) else opaque_text(dict(wire))


def _call(wire: dict[str, Any], index: int, field: str) -> ToolCall:
    details = wire.get("provider_details")
    signed = isinstance(details, dict) and "thought_signature" in details
    return replace(CALL.read(wire, index, field), signed=signed)


def _result(wire: dict[str, Any], index: int, field: str) -> ToolResult:
    number = expect(wire.get("tool_call_id"), str, index, f"{field}.tool_call_id")
    name = expect(wire.get("tool_name"), str, index, f"{field}.tool_name")
    failed = wire["part_kind"] == "retry-prompt" or str(wire.get("outcome")) in FAILED
    content = tuple(read_answer(wire.get("content"), index, f"{field}.content"))
    return ToolResult(number, content, name, failed, wire)


def read_answer(content: Any, index: int, field: str) -> Iterator[Content]:
    """
    Read the content of a tool return: text or any JSON value, possibly with media.

    Args:
        content: The serialized content.
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
