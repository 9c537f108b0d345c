"""OpenHands V1 events with other parts than those that came, and new ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from foldline.formats.foreign import flat_text
from foldline.formats.transcripts.openhands.read import read_event
from foldline.values.messages import Content, Message, Part, Thinking, ToolCall, ToolResult


def written_events(message: Message) -> list[Any]:
    """Write the events of a changed message; the parts stand where they were read."""
    before = [read_event(event, 0) for event in message.raw]
    if sum(map(len, before)) != len(message.parts):
        return new_events(message)
    out, done = [], 0
    for event, old in zip(message.raw, before, strict=True):
        new = message.parts[done : done + len(old)]
        done += len(old)
        same = all(a is b or a == b for a, b in zip(old, new, strict=True))
        out.append(event if same else _WRITERS[event["kind"]](event, old, new))
    return out


def new_events(message: Message) -> list[Any]:
    """Write a message that came from nowhere in the file: a message event, errors for results."""
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
        source = "agent" if message.role == "assistant" else "user"
        out.append({"id": message.id, "source": source, **_spoken(message, rest)})
    return out


def _spoken(message: Message, parts: Sequence[Part]) -> dict[str, Any]:
    content = [{"type": "text", "text": flat_text(parts)}]
    llm: dict[str, Any] = {"role": message.role, "content": content}
    calls = [
        {"id": call.id, "name": call.name, "arguments": call.arguments, "origin": "completion"}
        for call in message.calls
    ]
    return {"llm_message": {**llm, "tool_calls": calls} if calls else llm, "kind": "MessageEvent"}


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
    spoken = _answer(new) if message.get("role") == "tool" else new
    changed = {**message, "content": _content_wire(spoken), **_kept_reasoning(message, new)}
    if any(isinstance(part, ToolCall) for part in new):
        changed["tool_calls"] = _calls(old, new)
    whole: dict[str, Any] = {**event, "llm_message": changed}
    return whole | ({"extended_content": []} if event.get("extended_content") else {})


def _write_action(
    event: dict[str, Any], old: Sequence[Part], new: Sequence[Part]
) -> dict[str, Any]:
    changed = {**event, "thought": _content_wire(new), **_kept_reasoning(event, new)}
    for before, part in zip(old, new, strict=True):
        if isinstance(part, ToolCall) and part != before:
            # The parsed action repeats the arguments; without it the call alone speaks.
            changed |= {"tool_call": _call_wire(part), "action": None}
    return changed


def _calls(old: Sequence[Part], new: Sequence[Part]) -> list[Any]:
    out = []
    for before, part in zip(old, new, strict=True):
        if isinstance(part, ToolCall) and isinstance(part.raw, dict):
            out.append(part.raw if part == before else _call_wire(part))
    return out


def _call_wire(call: ToolCall) -> dict[str, Any]:
    inner = call.raw.get("function")
    if isinstance(inner, dict):
        return {**call.raw, "function": {**inner, "arguments": call.arguments}}
    return {**call.raw, "arguments": call.arguments}


def _kept_reasoning(event: dict[str, Any], new: Sequence[Part]) -> dict[str, Any]:
    kept = [part for part in new if isinstance(part, Thinking)]
    if kept:
        blocks = event.get("thinking_blocks")
        return {"thinking_blocks": [part.raw for part in kept]} if blocks else {}
    gone = ("reasoning_content", "responses_reasoning_item")
    blank: dict[str, Any] = {key: None for key in gone if event.get(key)}
    return blank | ({"thinking_blocks": []} if event.get("thinking_blocks") else {})


def _write_observation(
    event: dict[str, Any], _: Sequence[Part], new: Sequence[Part]
) -> dict[str, Any]:
    content = _content_wire(_answer(new))
    changed = {**event, "observation": {**event["observation"], "content": content}}
    return changed | ({"extended_content": []} if event.get("extended_content") else {})


def _write_error(event: dict[str, Any], _: Sequence[Part], new: Sequence[Part]) -> dict[str, Any]:
    return {**event, "error": flat_text(_answer(new))}


def _write_rejection(
    event: dict[str, Any], _: Sequence[Part], new: Sequence[Part]
) -> dict[str, Any]:
    return {**event, "rejection_reason": flat_text(_answer(new))}


_Writer = Callable[[dict[str, Any], Sequence[Part], Sequence[Part]], dict[str, Any]]

_WRITERS: dict[str, _Writer] = {
    "SystemPromptEvent": _write_system,
    "MessageEvent": _write_message,
    "ActionEvent": _write_action,
    "ObservationEvent": _write_observation,
    "AgentErrorEvent": _write_error,
    "UserRejectObservation": _write_rejection,
}
