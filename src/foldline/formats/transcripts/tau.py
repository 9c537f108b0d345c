"""
tau-bench and tau2-bench: runs of an agent, each a conversation, and few-shot examples.

The examples are JSON Lines with a conversation as plain text in each line, a sequence of
``role: content``. Their calls were not recorded; an assistant message with a call reads "None":
it becomes a call of an unnamed tool, so that its result is paired.

In tau2-bench the simulated user may call tools too, in messages of the role "user"; their results
have the requestor "user". Arguments are objects; the id of a tool message is that of its call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from foldline.errors import InputError
from foldline.formats.conversion import envelope, flat_text, write_entries
from foldline.formats.fields import ROLES, expect, read_objects, read_role, text_or
from foldline.formats.json_document import (
    ConversationPath,
    JsonFormat,
    Path,
    at,
    is_list_of_objects,
    is_unchanged,
)
from foldline.formats.jsonl import Lines, read_lines
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.formats.recording import RecordedConversation, Recording
from foldline.formats.source import TranscriptSource
from foldline.formats.tool_json import CallShape
from foldline.formats.transcripts.embedded import EmbeddedWire
from foldline.frozen import frozen
from foldline.values.messages import Message, Part, Text, Thinking, ToolCall, ToolResult
from foldline.values.transcript import Transcript
from foldline.values.usage import read_usage

EXAMPLES = "tau-bench"
"""The dialect of few-shot examples."""

KEY = "messages_display"
UNNAMED = "unrecorded_tool"
TAU2 = "tau2"
CALL = CallShape(needs_id=True)

_TURN = re.compile(r"^(system|user|assistant|tool): ", re.MULTILINE)


@frozen
class Examples:
    """The lines of a few-shot file; the first step of a path is the position of the line."""

    source: TranscriptSource
    lines: Lines
    places: tuple[ConversationPath, ...]


def is_few_shot(source: TranscriptSource) -> bool:
    """Return True if the first lines of a file are all examples."""
    head = source.head or (source.document,)
    return all(isinstance(line, dict) and isinstance(line.get(KEY), str) for line in head)


def _find_runs(runs: Any, path: Path, key: str) -> Iterator[tuple[str, Path, Any]]:
    """Yield the name of each run in a list, the path of its messages, and the messages."""
    for index, entry in enumerate(runs):
        field = f"{''.join(map(str, path))}[{index}]"
        run = expect(entry, dict, None, field)
        items = expect(run.get(key), list, None, f"{field}.{key}")
        yield f"task {run.get('task_id')} trial {run.get('trial', 0)}", (*path, index, key), items


# --- tau-bench -----------------------------------------------------------------------------


def _read_example(text: str) -> list[Message]:
    turns = list(_TURN.finditer(text))
    if not turns or turns[0].start() > 0:
        return [Message("user", (Text(text),) if text else (), text, EXAMPLES)]
    ends = [turn.start() - 1 for turn in turns[1:]] + [len(text)]
    entries = [
        (turn.group(1), text[turn.end() : end], text[turn.start() : end])
        for turn, end in zip(turns, ends, strict=True)
    ]
    out: list[Message] = []
    for index, (role, content, raw) in enumerate(entries):
        answered = index + 1 < len(entries) and entries[index + 1][0] == "tool"
        out.append(Message(ROLES[role], _parts(role, content, index, answered), raw, EXAMPLES))
    return out


def _parts(role: str, content: str, index: int, answered: bool) -> tuple[Part, ...]:
    if role == "tool":
        return (ToolResult(f"call_{index - 1}", (Text(content),), UNNAMED),)
    if role == "assistant" and answered:
        speech = (Text(content),) if content != "None" else ()
        return (*speech, ToolCall(f"call_{index}", UNNAMED, "{}"))
    return (Text(content),) if content else ()


def _write_line(message: Message) -> str:
    if message.intact and message.dialect == EXAMPLES:
        return str(message.raw)
    content = "\n".join(
        flat_text(part.content) if isinstance(part, ToolResult) else flat_text([part])
        for part in message.parts
        if not isinstance(part, ToolCall)
    )
    return f"{message.role}: {content or ('None' if message.calls else '')}"


class TauBench(EmbeddedWire):
    """Results and few-shot files of tau-bench."""

    name = "tau-bench"
    title = "tau-bench results (.json) and few-shot examples (.jsonl)"
    wire = OpenAIChatDialect()
    several = True

    def recognises(self, source: TranscriptSource) -> float:
        """Look for runs with ``task_id`` and ``traj``, or lines with ``messages_display``."""
        if is_few_shot(source):
            return 1.0
        return float(is_list_of_objects(source.document, "task_id", "traj"))

    def find(self, document: Any) -> Iterator[tuple[str, Path, Any]]:
        """Yield one conversation for every run."""
        runs = expect(document, list, None, "")
        if not runs:
            raise InputError("The list of runs is empty", hint="Give a file that holds one.")
        yield from _find_runs(runs, (), "traj")

    def decode(self, source: TranscriptSource) -> Recording:
        """Read one conversation for every run, or for every line."""
        if not is_few_shot(source):
            return super().decode(source)
        lines, values, warnings = read_lines(source)
        conversations, places = [], []
        for index, value in enumerate(values):
            if value is not None and isinstance(value.get(KEY), str):
                there = Transcript.of(_read_example(value[KEY]), EXAMPLES)
                conversations.append(RecordedConversation(f"line {index + 1}", there))
                places.append(ConversationPath((index, KEY), there.messages))
        document = Examples(source, lines, tuple(places))
        return Recording(self.name, tuple(conversations), document, warnings)

    def encode(self, recording: Recording) -> bytes:
        """Write the runs, or the lines."""
        if not isinstance(recording.document, Examples):
            return super().encode(recording)
        document = recording.document
        lines, changed = list(document.lines.data), False
        for place, there in zip(document.places, recording.conversations, strict=True):
            messages, index = there.transcript.messages, int(place.path[0])
            if not is_unchanged(place.messages, messages):
                value = {**document.lines.value(index), KEY: "\n".join(map(_write_line, messages))}
                lines[index], changed = document.lines.write(value, index), True
        return document.lines.assemble(lines) if changed else document.source.data


# --- tau2-bench ----------------------------------------------------------------------------


class Tau2(JsonFormat):
    """The results file of tau2-bench."""

    name = TAU2
    title = "tau2-bench results (.json)"
    several = True

    def recognises(self, source: TranscriptSource) -> float:
        """Look for ``simulations`` with messages."""
        return float(is_list_of_objects(at(source.document, ("simulations",)), "messages"))

    def find(self, document: Any) -> Iterator[tuple[str, Path, Any]]:
        """Yield one conversation for every simulation."""
        runs = expect(document, dict, None, "").get("simulations")
        expect(runs, list, None, "simulations")
        yield from _find_runs(runs, ("simulations",), "messages")

    def read(self, wire: Any) -> Transcript:
        """Read the messages of a simulation."""
        return Transcript.of([_message(item, index) for index, item in enumerate(wire)], TAU2)

    def write(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages as those of a simulation."""
        return list(write_entries(messages, TAU2, _result, _entry))


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
    return Message(role, parts, wire, TAU2, usage=read_usage(wire.get("usage")))


def _entry(message: Message, rest: Sequence[Part]) -> dict[str, Any]:
    entry = envelope(message, TAU2)
    entry["content"] = flat_text(rest) or None
    calls = [_call_wire(call, message) for call in message.calls]
    if calls or "tool_calls" in entry:
        entry["tool_calls"] = calls or None
    thoughts = [part.text for part in rest if isinstance(part, Thinking)]
    if thoughts or "reasoning" in entry:
        entry["reasoning"] = "\n".join(thoughts) or None
    return entry


def _result(result: ToolResult, message: Message) -> dict[str, Any]:
    own = message.dialect == TAU2 and message.role == "tool"
    if own:
        return {**envelope(message, TAU2), "content": flat_text(result.content)}
    return {
        "id": result.call_id,
        "role": "tool",
        "content": flat_text(result.content),
        "requestor": "assistant",
        "error": result.is_error,
    }


def _call_wire(call: ToolCall, message: Message) -> dict[str, Any]:
    raw = call.raw if message.dialect == TAU2 and isinstance(call.raw, dict) else None
    written = CALL.write(call, raw)
    if written is raw:
        return written
    return {**written, "requestor": "user" if message.role == "user" else "assistant"}
