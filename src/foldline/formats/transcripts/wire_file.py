"""
Files that hold a bare wire value: messages, a request body, or one message per line.

The sessions of Factory Droid hold an Anthropic message in the entry of each line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foldline.errors import UnknownFormat
from foldline.formats.anthropic import AnthropicDialect
from foldline.formats.dialect import Dialect
from foldline.formats.fields import text_or
from foldline.formats.json_document import ConversationPath, JsonDocument, Path, is_unchanged
from foldline.formats.jsonl import Lines, MessageLines, at_line, read_lines
from foldline.formats.recording import FileFormat, RecordedConversation, Recording, wrong_format
from foldline.formats.registry import DIALECTS, detect_dialect, dialect
from foldline.formats.source import TranscriptSource
from foldline.values.transcript import Transcript

_DOCUMENT, _LINES = 0.5, 0.4
"""Maximum confidence, so that a format with stronger evidence wins."""

_CONTENT_FIELDS = frozenset(
    {"content", "parts", "tool_calls", "arguments", "output", "summary", "kwargs"}
)


class WireFile(FileFormat):
    """A wire value in a file."""

    name = "wire"
    title = "provider messages (.json), or one message a line (.jsonl)"

    def recognises(self, source: TranscriptSource) -> float:
        """Use the highest confidence of any dialect."""
        document = source.document
        if isinstance(document, (list, dict)):
            line = _is_line(document)
            return _LINES * _score([document]) if line else _DOCUMENT * _score(document)
        head = source.head
        return _LINES * _score(list(head)) if all(isinstance(v, dict) for v in head) else 0.0

    def decode(self, source: TranscriptSource) -> Recording:
        """Read the one conversation of the file, in the dialect with the highest confidence."""
        if not isinstance(source.document, (list, dict)) or _is_line(source.document):
            return _decode_lines(source)
        there = detect_dialect(source.document).decode(source.document)
        document = JsonDocument(source, (ConversationPath((), there.messages),))
        return Recording(self.name, (RecordedConversation("messages", there),), document)

    def encode(self, recording: Recording) -> bytes:
        """Write the value, or the lines."""
        there = recording.conversations[0].transcript
        if isinstance(recording.document, MessageLines):
            wire = dialect(there.dialect)
            return recording.document.rewrite(there.messages, wire, lambda value, _: value)
        document: JsonDocument = recording.document
        if is_unchanged(document.places[0].messages, there.messages):
            return document.source.data
        before = document.source.document
        changes = dict(_differences(before, dialect(there.dialect).encode(there), ()))
        return document.with_values(changes)


def _score(wire: Any) -> float:
    if isinstance(wire, list) and not any(map(_has_content, wire)):
        return 0.0
    return max(known.recognises(wire) for known in DIALECTS.values())


def _has_content(item: Any) -> bool:
    return isinstance(item, dict) and not _CONTENT_FIELDS.isdisjoint(item)


def _is_line(document: Any) -> bool:
    """Return True if a document is a single message rather than a request body."""
    return isinstance(document, dict) and not _score(document) and bool(_score([document]))


def _differences(old: Any, new: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if new is old:
        return
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        for key in old:
            yield from _differences(old[key], new[key], (*path, key))
    else:
        yield path, new


def _decode_lines(source: TranscriptSource) -> Recording:
    lines, values, warnings = read_lines(source)
    wires = {row: value for row, value in enumerate(values) if value is not None}
    if not wires:
        raise UnknownFormat(f"{source.name} is neither JSON nor JSON Lines")
    with at_line(tuple(wires)):
        wire = detect_dialect(list(wires.values()))
    document, there = _read_messages(source, lines, wires, wire)
    return Recording(WireFile.name, (RecordedConversation("messages", there),), document, warnings)


def _read_messages(
    source: TranscriptSource, lines: Lines, wires: Mapping[int, Any], wire: Dialect
) -> tuple[MessageLines, Transcript]:
    """Read the messages of some lines, each by its number."""
    rows, values = tuple(wires), tuple(wires.values())
    with at_line(rows):
        there = wire.decode(list(values))
    return MessageLines(source, lines, rows, values, there.messages), there


# --- Factory Droid -------------------------------------------------------------------------

_ANTHROPIC = AnthropicDialect()


class Droid(FileFormat):
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
        wires = {row: value["message"] for row, value in enumerate(values) if _is_message(value)}
        document, there = _read_messages(source, lines, wires, _ANTHROPIC)
        title = next((v.get("id") for v in values if isinstance(v, dict)), None)
        conversation = RecordedConversation(text_or(title, "session"), there)
        return Recording(self.name, (conversation,), document, warnings)

    def encode(self, recording: Recording) -> bytes:
        """Write a session: unchanged entries as they are, others in the layout of the first."""
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
