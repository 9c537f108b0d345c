"""Files that hold a wire value as it is: messages, a request body, or a message in each line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from foldline.errors import UnknownFormat
from foldline.formats.json_document import ConversationPath, JsonDocument, Path, is_unchanged
from foldline.formats.jsonl import MessageLines, at_line, read_lines
from foldline.formats.recording import RecordedConversation, Recording
from foldline.formats.registry import DIALECTS, detect_dialect, dialect
from foldline.formats.source import TranscriptSource

_DOCUMENT, _LINES = 0.5, 0.4
"""How sure it is at most, so that a format with more to go by wins."""

_CONTENT_FIELDS = frozenset(
    {"content", "parts", "tool_calls", "arguments", "output", "summary", "kwargs"}
)


class WireFile:
    """A wire value in a file."""

    name = "wire"
    title = "provider messages (.json), or one message a line (.jsonl)"

    def recognises(self, source: TranscriptSource) -> float:
        """Ask the dialects."""
        document = source.document
        if isinstance(document, (list, dict)):
            line = _is_line(document)
            return _LINES * _surest([document]) if line else _DOCUMENT * _surest(document)
        head = source.head
        return _LINES * _surest(list(head)) if all(isinstance(v, dict) for v in head) else 0.0

    def decode(self, source: TranscriptSource) -> Recording:
        """Read the one conversation of the file, in the dialect that is surest of it."""
        if not isinstance(source.document, (list, dict)) or _is_line(source.document):
            return _decode_lines(source)
        there = detect_dialect(source.document).decode(source.document)
        document = JsonDocument(source, (ConversationPath((), there.messages),))
        return Recording(self.name, (RecordedConversation("messages", there),), document)

    def encode(self, recording: Recording) -> bytes:
        """Write the value, or the lines, again."""
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


def _surest(wire: Any) -> float:
    if isinstance(wire, list) and not any(map(_says_something, wire)):
        return 0.0
    return max(known.recognises(wire) for known in DIALECTS.values())


def _says_something(item: Any) -> bool:
    return isinstance(item, dict) and not _CONTENT_FIELDS.isdisjoint(item)


def _is_line(document: Any) -> bool:
    """Return True if a document is a single message rather than a request body."""
    return isinstance(document, dict) and not _surest(document) and bool(_surest([document]))


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
    rows = tuple(row for row, value in enumerate(values) if value is not None)
    wire = [values[row] for row in rows]
    if not wire:
        raise UnknownFormat(f"{source.name} is neither JSON nor JSON Lines")
    with at_line(rows):
        there = detect_dialect(wire).decode(wire)
    document = MessageLines(source, lines, rows, tuple(wire), there.messages)
    return Recording(WireFile.name, (RecordedConversation("messages", there),), document, warnings)
