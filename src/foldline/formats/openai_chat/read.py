"""Reading chat completions: messages, and the usage that providers report."""

from __future__ import annotations

from typing import Any

from foldline.formats.blocks import KINDS, media_part, opaque, unknown_role
from foldline.formats.fields import ROLES as COMMON_ROLES
from foldline.formats.fields import (
    expect,
    read_answered_call,
    read_content,
    read_objects,
    role_name,
    text_or,
)
from foldline.formats.tool_json import CallShape, arguments_json
from foldline.values.messages import (
    Content,
    Media,
    Message,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

NAME = "openai-chat"


ROLES: dict[str, Role] = {**COMMON_ROLES, "developer": "system", "function": "tool"}

FUNCTION = CallShape(
    inner="function", as_text=True, encode=arguments_json, new={"id": "", "type": "function"}
)
LEGACY = CallShape(inner="function_call", number="", as_text=True)
CUSTOM = CallShape("input", inner="custom", as_text=True)


def call_shape(call: dict[str, Any]) -> CallShape:
    """Return the shape of an entry of ``tool_calls``."""
    return CUSTOM if call.get("type") == "custom" else FUNCTION


def read_message(item: Any, index: int) -> Message:
    """
    Read one message.

    Raises:
        InputError: Naming the message index and the field.
    """
    wire = expect(item, dict, index, "")
    role = ROLES.get(role_name(wire, index))
    if role is None:
        return unknown_role(wire, wire["role"], NAME, index)
    if role == "tool":
        return Message(role, (_result(wire, index),), wire, NAME)
    parts = (*_thinking(wire), *_content(wire.get("content"), index), *_calls(wire, index))
    name = wire.get("name")
    return Message(role, parts, wire, NAME, name=name if isinstance(name, str) else None)


def _thinking(wire: dict[str, Any]) -> tuple[Part, ...]:
    for key in ("reasoning_content", "reasoning"):
        text = text_or(wire.get(key), "")
        if text:
            return (Thinking(text, raw={key: text}),)
    return ()


def _content(content: Any, index: int) -> tuple[Content, ...]:
    return read_content(content, index, "content", _block, strings=True)


def _block(wire: dict[str, Any], index: int, field: str) -> Content:
    kind = wire.get("type")
    if kind in ("text", "input_text", "output_text", "refusal"):
        key = "refusal" if "text" not in wire and kind == "refusal" else "text"
        return Text(expect(wire.get(key), str, index, f"{field}.{key}"), raw=wire)
    if kind == "image_url":
        image = wire.get("image_url")
        address = image.get("url") if isinstance(image, dict) else image
        expect(address, str, index, f"{field}.image_url.url")
    media: Media | None = media_part(wire) if isinstance(kind, str) and kind in KINDS else None
    return media or opaque(wire)


def _calls(wire: dict[str, Any], index: int) -> tuple[ToolCall, ...]:
    calls = wire.get("tool_calls")
    if calls is None:
        return (LEGACY.read(wire, index, ""),) if wire.get("function_call") else ()
    return tuple(read_objects(calls, index, "tool_calls", _call))


def _call(call: dict[str, Any], index: int, field: str) -> ToolCall:
    if call.get("type") == "custom":
        custom = expect(call.get("custom"), dict, index, f"{field}.custom")
        expect(custom.get("input"), str, index, f"{field}.custom.input")
    return call_shape(call).read(call, index, field)


def _result(wire: dict[str, Any], index: int) -> ToolResult:
    number, name = read_answered_call(wire, index)
    return ToolResult(number or None, _content(wire.get("content"), index), name, raw=wire)
