"""
SWE-agent trajectories (``.traj``): ``history`` is the model's view.

There are two protocols. With function calling, messages are chat completions whose tool messages
name their calls in the list ``tool_call_ids``. The older one has no ids: the assistant writes a
command into its text (``action`` repeats it) and the next user message is the command's output.
Such a pair is read as a call of the tool "command" with its result, so that it can be cleared and
moved as one; in another format it is written as an ordinary tool call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from foldline.formats.blocks import read_thinking_blocks
from foldline.formats.conversion import flat_text
from foldline.formats.fields import ROLES, expect, read_content, read_objects, read_role, text_or
from foldline.formats.json_document import JsonFormat, Path, at, is_list_of_objects
from foldline.formats.source import TranscriptSource
from foldline.formats.tool_json import CallShape
from foldline.values.messages import Message, Part, Text, Thinking, ToolCall, ToolResult
from foldline.values.transcript import Transcript

NAME = "swe-agent"
PATH = ("history",)
COMMAND = "command"
CALL = CallShape(inner="function", as_text=True, encode=str, new={"id": "", "type": "function"})
MESSAGE_TYPE = "user"
"""The ``message_type`` of messages that Foldline adds: not an observation."""

_FENCE = re.compile(r"\s{0,8}(?:```[\w+-]{0,20}|<command>)[ \t]{0,8}\n?\Z")
_CLOSE = re.compile(r"(?:```|</command>)\s*\Z")


class SweAgent(JsonFormat):
    """The trajectory file of SWE-agent."""

    name = NAME
    title = "SWE-agent trajectory (.traj)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for ``trajectory`` beside a ``history`` of messages."""
        history = at(source.document, PATH)
        stepped = isinstance(at(source.document, ("trajectory",)), list)
        known = is_list_of_objects(history) and all(str(m.get("role")) in ROLES for m in history)
        return float(stepped and known)

    def find(self, document: Any) -> Iterator[tuple[str, Path, Any]]:
        """Yield the history; the steps under ``trajectory`` repeat it."""
        whole = expect(document, dict, None, "")
        items = expect(whole.get("history"), list, None, "history")
        yield text_or(whole.get("environment"), "run"), PATH, items

    def read(self, wire: Any) -> Transcript:
        """Read the messages of a history."""
        wires = [expect(item, dict, index, "") for index, item in enumerate(wire)]
        calls = [_is_call(wires, index) for index in range(len(wires))]
        messages = [
            _message(entry, index, calls[index], index > 0 and calls[index - 1])
            for index, entry in enumerate(wires)
        ]
        return Transcript.of(messages, NAME)

    def write(self, messages: Sequence[Message]) -> list[Any]:
        """Write the history; the steps under ``trajectory`` are not changed."""
        return [_write(message) for message in messages]


# --- reading -------------------------------------------------------------------------------


def _is_call(wires: Sequence[dict[str, Any]], index: int) -> bool:
    """Return True if an assistant text holds a command whose output follows."""
    wire = wires[index]
    after = wires[index + 1] if index + 1 < len(wires) else {}
    match wire:
        case {"role": "assistant", "action": str(action), "content": str(content)}:
            called = bool(action.strip()) and action in content and not wire.get("tool_calls")
        case _:
            return False
    printed = after.get("role") == "user" and after.get("message_type") in (None, "observation")
    return called and printed and bool(after.get("is_demo")) == bool(wire.get("is_demo"))


def _message(wire: dict[str, Any], index: int, is_call: bool, is_output: bool) -> Message:
    role = read_role(wire, index)
    if is_output:
        result = ToolResult(f"step_{index - 1}", _content(wire, index), COMMAND)
        return Message("tool", (result,), wire, NAME)
    if role == "tool":
        return Message(role, _results(wire, index), wire, NAME)
    if is_call:
        speech, _, _ = _split(wire)
        call = ToolCall(f"step_{index}", COMMAND, wire["action"])
        return Message(role, (*([Text(speech)] if speech else []), call), wire, NAME)
    calls = read_objects(wire.get("tool_calls"), index, "tool_calls", CALL.read)
    parts: tuple[Part, ...] = (
        *read_thinking_blocks(wire.get("thinking_blocks")),
        *_content(wire, index),
        *calls,
    )
    return Message(role, parts, wire, NAME)


def _split(wire: dict[str, Any]) -> tuple[str, str, str]:
    """Split an assistant text around its command: the prose, the fence, and the rest."""
    content, action = wire["content"], wire["action"]
    close = _CLOSE.search(content, max(0, len(content) - 64))
    start = content.rfind(action, 0, close.start() if close else len(content))
    start = start if start >= 0 else content.rfind(action)
    before, after = content[:start], content[start + len(action) :]
    fence = _FENCE.search(before, max(0, len(before) - 64))
    cut = fence.start() if fence else len(before)
    return before[:cut], before[cut:], after


def _content(wire: dict[str, Any], index: int) -> tuple[Text, ...]:
    return read_content(wire.get("content"), index, "content", _block)


def _block(block: dict[str, Any], _: int, __: str) -> Text:
    text = block.get("text")
    return Text(text if isinstance(text, str) else f"[{block.get('type')}]", raw=block)


def _results(wire: dict[str, Any], index: int) -> tuple[ToolResult, ...]:
    """Read one result for every id; the content is that of the first."""
    numbers = expect(wire.get("tool_call_ids"), (list, type(None)), index, "tool_call_ids")
    if not numbers:
        return (ToolResult(None, _content(wire, index), COMMAND),)
    first, *more = (
        expect(number, (str, type(None)), index, f"tool_call_ids[{position}]")
        for position, number in enumerate(numbers)
    )
    return (ToolResult(first, _content(wire, index)), *(ToolResult(number, ()) for number in more))


# --- writing -------------------------------------------------------------------------------


def _write(message: Message) -> Any:
    if message.dialect != NAME or not isinstance(message.raw, dict):
        return _new(message)
    if message.intact:
        return message.raw
    wire = dict(message.raw)
    if message.results:
        wire["content"] = _blocks([c for result in message.results for c in result.content])
    elif message.calls and not wire.get("tool_calls"):
        _, fence, after = _split(message.raw)
        speech, action = message.text, message.calls[0].arguments
        content = f"{speech}{fence}{action}{after}"
        wire |= {"content": content, "thought": speech, "action": action}
    else:
        wire["content"] = _blocks(message.parts)
        wire |= _call_fields(message)
        if "thinking_blocks" in wire:
            kept = [part.raw for part in message.parts if isinstance(part, Thinking)]
            wire["thinking_blocks"] = kept or None
    return wire


def _new(message: Message) -> dict[str, Any]:
    speech = flat_text(part for part in message.parts if not isinstance(part, ToolResult))
    wire: dict[str, Any] = {"role": message.role, "content": speech, "message_type": MESSAGE_TYPE}
    if message.results:
        wire["role"], wire["message_type"] = "tool", "observation"
        wire["content"] = "\n".join([*filter(None, [speech]), *(r.text for r in message.results)])
        wire["tool_call_ids"] = [result.call_id for result in message.results]
    return wire | _call_fields(message)


def _call_fields(message: Message) -> dict[str, Any]:
    if not message.calls:
        return {}
    return {"tool_calls": [CALL.write(call, _own(call)) for call in message.calls]}


def _own(call: ToolCall) -> Any:
    """Return the wire entry of a call of this format, recognised by its function."""
    own = isinstance(call.raw, dict) and isinstance(call.raw.get("function"), dict)
    return call.raw if own else None


def _blocks(parts: Sequence[Part]) -> Any:
    """Write text in its original shape: blocks stay blocks, a string stays a string."""
    texts = [part for part in parts if isinstance(part, Text)]
    if not any(isinstance(part.raw, dict) for part in texts):
        return flat_text(parts)
    return [
        part.raw if isinstance(part.raw, dict) else {"type": "text", "text": part.text}
        for part in texts
    ]
