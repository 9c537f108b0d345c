"""Factory Droid sessions: JSON Lines whose ``message`` entries hold Anthropic messages."""

from __future__ import annotations

from typing import Any

from foldline.formats.anthropic import AnthropicDialect
from foldline.formats.fields import text_or
from foldline.formats.jsonl import MessageLines, at_line, read_lines
from foldline.formats.recording import RecordedConversation, Recording, wrong_format
from foldline.formats.source import TranscriptSource

_ANTHROPIC = AnthropicDialect()


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
        wires = tuple(values[row]["message"] for row in rows)
        with at_line(rows):
            there = _ANTHROPIC.decode(list(wires))
        document = MessageLines(source, lines, rows, wires, there.messages)
        title = next((v.get("id") for v in values if isinstance(v, dict)), None)
        conversation = RecordedConversation(text_or(title, "session"), there)
        return Recording(self.name, (conversation,), document, warnings)

    def encode(self, recording: Recording) -> bytes:
        """Write a session: untouched entries as they stand, others in the way of the first."""
        document: MessageLines = recording.document
        first = document.lines.value(document.rows[0] if document.rows else 0)
        stamp = {"timestamp": first["timestamp"]} if first.get("timestamp") else {}

        def entry(wire: Any, number: int) -> dict[str, Any]:
            return {"type": "message", "id": f"foldline_{number}", "message": wire, **stamp}

        return document.rewrite(recording.current.transcript.messages, _ANTHROPIC, entry)


def _is_message(value: Any) -> bool:
    match value:
        case {"type": "message", "message": dict()}:
            return True
        case _:
            return False
