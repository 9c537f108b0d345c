"""LangChain messages: thread state, serialized constructors, or live objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from foldline.errors import InputError
from foldline.formats.blocks import media_source
from foldline.formats.conversion import is_own, placeholder
from foldline.formats.conversion import write_messages as write_in_order
from foldline.formats.dialect import Dialect
from foldline.formats.fields import expect
from foldline.formats.langchain.read import LISTS, NAME, PARSED, place_shape, read_message
from foldline.formats.langchain.rules import violations
from foldline.formats.langchain_shapes import (
    TYPES,
    Shape,
    fields_of,
    new_message,
    shape_of,
    update_message,
)
from foldline.frozen import field, frozen, replace
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


@frozen
class ThreadState:
    """
    The container of the messages.

    ``wire`` is the thread state (None for a bare list), ``shape`` the shape of the messages.
    """

    wire: dict[str, Any] | None = field(repr=False)
    shape: Shape


class LangChainDialect(Dialect):
    """The messages of LangChain and LangGraph."""

    name = NAME
    title = "LangChain messages"
    provider = "langchain"

    def recognises(self, wire: Any) -> float:
        """Return the confidence that a value is in this dialect, from 0 to 1."""
        try:
            items = _items(wire)
        except InputError:
            return 0.0
        if not items or not all(_is_message(item) for item in items):
            return 0.0
        chat_types = {"human", "ai", "tool"}
        known = any(TYPES.get(str(fields_of(item).get("type"))) in chat_types for item in items)
        return 1.0 if known or shape_of(items[0]) != "dict" else 0.4

    read = staticmethod(read_message)
    rules = staticmethod(violations)

    def unwrap(self, wire: Any) -> tuple[list[Any], Any]:
        """Return the messages of a list, ``{"messages": […]}`` or a state with ``values``."""
        items = _items(wire)
        shape = shape_of(items[0]) if items else None
        return items, ThreadState(wire if isinstance(wire, dict) else None, shape or "dict")

    def encode(self, transcript: Transcript) -> Any:
        """Write a conversation in its original shape; one of another dialect becomes a list."""
        state = transcript.envelope
        if isinstance(state, ThreadState):
            items, wire = write_messages(transcript.messages, state.shape), state.wire
            if wire is None:
                return items
            if isinstance(wire.get("values"), dict):
                return {**wire, "values": {**wire["values"], "messages": items}}
            return {**wire, "messages": items}
        return self.convert(transcript, own=transcript.dialect == self.name)

    def convert(self, transcript: Transcript, *, own: bool) -> Any:
        """Write a list; a system prompt becomes the first message."""
        del own
        items = self.messages(transcript.messages)
        if transcript.system:
            items.insert(0, new_message("system", {"content": transcript.system}, "dict"))
        return items

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages; new ones take the shape of the first original LangChain message."""
        own = (message.raw for message in messages if is_own(message, self.name))
        return write_messages(messages, shape_of(next(own, {})) or "dict")


def _items(wire: Any) -> list[Any]:
    items = wire
    if isinstance(wire, dict):
        inner = wire.get("values")
        items = inner.get("messages") if isinstance(inner, dict) else wire.get("messages")
    found: list[Any] = expect(items, list, None, "messages" if items is not wire else "")
    return found


def _is_message(item: Any) -> bool:
    if shape_of(item) is None:
        return False
    fields = fields_of(item)
    kind = fields.get("type")
    return isinstance(kind, str) and kind in TYPES and "content" in fields


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
    """Return True if a part is reasoning stored in additional_kwargs."""
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
    """Return the fields beside the content that repeat calls, reduced to these calls."""
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
    """Return additional_kwargs with only these calls; without calls, without the keys."""
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
    """Write the entry of a call in one place; places may encode the same arguments differently."""
    entry = call.raw[place]
    shape = place_shape(place, entry)
    if _is_unchanged(call):
        call = replace(call, arguments=shape.text(entry))
    return shape.write(call, entry)


def _is_unchanged(call: ToolCall) -> bool:
    """Return True if the arguments equal those read from the first of the places."""
    place = next(place for place in (*LISTS, "sent", "block") if place in call.raw)
    return place_shape(place, call.raw[place]).text(call.raw[place]) == call.arguments


def write_content(parts: Sequence[Part], own: bool, *, blocks: bool = False) -> Any:
    """
    Write parts as content.

    Args:
        parts: Parts of a message; calls are written only if a block repeated them.
        own: Whether the ``raw`` of the parts is LangChain's.
        blocks: Whether the original content was a list and must stay one.

    Returns:
        A string if there is only text, else a list of blocks.
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
            return placeholder(part)


def _media(part: Media) -> Any:
    source = media_source(part.raw)
    if source is None or not source.data_uri:
        return placeholder(part)
    if source.kind == "image":
        return {"type": "image_url", "image_url": {"url": source.data_uri}}
    if not source.data:
        return placeholder(part)
    kind = "file" if source.kind == "document" else source.kind
    return {"type": kind, "mime_type": source.media_type, "base64": source.data}
