"""Reading Anthropic messages and their content blocks."""

from __future__ import annotations

from typing import Any

from foldline.formats.blocks import media_part, opaque, unknown_role
from foldline.formats.fields import expect, read_content, role_name
from foldline.formats.tool_json import CallShape
from foldline.values.messages import (
    Content,
    Media,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolResult,
)
from foldline.values.usage import read_usage

NAME = "anthropic"

CALL = CallShape("input", needs_id=True, new={"type": "tool_use"})


ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


def read_message(item: Any, index: int) -> Message:
    """
    Read one message.

    Raises:
        InputError: Naming the message index and the field.
    """
    wire = expect(item, dict, index, "")
    named = role_name(wire, index)
    role = ROLES.get(named)
    if role is None:
        return unknown_role(wire, named, NAME, index)
    content = wire.get("content")
    parts: tuple[Part, ...] = read_content(content, index, "content", _part, (str, list))
    if role == "user" and parts and all(isinstance(part, ToolResult) for part in parts):
        role = "tool"
    return Message(role, parts, wire, NAME, usage=read_usage(wire.get("usage")))


def system_text(value: Any) -> str:
    """Return the text of a system prompt, a string or a list of blocks."""
    blocks = expect(value, (str, list, type(None)), None, "system")
    if not isinstance(blocks, list):
        return blocks or ""
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _part(wire: dict[str, Any], index: int, field: str) -> Part:
    match wire.get("type"):
        case "tool_use":
            return CALL.read(wire, index, field)
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
    content, at = wire.get("content"), f"{field}.content"
    pieces = read_content(content, index, at, lambda block, *_: _content(block, index, field))
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
    return opaque(wire)
