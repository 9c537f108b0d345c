"""Factory Droid sessions: JSON Lines whose ``message`` entries hold Anthropic messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from foldline.formats.anthropic import AnthropicDialect
from foldline.formats.arrangement import weave
from foldline.formats.json_document import is_unchanged
from foldline.formats.jsonl import Lines, at_line, read_lines
from foldline.formats.recording import RecordedConversation, Recording, wrong_format
from foldline.formats.source import TranscriptSource
from foldline.values.messages import Message

_ANTHROPIC = AnthropicDialect()


@dataclass(frozen=True, slots=True)
class Entries:
    """The lines of a session; ``rows`` are those with a message."""

    source: TranscriptSource
    lines: Lines
    values: tuple[Any, ...] = field(repr=False)
    rows: tuple[int, ...] = field(repr=False)
    messages: tuple[Message, ...] = field(repr=False)


class Droid:
    """The session files under ``~/.factory/sessions``."""

    name = "droid"
    title = "Factory Droid session (.jsonl)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for the header, and for messages in their entries."""
        head = [value for value in source.head if isinstance(value, dict)]
        return 1.0 if head and head[0].get("type") == "session_start" else 0.0

    def decode(self, source: TranscriptSource) -> Recording:
        """Read the one conversation of a session."""
        if not self.recognises(source):
            raise wrong_format(source, self.title)
        lines, values, warnings = read_lines(source)
        rows = tuple(row for row, value in enumerate(values) if _is_message(value))
        with at_line(rows):
            there = _ANTHROPIC.decode([values[row]["message"] for row in rows])
        document = Entries(source, lines, tuple(values), rows, there.messages)
        title = next((v.get("id") for v in values if isinstance(v, dict)), None)
        name = title if isinstance(title, str) and title else "session"
        return Recording(self.name, (RecordedConversation(name, there),), document, warnings)

    def encode(self, recording: Recording) -> bytes:
        """Write a session: untouched entries as they stand, others in the way of the first."""
        document: Entries = recording.document
        messages = recording.conversations[0].transcript.messages
        if is_unchanged(document.messages, messages):
            return document.source.data
        where = {id(document.values[row]["message"]): row for row in document.rows}
        after: list[tuple[int | None, list[bytes]]] = []
        place = min(document.rows, default=0)  # the header stays before what is new
        for number, wire in enumerate(_ANTHROPIC.messages(messages)):
            row = where.get(id(wire))
            place = place if row is None else row
            line = _written(document, wire, number) if row is None else document.lines.data[row]
            after.append((place, [line]))
        silent = set(range(len(document.lines.data))) - set(document.rows)
        return document.lines.joined(weave(document.lines.data, silent, after))


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type") == "message"
        and isinstance(value.get("message"), dict)
    )


def _written(document: Entries, wire: Any, number: int) -> bytes:
    like = document.rows[0] if document.rows else 0
    entry = {"type": "message", "id": f"foldline_{number}", "message": wire}
    time = document.lines.value(like).get("timestamp")
    return document.lines.written(entry | ({"timestamp": time} if time else {}), like)
