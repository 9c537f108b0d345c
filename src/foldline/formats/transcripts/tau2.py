"""
tau2-bench results: simulations of an agent and a user who both may call tools.

The simulated user's calls are tool calls in messages of the role "user"; their results carry the
requestor "user". Arguments are objects, and the id of a tool message is that of its call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.errors import InputError
from foldline.formats.dialect import expect
from foldline.formats.foreign import envelope, flat_text
from foldline.formats.json_document import read_recording, reading, write_recording
from foldline.formats.recording import Recording
from foldline.formats.source import TranscriptSource
from foldline.formats.tool_json import arguments_object, arguments_text
from foldline.values.messages import Message, Part, Role, Text, Thinking, ToolCall, ToolResult
from foldline.values.transcript import Transcript
from foldline.values.usage import read_usage

NAME = "tau2"
_ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}


class Tau2:
    """The results file of tau2-bench."""

    name = NAME
    title = "tau2-bench results (.json)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for ``simulations`` with messages."""
        document = source.document
        runs = document.get("simulations") if isinstance(document, dict) else None
        if not isinstance(runs, list) or not runs:
            return 0.0
        return float(all(isinstance(run, dict) and "messages" in run for run in runs))

    def decode(self, source: TranscriptSource) -> Recording:
        """Read one conversation for every simulation."""
        document = expect(source.document, dict, None, "")
        found = []
        for index, entry in enumerate(
            expect(document.get("simulations"), list, None, "simulations")
        ):
            field = f"simulations[{index}]"
            run = expect(entry, dict, None, field)
            name = f"task {run.get('task_id')} trial {run.get('trial', 0)}"
            items = expect(run.get("messages"), list, None, f"{field}.messages")
            with reading(name):
                messages = [_message(item, position) for position, item in enumerate(items)]
            path = ("simulations", index, "messages")
            found.append((name, path, Transcript.of(messages, NAME)))
        return read_recording(NAME, source, found)

    def encode(self, recording: Recording) -> bytes:
        """Write the simulations again."""
        return write_recording(recording, lambda _, __, there: _entries(there.messages))


# --- reading -------------------------------------------------------------------------------


def _message(item: Any, index: int) -> Message:
    wire = expect(item, dict, index, "")
    role = _ROLES.get(expect(wire.get("role"), str, index, "role"))
    if role is None:
        raise InputError(f"unknown role {wire['role']!r}", index=index, field="role")
    text = expect(wire.get("content"), (str, type(None)), index, "content") or ""
    said = (Text(text, raw=text),) if text else ()
    if role == "tool":
        number = expect(wire.get("id"), str, index, "id")
        parts: tuple[Part, ...] = (ToolResult(number, said, is_error=wire.get("error") is True),)
    else:
        parts = (*_thinking(wire), *said, *_calls(wire, index))
    return Message(role, parts, wire, NAME, usage=read_usage(wire.get("usage")))


def _thinking(wire: dict[str, Any]) -> tuple[Part, ...]:
    text = wire.get("reasoning")
    return (Thinking(text),) if isinstance(text, str) and text else ()


def _calls(wire: dict[str, Any], index: int) -> tuple[ToolCall, ...]:
    calls = expect(wire.get("tool_calls"), (list, type(None)), index, "tool_calls") or []
    out = []
    for position, item in enumerate(calls):
        field = f"tool_calls[{position}]"
        call = expect(item, dict, index, field)
        number = expect(call.get("id"), str, index, f"{field}.id")
        name = expect(call.get("name"), str, index, f"{field}.name")
        out.append(ToolCall(number, name, arguments_text(call.get("arguments")), raw=call))
    return tuple(out)


# --- writing -------------------------------------------------------------------------------


def _entries(messages: Sequence[Message]) -> list[Any]:
    return [entry for message in messages for entry in _written(message)]


def _written(message: Message) -> list[Any]:
    if message.intact and message.dialect == NAME:
        return [message.raw]
    out = [_result(result, message) for result in message.results]
    rest = [part for part in message.parts if not isinstance(part, ToolResult)]
    if out and not rest:
        return out
    entry = envelope(message, NAME)
    entry["content"] = flat_text(rest) or None
    calls = [_call(call, message) for call in message.calls]
    if calls or "tool_calls" in entry:
        entry["tool_calls"] = calls or None
    thoughts = [part.text for part in rest if isinstance(part, Thinking)]
    if thoughts or "reasoning" in entry:
        entry["reasoning"] = "\n".join(thoughts) or None
    return [*out, entry]


def _result(result: ToolResult, message: Message) -> dict[str, Any]:
    own = message.dialect == NAME and message.role == "tool"
    if own:
        return {**envelope(message, NAME), "content": flat_text(result.content)}
    return {
        "id": result.call_id,
        "role": "tool",
        "content": flat_text(result.content),
        "requestor": "assistant",
        "error": result.is_error,
    }


def _call(call: ToolCall, message: Message) -> dict[str, Any]:
    raw = call.raw if message.dialect == NAME and isinstance(call.raw, dict) else None
    if raw is not None and arguments_text(raw.get("arguments")) == call.arguments:
        return raw
    requestor = "user" if message.role == "user" else "assistant"
    fields = {"id": call.id, "name": call.name, "arguments": arguments_object(call.arguments)}
    return {**(raw or {}), **fields, "requestor": requestor}
