"""The parts of an OpenHands V1 event as the model reads them, and events with changed parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from foldline.errors import InputError
from foldline.formats.blocks import media_from_url, read_thinking_blocks
from foldline.formats.conversion import flat_text
from foldline.formats.fields import ROLES, expect, read_content
from foldline.formats.tool_json import CallShape, arguments_text
from foldline.frozen import frozen
from foldline.values.messages import (
    Content,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

NAME = "openhands"


@frozen
class EventKind:
    """
    A kind of event: its role, and the functions that read and write its parts.

    ``write`` takes an event, its original parts, and its current parts.
    """

    role: Role
    read: Callable[[dict[str, Any], int], tuple[Part, ...]]
    write: Callable[[dict[str, Any], Sequence[Part], Sequence[Part]], dict[str, Any]]


def role_of(event: dict[str, Any], row: int) -> Role:
    """
    Return the role of an event.

    Raises:
        InputError: A message event without a known role.
    """
    kind = event["kind"]
    if kind != "MessageEvent":
        return KINDS[kind].role
    message = expect(event.get("llm_message"), dict, row, "llm_message")
    role = ROLES.get(str(message.get("role")))
    if role is None:
        raise InputError(
            f"unknown role {message.get('role')!r}", index=row, field="llm_message.role"
        )
    return role


def read_event(event: dict[str, Any], row: int) -> tuple[Part, ...]:
    """
    Read the parts of an event.

    Args:
        event: An event whose kind is in ``KINDS``.
        row: Position of its line, for errors.
    """
    return KINDS[event["kind"]].read(event, row)


def _blocks(value: Any, row: int, name: str) -> tuple[Content, ...]:
    return read_content([] if value is None else value, row, name, _block, (list,))


def _block(block: dict[str, Any], _: int, __: str) -> Content:
    if isinstance(block.get("text"), str):
        return Text(block["text"], raw=block)
    urls = block.get("image_urls")
    if isinstance(urls, list) and urls and isinstance(urls[0], str):
        return media_from_url(urls[0], block)
    return Opaque(str(block.get("type")), raw=block)


def _system(event: dict[str, Any], row: int) -> tuple[Part, ...]:
    parts: list[Part] = []
    for key in ("system_prompt", "dynamic_context"):
        value = event.get(key)
        parts += _blocks([value] if isinstance(value, dict) else value, row, key)
    return tuple(parts)


def _message(event: dict[str, Any], row: int) -> tuple[Part, ...]:
    message = expect(event.get("llm_message"), dict, row, "llm_message")
    speech = _blocks(message.get("content"), row, "llm_message.content")
    more = _blocks(event.get("extended_content"), row, "extended_content")
    if message.get("role") == "tool":
        return (ToolResult(message.get("tool_call_id"), (*speech, *more)),)
    calls = message.get("tool_calls")
    return (
        *_reasoning(message, speech),
        *speech,
        *more,
        *(_call(call, row, "llm_message.tool_calls") for call in calls or ()),
    )


def _reasoning(event: dict[str, Any], speech: Sequence[Content]) -> tuple[Thinking, ...]:
    """Read the reasoning, unless the visible text repeats it."""
    blocks = event.get("thinking_blocks")
    if isinstance(blocks, list) and blocks:
        return read_thinking_blocks(blocks)
    item = event.get("responses_reasoning_item")
    if isinstance(item, dict):
        summary = "\n".join(str(line) for line in item.get("summary") or ())
        return (Thinking(summary, bool(item.get("encrypted_content")), raw=item),)
    text = event.get("reasoning_content")
    if not isinstance(text, str) or not text.strip():
        return ()
    repeated = any(isinstance(part, Text) and text.strip() in part.text for part in speech)
    return () if repeated else (Thinking(text),)


def _action(event: dict[str, Any], row: int) -> tuple[Part, ...]:
    speech = _blocks(event.get("thought"), row, "thought")
    call = event.get("tool_call")
    if call is None:
        given = event.get("action")
        given = given if isinstance(given, dict) else {}
        call = {
            "id": event.get("tool_call_id"),
            "name": event.get("tool_name"),
            "arguments": {key: value for key, value in given.items() if key != "kind"},
        }
    return (*_reasoning(event, speech), *speech, _call(call, row, "tool_call"))


def _call(value: Any, row: int, name: str) -> ToolCall:
    call = expect(value, dict, row, name)
    return _shape(call).read(call, row, name)


def _shape(call: dict[str, Any]) -> CallShape:
    inner = "function" if isinstance(call.get("function"), dict) else ""
    return CallShape(inner=inner, needs_id=True, as_text=True)


def _result(event: dict[str, Any], row: int, content: Sequence[Content], failed: bool) -> Part:
    number = expect(event.get("tool_call_id"), (str, type(None)), row, "tool_call_id")
    return ToolResult(number, tuple(content), str(event.get("tool_name") or ""), failed)


def _observation(event: dict[str, Any], row: int) -> tuple[Part, ...]:
    seen = expect(event.get("observation"), dict, row, "observation")
    output = seen.get("content", seen.get("output"))
    if output is None:
        output = arguments_text({key: value for key, value in seen.items() if key != "kind"})
    content = (
        *_blocks(output, row, "observation.content"),
        *_blocks(event.get("extended_content"), row, "extended_content"),
    )
    return (_result(event, row, content, seen.get("is_error") is True),)


def write_events(message: Message) -> list[Any]:
    """Write the events of a changed message; each part goes to the event it was read from."""
    before = [read_event(event, 0) for event in message.raw]
    if sum(map(len, before)) != len(message.parts):
        return new_events(message)
    out, done = [], 0
    for event, old in zip(message.raw, before, strict=True):
        new = message.parts[done : done + len(old)]
        done += len(old)
        same = all(a is b or a == b for a, b in zip(old, new, strict=True))
        out.append(event if same else KINDS[event["kind"]].write(event, old, new))
    return out


def new_events(message: Message) -> list[Any]:
    """Write a message that has no event in the file: a message event, errors for results."""
    out: list[Any] = [
        {
            "id": f"{message.id}-{position}",
            "source": "agent",
            "tool_name": result.name,
            "tool_call_id": result.call_id,
            "error": result.text,
            "kind": "AgentErrorEvent",
        }
        for position, result in enumerate(message.results)
    ]
    rest = [part for part in message.parts if not isinstance(part, ToolResult)]
    if rest or not out:
        content = [{"type": "text", "text": flat_text(rest)}]
        llm_message: dict[str, Any] = {"role": message.role, "content": content}
        calls = [
            {"id": call.id, "name": call.name, "arguments": call.arguments, "origin": "completion"}
            for call in message.calls
        ]
        llm_message |= {"tool_calls": calls} if calls else {}
        source = "agent" if message.role == "assistant" else "user"
        event = {"id": message.id, "source": source, "llm_message": llm_message}
        out.append({**event, "kind": "MessageEvent"})
    return out


def _content_wire(parts: Sequence[Part]) -> list[Any]:
    return [
        part.raw if isinstance(part.raw, dict) else {"type": "text", "text": flat_text([part])}
        for part in parts
        if isinstance(part, Content)
    ]


def _answer(new: Sequence[Part]) -> Sequence[Content]:
    return next((part.content for part in new if isinstance(part, ToolResult)), ())


def _write_system(event: dict[str, Any], _: Sequence[Part], new: Sequence[Part]) -> dict[str, Any]:
    changed = {**event, "system_prompt": {"type": "text", "text": flat_text(new)}}
    return changed | ({"dynamic_context": None} if event.get("dynamic_context") else {})


def _write_message(
    event: dict[str, Any], old: Sequence[Part], new: Sequence[Part]
) -> dict[str, Any]:
    message = event["llm_message"]
    content = _answer(new) if message.get("role") == "tool" else new
    changed = {**message, "content": _content_wire(content), **_kept_reasoning(message, new)}
    calls = [
        part.raw if part == before else _shape(part.raw).write(part, part.raw)
        for before, part in zip(old, new, strict=True)
        if isinstance(part, ToolCall) and isinstance(part.raw, dict)
    ]
    changed |= {"tool_calls": calls} if calls else {}
    return {**event, "llm_message": changed, **_emptied(event, "extended_content")}


def _write_action(
    event: dict[str, Any], old: Sequence[Part], new: Sequence[Part]
) -> dict[str, Any]:
    changed = {**event, "thought": _content_wire(new), **_kept_reasoning(event, new)}
    for before, part in zip(old, new, strict=True):
        if isinstance(part, ToolCall) and part != before:
            # The parsed action repeats the arguments; without it only the call defines them.
            changed |= {"tool_call": _shape(part.raw).write(part, part.raw), "action": None}
    return changed


def _kept_reasoning(event: dict[str, Any], new: Sequence[Part]) -> dict[str, Any]:
    kept = [part for part in new if isinstance(part, Thinking)]
    if kept:
        blocks = event.get("thinking_blocks")
        return {"thinking_blocks": [part.raw for part in kept]} if blocks else {}
    reasoning_fields = ("reasoning_content", "responses_reasoning_item")
    blank: dict[str, Any] = {key: None for key in reasoning_fields if event.get(key)}
    return blank | _emptied(event, "thinking_blocks")


def _emptied(event: dict[str, Any], key: str) -> dict[str, Any]:
    """Return an emptied copy of a list that repeats other fields."""
    return {key: []} if event.get(key) else {}


def _write_observation(
    event: dict[str, Any], _: Sequence[Part], new: Sequence[Part]
) -> dict[str, Any]:
    content = _content_wire(_answer(new))
    seen = {**event["observation"], "content": content}
    return {**event, "observation": seen, **_emptied(event, "extended_content")}


def _failure(key: str) -> EventKind:
    """Return the kind of an event that is a failed result, with its text under a key."""

    def read(event: dict[str, Any], row: int) -> tuple[Part, ...]:
        return (_result(event, row, _blocks(event.get(key), row, key), failed=True),)

    def write(event: dict[str, Any], _: Sequence[Part], new: Sequence[Part]) -> dict[str, Any]:
        return {**event, key: flat_text(_answer(new))}

    return EventKind("tool", read, write)


KINDS: dict[str, EventKind] = {
    "SystemPromptEvent": EventKind("system", _system, _write_system),
    "MessageEvent": EventKind("user", _message, _write_message),
    "ActionEvent": EventKind("assistant", _action, _write_action),
    "ObservationEvent": EventKind("tool", _observation, _write_observation),
    "AgentErrorEvent": _failure("error"),
    "UserRejectObservation": _failure("rejection_reason"),
}
"""The kinds of events that are sent to the model."""
