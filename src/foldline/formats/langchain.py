"""LangChain messages: thread state, serialized constructors, or the living objects themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foldline.errors import InputError
from foldline.formats.dialect import Violation, expect
from foldline.formats.foreign import adapted, is_own
from foldline.formats.langchain_calls import call_fields, new_call, read_calls, sent_fields
from foldline.formats.langchain_content import read_answer, read_content, write_content
from foldline.formats.langchain_objects import (
    CLASSES,
    ROLES,
    TYPES,
    Shape,
    created,
    fields_of,
    shape_of,
    updated,
)
from foldline.formats.langchain_rules import violations
from foldline.formats.nesting import bounded_nesting
from foldline.values.messages import (
    Message,
    Omitted,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from foldline.values.transcript import Transcript


@dataclass(frozen=True, slots=True)
class State:
    """
    What surrounded the messages.

    ``wire`` is the thread state (None for a bare list), ``shape`` the shape of the messages.
    """

    wire: dict[str, Any] | None = field(repr=False)
    shape: Shape


class LangChain:
    """The messages of LangChain and LangGraph."""

    name = "langchain"
    title = "LangChain messages"
    provider = "langchain"

    def recognises(self, wire: Any) -> float:
        """Return how sure it is that this value is in the dialect, from 0 to 1."""
        try:
            items = _items(wire)
        except InputError:
            return 0.0
        if not items or not all(_is_message(item) for item in items):
            return 0.0
        spoken = {"human", "ai", "tool"}
        known = any(TYPES.get(str(fields_of(item).get("type"))) in spoken for item in items)
        return 1.0 if known or shape_of(items[0]) != "dict" else 0.4

    def decode(self, wire: Any) -> Transcript:
        """Read a list of messages, ``{"messages": [...]}`` or a thread state with ``values``."""
        items = _items(wire)
        shape = shape_of(items[0]) if items else None
        state = State(wire if isinstance(wire, dict) else None, shape or "dict")
        with bounded_nesting():
            messages = [_message(item, index) for index, item in enumerate(items)]
            return Transcript.of(messages, self.name, envelope=state)

    def encode(self, transcript: Transcript) -> Any:
        """Write a conversation in the shape in which it came; a foreign one becomes a list."""
        state = transcript.envelope
        if isinstance(state, State):
            return _put(state.wire, _written(transcript.messages, state.shape))
        items = self.messages(transcript.messages)
        if transcript.system:
            items.insert(0, created("system", {"content": transcript.system}, "dict"))
        return items

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages; new ones have the shape of the first that was LangChain's before."""
        own = (message.raw for message in messages if is_own(message, self.name))
        return _written(messages, shape_of(next(own, {})) or "dict")

    def validate(self, wire: Any) -> list[Violation]:
        """Check what providers demand of a conversation."""
        try:
            items = _items(wire)
        except InputError as error:
            return [Violation(0, error.field, "type", error.message)]
        return violations([fields_of(item) if shape_of(item) else None for item in items])


# --- reading -------------------------------------------------------------------------------


def _items(wire: Any) -> list[Any]:
    items = wire
    if isinstance(wire, dict):
        inner = wire.get("values")
        items = inner.get("messages") if isinstance(inner, dict) else wire.get("messages")
    found: list[Any] = expect(items, list, None, "messages" if items is not wire else "")
    return found


def _put(wire: dict[str, Any] | None, items: list[Any]) -> Any:
    if wire is None:
        return items
    if isinstance(wire.get("values"), dict):
        return {**wire, "values": {**wire["values"], "messages": items}}
    return {**wire, "messages": items}


def _is_message(item: Any) -> bool:
    if shape_of(item) is None:
        return False
    fields = fields_of(item)
    kind = fields.get("type")
    return isinstance(kind, str) and kind in TYPES and "content" in fields


def _message(item: Any, index: int) -> Message:
    if shape_of(item) is None:
        wire = expect(item, dict, index, "")
        expect(wire.get("type"), str, index, "type")
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
        LangChain.name,
        name=name if isinstance(name, str) and kind not in ("tool", "function") else None,
        usage=_usage(fields.get("usage_metadata")),
    )


def _role(kind: str, fields: Mapping[str, Any]) -> Role:
    said = fields.get("role") if kind == "chat" else None
    known: dict[str, Role] = {"assistant": "assistant", "system": "system", "developer": "system"}
    return known.get(said, "user") if isinstance(said, str) else ROLES[kind]


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
    number = expect(fields.get("tool_call_id"), (str, type(None)), index, "tool_call_id")
    name = fields.get("name")
    if number is None and not isinstance(name, str):
        raise InputError(
            "a tool message without tool_call_id",
            index=index,
            field="tool_call_id",
            hint="Every tool result must name the call that it answers.",
        )
    content = read_answer(fields.get("content"), index)
    label = name if isinstance(name, str) else ""
    return ToolResult(number, content, label, fields.get("status") == "error", item)


def _thinking(fields: Mapping[str, Any]) -> tuple[Part, ...]:
    extra = fields.get("additional_kwargs")
    text = extra.get("reasoning_content") if isinstance(extra, dict) else None
    if not isinstance(text, str) or not text:
        return ()
    return (Thinking(text, raw={"reasoning_content": text}),)


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    details = value.get("input_token_details")
    details = details if isinstance(details, dict) else {}
    read, write = _tokens(details.get("cache_read")), _tokens(details.get("cache_creation"))
    # LangChain counts cached tokens as input too.
    fresh = max(0, _tokens(value.get("input_tokens")) - read - write)
    return Usage(fresh, _tokens(value.get("output_tokens")), read, write)


def _tokens(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


# --- writing -------------------------------------------------------------------------------


def _written(messages: Sequence[Message], shape: Shape) -> list[Any]:
    ready = adapted(messages, LangChain.name)
    return [wire for message in ready for wire in _wire(message, shape)]


def _wire(message: Message, shape: Shape) -> list[Any]:
    if not is_own(message, LangChain.name):
        return _foreign(message, shape)
    if message.intact:
        return [message.raw]
    kept = tuple(part for part in message.parts if not isinstance(part, Omitted))
    return [_changed(message, kept)] if kept else []


def _changed(message: Message, parts: tuple[Part, ...]) -> Any:
    fields = fields_of(message.raw)
    blocks = isinstance(fields.get("content"), list)
    result = next((part for part in parts if isinstance(part, ToolResult)), None)
    if result is not None:
        content = write_content(result.content, True, blocks=blocks)
        number = {"tool_call_id": result.call_id} if result.call_id else {}
        return updated(message.raw, {"content": content, **number})
    calls = [part for part in parts if isinstance(part, ToolCall)]
    changes = {"content": write_content(parts, True, blocks=blocks), **call_fields(fields, calls)}
    extra = fields.get("additional_kwargs")
    if isinstance(extra, dict):
        kept = sent_fields(extra, calls)
        if not any(_is_beside(part) for part in parts):
            kept.pop("reasoning_content", None)
        changes["additional_kwargs"] = kept
    return updated(message.raw, changes)


def _is_beside(part: Part) -> bool:
    """Tell whether a part is reasoning that stands in additional_kwargs."""
    return isinstance(part, Thinking) and isinstance(part.raw, dict) and "type" not in part.raw


def _foreign(message: Message, shape: Shape) -> list[Any]:
    out = [_answer(result, shape) for result in message.results]
    rest = tuple(p for p in message.parts if not isinstance(p, (ToolResult, Omitted)))
    if any(not isinstance(part, Text) or part.text for part in rest):
        out.append(_spoken(message, rest, shape))
    return out


def _answer(result: ToolResult, shape: Shape) -> Any:
    fields: dict[str, Any] = {"content": write_content(result.content, False)}
    if result.name:
        fields["name"] = result.name
    fields["tool_call_id"] = result.call_id or ""
    fields["status"] = "error" if result.is_error else "success"
    return created("tool", fields, shape)


def _spoken(message: Message, parts: tuple[Part, ...], shape: Shape) -> Any:
    kinds = {"assistant": "ai", "system": "system"}
    fields: dict[str, Any] = {"content": write_content(parts, False)}
    if message.name:
        fields["name"] = message.name
    thoughts = [p.text for p in parts if isinstance(p, Thinking) and p.text and not p.signed]
    if thoughts:
        fields["additional_kwargs"] = {"reasoning_content": "\n".join(thoughts)}
    calls = [new_call(part) for part in parts if isinstance(part, ToolCall)]
    if calls:
        fields["tool_calls"] = calls
    return created(kinds.get(message.role, "human"), fields, shape)
