"""Checks for every file format: an unchanged file round-trips, and every kind of edit survives."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from foldline.formats.recording import FileFormat, Recording
from foldline.formats.source import TranscriptSource
from foldline.values.edits import Drop, Edit, Fold, Rewrite, apply
from foldline.values.groups import group
from foldline.values.identity import derived_id
from foldline.values.messages import Message, Text, ToolCall, ToolResult, visible_texts

SNAPSHOT = "Summary of what went before: 任务 – the task is half done."
CLEARED = "[cleared, recall with handle 0a1b2c3d]"


def source_of(value: Any, **layout: Any) -> TranscriptSource:
    """Write a JSON value as a document or, with ``lines=True``, as one item per line."""
    if layout.pop("lines", False):
        text = "".join(json.dumps(item, **layout) + "\n" for item in value)
    else:
        text = json.dumps(value, **{"indent": 2, **layout})
    return TranscriptSource.of(text.encode())


def read(path: Path) -> TranscriptSource:
    return TranscriptSource.of(path.read_bytes(), path.name)


def messages_of(recording: Recording, index: int = 0) -> tuple[Message, ...]:
    return recording.conversations[index].transcript.messages


def visible(messages: Sequence[Message]) -> list[tuple[str, list[str]]]:
    """Return roles and texts, without ids and messages that have no text."""
    shown = ((message.role, [t for t in visible_texts(message) if t]) for message in messages)
    return [(role, texts) for role, texts in shown if texts]


def edited(
    file_format: FileFormat, recording: Recording, edits: Sequence[Edit], index: int = 0
) -> tuple[bytes, Recording]:
    """Apply edits to one conversation; return the new file, and the recording read from it."""
    there = recording.conversations[index].transcript
    shown = there.with_messages(apply(there.messages, edits))
    data = file_format.encode(recording.with_transcript(index, shown))
    return data, file_format.decode(TranscriptSource.of(data))


def assert_identity(file_format: FileFormat, source: TranscriptSource) -> Recording:
    recording = file_format.decode(source)
    assert file_format.encode(recording) == source.data
    return recording


def assert_edits_survive(
    file_format: FileFormat, source: TranscriptSource, index: int = 0
) -> None:
    """Clear, truncate, drop and fold; check that the edited view is read back."""
    recording = file_format.decode(source)
    messages = messages_of(recording, index)
    for edits in edit_lists(messages):
        wanted = apply(messages, edits)
        data, again = edited(file_format, recording, edits, index)
        assert visible(messages_of(again, index)) == visible(wanted)
        assert data != source.data
        for other, conversation in enumerate(recording.conversations):
            if other != index:
                assert messages_of(again, other) == conversation.transcript.messages


def edit_lists(messages: Sequence[Message]) -> Iterator[list[Edit]]:
    clears: list[Edit] = [
        Rewrite(message.id, position, CLEARED, "clear", "0a1b2c3d")
        for message in messages
        for position, part in enumerate(message.parts)
        if isinstance(part, ToolResult)
    ]
    if clears:
        yield clears[: len(clears) // 2 + 1]
    shortened: list[Edit] = [
        Rewrite(message.id, position, shorter(part), "truncate")
        for message in messages
        for position, part in enumerate(message.parts)
        if isinstance(part, (Text, ToolCall))
    ]
    if shortened:
        yield shortened[::3]
    groups = [g for g in group(messages) if messages[g.start].role != "system"]
    if len(groups) > 4:
        dropped = groups[len(groups) // 2].members
        yield [Drop(tuple(messages[i].id for i in dropped), "window")]
        folded = tuple(messages[i].id for g in groups[1 : len(groups) // 2] for i in g.members)
        snapshot = Message("user", (Text(SNAPSHOT),), id=derived_id(*folded), origin="summarize")
        yield [Fold(folded, snapshot), *clears[-1:]]


def shorter(part: Text | ToolCall) -> str:
    if isinstance(part, Text):
        return part.text[: len(part.text) // 2] + "… [cut]"
    try:
        arguments = json.loads(part.arguments)
    except ValueError:
        return "echo cut"
    if not isinstance(arguments, dict) or not arguments:
        return part.arguments
    return json.dumps(dict.fromkeys(arguments, "cut"))
