"""
tau-bench few-shot examples: JSON Lines with a conversation as plain text in each line.

The text is a sequence of ``role: content``; the calls were not recorded, an assistant that made
one reads "None". Such a call becomes one of an unnamed tool, so that its result has a partner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from foldline.errors import InputError
from foldline.formats.fields import ROLES, expect
from foldline.formats.foreign import flat_text
from foldline.formats.json_document import ConversationPath, Path, is_unchanged
from foldline.formats.jsonl import Lines, read_lines
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.formats.recording import RecordedConversation, Recording
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.embedded import EmbeddedWire
from foldline.values.messages import Message, Part, Text, ToolCall, ToolResult
from foldline.values.transcript import Transcript

DIALECT = "tau-bench"
KEY = "messages_display"
UNNAMED = "unrecorded_tool"

_TURN = re.compile(r"^(system|user|assistant|tool): ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Examples:
    """The lines of a few-shot file; the first step of a place is the position of the line."""

    source: TranscriptSource
    lines: Lines
    places: tuple[ConversationPath, ...]


def is_few_shot(source: TranscriptSource) -> bool:
    """Return True if every line at the beginning of a file is such an example."""
    head = source.head or (source.document,)
    return all(isinstance(line, dict) and isinstance(line.get(KEY), str) for line in head)


def _messages(text: str) -> list[Message]:
    turns = list(_TURN.finditer(text))
    if not turns or turns[0].start() > 0:
        return [Message("user", (Text(text),) if text else (), text, DIALECT)]
    ends = [turn.start() - 1 for turn in turns[1:]] + [len(text)]
    entries = [
        (turn.group(1), text[turn.end() : end], text[turn.start() : end])
        for turn, end in zip(turns, ends, strict=True)
    ]
    out: list[Message] = []
    for index, (role, content, raw) in enumerate(entries):
        answered = index + 1 < len(entries) and entries[index + 1][0] == "tool"
        out.append(Message(ROLES[role], _parts(role, content, index, answered), raw, DIALECT))
    return out


def _parts(role: str, content: str, index: int, answered: bool) -> tuple[Part, ...]:
    if role == "tool":
        return (ToolResult(f"call_{index - 1}", (Text(content),), UNNAMED),)
    if role == "assistant" and answered:
        speech = (Text(content),) if content != "None" else ()
        return (*speech, ToolCall(f"call_{index}", UNNAMED, "{}"))
    return (Text(content),) if content else ()


def _write_line(message: Message) -> str:
    if message.intact and message.dialect == DIALECT:
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
        runs = source.document
        if not isinstance(runs, list) or not runs:
            return 0.0
        return float(
            all(isinstance(run, dict) and {"task_id", "traj"} <= run.keys() for run in runs)
        )

    def find(self, document: Any) -> Iterator[tuple[str, Path, Any]]:
        """Yield one conversation for every run."""
        runs = expect(document, list, None, "")
        if not runs:
            raise InputError("The list of runs is empty", hint="Give a file that holds one.")
        for index, entry in enumerate(runs):
            run = expect(entry, dict, None, f"[{index}]")
            items = expect(run.get("traj"), list, None, f"[{index}].traj")
            yield f"task {run.get('task_id')} trial {run.get('trial', 0)}", (index, "traj"), items

    def decode(self, source: TranscriptSource) -> Recording:
        """Read one conversation for every run, or for every line."""
        if not is_few_shot(source):
            return super().decode(source)
        lines, values, warnings = read_lines(source)
        conversations, places = [], []
        for index, value in enumerate(values):
            if value is not None and isinstance(value.get(KEY), str):
                there = Transcript.of(_messages(value[KEY]), DIALECT)
                conversations.append(RecordedConversation(f"line {index + 1}", there))
                places.append(ConversationPath((index, KEY), there.messages))
        document = Examples(source, lines, tuple(places))
        return Recording(self.name, tuple(conversations), document, warnings)

    def encode(self, recording: Recording) -> bytes:
        """Write the runs, or the lines, again."""
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
