"""
tau2-bench results: simulations of an agent and a user who both may call tools.

The simulated user's calls are tool calls in messages of the role "user"; their results carry the
requestor "user". Arguments are objects, and the id of a tool message is that of its call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from foldline.formats.fields import expect, read_objects, read_role, text_or
from foldline.formats.foreign import envelope, flat_text, write_entries
from foldline.formats.json_document import JsonFormat, Path, at
from foldline.formats.source import TranscriptSource
from foldline.formats.tool_json import CallShape
from foldline.values.messages import Message, Part, Text, Thinking, ToolCall, ToolResult
from foldline.values.transcript import Transcript
from foldline.values.usage import read_usage

NAME = "tau2"
CALL = CallShape(needs_id=True)


class Tau2(JsonFormat):
    """The results file of tau2-bench."""

    name = NAME
    title = "tau2-bench results (.json)"
    several = True

    def recognises(self, source: TranscriptSource) -> float:
        """Look for ``simulations`` with messages."""
        runs = at(source.document, ("simulations",))
        if not isinstance(runs, list) or not runs:
            return 0.0
        return float(all(isinstance(run, dict) and "messages" in run for run in runs))

    def find(self, document: Any) -> Iterator[tuple[str, Path, Any]]:
        """Yield one conversation for every simulation."""
        runs = expect(
            expect(document, dict, None, "").get("simulations"), list, None, "simulations"
        )
        for index, entry in enumerate(runs):
            field = f"simulations[{index}]"
            run = expect(entry, dict, None, field)
            name = f"task {run.get('task_id')} trial {run.get('trial', 0)}"
            items = expect(run.get("messages"), list, None, f"{field}.messages")
            yield name, ("simulations", index, "messages"), items

    def read(self, wire: Any) -> Transcript:
        """Read the messages of a simulation."""
        return Transcript.of([_message(item, index) for index, item in enumerate(wire)], NAME)

    def write(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages as those of a simulation."""
        return list(write_entries(messages, NAME, _result, _entry))


# --- reading -------------------------------------------------------------------------------


def _message(item: Any, index: int) -> Message:
    wire = expect(item, dict, index, "")
    role = read_role(wire, index)
    text = expect(wire.get("content"), (str, type(None)), index, "content") or ""
    speech = (Text(text, raw=text),) if text else ()
    if role == "tool":
        number = expect(wire.get("id"), str, index, "id")
        parts: tuple[Part, ...] = (ToolResult(number, speech, is_error=wire.get("error") is True),)
    else:
        thought = text_or(wire.get("reasoning"), "")
        calls = read_objects(wire.get("tool_calls"), index, "tool_calls", CALL.read)
        parts = (*([Thinking(thought)] if thought else []), *speech, *calls)
    return Message(role, parts, wire, NAME, usage=read_usage(wire.get("usage")))


# --- writing -------------------------------------------------------------------------------


def _entry(message: Message, rest: Sequence[Part]) -> dict[str, Any]:
    entry = envelope(message, NAME)
    entry["content"] = flat_text(rest) or None
    calls = [_call_wire(call, message) for call in message.calls]
    if calls or "tool_calls" in entry:
        entry["tool_calls"] = calls or None
    thoughts = [part.text for part in rest if isinstance(part, Thinking)]
    if thoughts or "reasoning" in entry:
        entry["reasoning"] = "\n".join(thoughts) or None
    return entry


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


def _call_wire(call: ToolCall, message: Message) -> dict[str, Any]:
    raw = call.raw if message.dialect == NAME and isinstance(call.raw, dict) else None
    written = CALL.write(call, raw)
    if written is raw:
        return written
    return {**written, "requestor": "user" if message.role == "user" else "assistant"}
