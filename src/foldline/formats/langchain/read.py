"""Reading LangChain messages: content in any provider's format, calls in up to three places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from foldline.errors import InputError
from foldline.formats.blocks import media_part, opaque
from foldline.formats.fields import (
    expect,
    read_answered_call,
    read_objects,
    text_or,
    token_counts,
    usage_of,
)
from foldline.formats.fields import read_content as read_content_blocks
from foldline.formats.langchain_shapes import CLASSES, ROLES, TYPES, fields_of, shape_of
from foldline.formats.tool_json import CallShape, arguments_text
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

NAME = "langchain"


def read_message(item: Any, index: int) -> Message:
    """
    Read one message.

    Raises:
        InputError: Naming the message index and the field.
    """
    if shape_of(item) is None:
        expect(expect(item, dict, index, "").get("type"), str, index, "type")
    fields = fields_of(item)
    kind = TYPES.get(expect(fields.get("type"), str, index, "type"))
    if kind is None:
        raise InputError(
            f"unknown type {fields['type'][:40]!r}",
            index=index,
            field="type",
            hint=f"Known types: {', '.join(CLASSES)}.",
        )
    name = fields.get("name")
    return Message(
        _role(kind, fields),
        _parts(kind, fields, item, index),
        item,
        NAME,
        name=name if isinstance(name, str) and kind not in ("tool", "function") else None,
        usage=_usage(fields.get("usage_metadata")),
    )


def _role(kind: str, fields: Mapping[str, Any]) -> Role:
    role = fields.get("role") if kind == "chat" else None
    known: dict[str, Role] = {"assistant": "assistant", "system": "system", "developer": "system"}
    return known.get(role, "user") if isinstance(role, str) else ROLES[kind]


def _parts(kind: str, fields: Mapping[str, Any], item: Any, index: int) -> tuple[Part, ...]:
    if kind == "remove":
        return ()
    if kind in ("tool", "function"):
        return (_result(fields, item, index),)
    calls = read_calls(fields, index)
    content = read_content(fields.get("content"), calls, index)
    there = {id(part.raw) for part in content if isinstance(part, ToolCall)}
    rest = tuple(call for call in calls if id(call.raw) not in there)
    return (*_thinking(fields), *content, *rest)


def _result(fields: Mapping[str, Any], item: Any, index: int) -> ToolResult:
    number, name = read_answered_call(fields, index)
    content = read_answer(fields.get("content"), index)
    return ToolResult(number, content, name, fields.get("status") == "error", item)


def _thinking(fields: Mapping[str, Any]) -> tuple[Part, ...]:
    extra = fields.get("additional_kwargs")
    text = extra.get("reasoning_content") if isinstance(extra, dict) else None
    if not isinstance(text, str) or not text:
        return ()
    return (Thinking(text, raw={"reasoning_content": text}),)


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    cached = token_counts(value.get("input_token_details"), "cache_read", "cache_creation")
    return usage_of(*token_counts(value, "input_tokens", "output_tokens"), *cached) or Usage()


BLOCKS: Mapping[str, str] = {
    "tool_use": "input",
    "tool_call": "args",
    "function_call": "arguments",
}
"""Content blocks that repeat a call, and the key of their arguments."""


LISTS = ("tool_calls", "invalid_tool_calls")
"""Fields with parsed calls; their content is what LangChain sends."""

PARSED = CallShape("args", as_text=None, new={"type": "tool_call"})


def place_shape(place: str, entry: Mapping[str, Any]) -> CallShape:
    """Return the shape of a call's entry in one of the places listed in `read_calls`."""
    if place == "block":
        number = "call_id" if entry.get("call_id") else "id"
        return CallShape(BLOCKS[entry["type"]], number=number, as_text=None)
    if place == "sent":
        return CallShape(inner="function" if "function" in entry else "", as_text=True)
    return PARSED


def read_calls(fields: Mapping[str, Any], index: int) -> list[ToolCall]:
    """
    Read the calls of a message, each once.

    The ``raw`` of a call is a dict of all its entries: "tool_calls" or "invalid_tool_calls" (the
    parsed entry), "sent" (the entry in additional_kwargs), and, added by ``in_block``, "block"
    (the content block).

    Raises:
        InputError: An entry has a wrong type.
    """
    calls = [
        call
        for key in LISTS
        for call in read_objects(fields.get(key), index, key, partial(_parse_call, key))
    ]
    sent = _read_sent(fields)
    if not calls:
        path = "additional_kwargs.tool_calls"
        shapes = [(item, place_shape("sent", item)) for item in sent]
        return [replace(s.read(item, index, path), raw={"sent": item}) for item, s in shapes]
    for item in sent:
        number = item.get("id")
        same = next((c for c in calls if c.id == number and "sent" not in c.raw), None)
        if same is not None:
            same.raw["sent"] = item
    return calls


def in_block(block: dict[str, Any], calls: Sequence[ToolCall], index: int, field: str) -> ToolCall:
    """
    Return the call that a content block repeats, or a new one if there is no other entry.

    Raises:
        InputError: The block has no name.
    """
    # OpenAI's function_call items have separate ids for the item and the call.
    number = text_or(block.get("call_id") or block.get("id"), None)
    for call in calls:
        if call.id == number and "block" not in call.raw:
            call.raw["block"] = block
            return call
    name = expect(block.get("name"), str, index, f"{field}.name")
    arguments = arguments_text(block.get(BLOCKS[block["type"]]), index, f"{field}.input")
    return ToolCall(number, name, arguments, raw={"block": block})


def _parse_call(key: str, wire: dict[str, Any], index: int, field: str) -> ToolCall:
    # The parser may omit the name of an invalid call.
    named = {**wire, "name": wire.get("name") or ""}
    return replace(PARSED.read(named, index, field), raw={key: wire})


def _read_sent(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    extra = fields.get("additional_kwargs")
    if not isinstance(extra, dict):
        return []
    listed = extra.get("tool_calls")
    if not isinstance(listed, list):
        listed = [extra.get("function_call")]
    return [item for item in listed if isinstance(item, dict)]


_SIGNATURES = ("signature", "encrypted_content", "data")


def read_content(
    content: Any, calls: Sequence[ToolCall], index: int
) -> tuple[Content | Thinking | ToolCall, ...]:
    """
    Read the content of a message.

    Args:
        content: A string, a list of strings and blocks, or None.
        calls: The calls beside the content; a block that repeats one is read as that call.
        index: Position of the message, for errors.

    Raises:
        InputError: A known block has a wrong type.
    """
    read = partial(_block, calls)
    content = None if content == "" else content
    return read_content_blocks(content, index, "content", read, strings=True)


def read_answer(content: Any, index: int) -> tuple[Content, ...]:
    """Read the content of a tool message, in which calls and reasoning have no meaning."""
    return tuple(
        part if isinstance(part, (Text, Media, Opaque)) else Opaque("block", raw=part.raw)
        for part in read_content(content, (), index)
    )


def _block(
    calls: Sequence[ToolCall], wire: dict[str, Any], index: int, field: str
) -> Content | Thinking | ToolCall:
    kind = wire.get("type")
    if kind in ("text", "input_text", "output_text"):
        return Text(expect(wire.get("text"), str, index, f"{field}.text"), wire)
    if kind in ("thinking", "reasoning", "redacted_thinking"):
        signed = any(isinstance(wire.get(key), str) for key in _SIGNATURES)
        return Thinking(_reasoning(wire), signed, wire)
    if isinstance(kind, str) and kind in BLOCKS:
        return in_block(wire, calls, index, field)
    return media_part(wire) or opaque(wire)


def _reasoning(wire: dict[str, Any]) -> str:
    for key in ("thinking", "reasoning"):
        if isinstance(wire.get(key), str):
            text: str = wire[key]
            return text
    summary = wire.get("summary")
    items = summary if isinstance(summary, list) else []
    texts = [item.get("text") for item in items if isinstance(item, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
