"""Reading a pi session: the entries that are sent, before and after each compaction."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from foldline.formats.arrangement import Places
from foldline.formats.jsonl import Lines, at_line, read_lines
from foldline.formats.line_tree import LineTree
from foldline.formats.nesting import bounded_nesting
from foldline.formats.source import Source
from foldline.formats.transcripts import pi_messages
from foldline.values.messages import Message
from foldline.values.transcript import Transcript

MAX_SEGMENTS = 100
"""How many segments are read; each may repeat all that was kept of those before it."""


@dataclass(frozen=True, slots=True)
class Segment:
    """
    What the model saw up to a compaction, or sees now.

    It begins with the summary of the line ``compaction``, if that line exists and has one;
    ``places`` has the line of each message behind it.
    """

    messages: tuple[Message, ...] = field(default=(), repr=False)
    places: Places = field(default_factory=dict, repr=False)
    compaction: int | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """
    A session file, ready to be written again.

    ``entries`` are the lines that are JSON objects, ``path`` those that lead to the last one,
    ``kept`` the first line that each compaction kept.
    """

    id: str
    lines: Lines
    tree: LineTree
    entries: tuple[int, ...]
    path: frozenset[int]
    kept: dict[int, int]
    segments: tuple[Segment, ...]


def read(source: Source) -> tuple[Session, tuple[str, ...]]:
    """
    Read a session file.

    Returns:
        The session, its current segment last, and warnings.

    Raises:
        InputError: Naming the line and the field of a message that is malformed.
    """
    lines, values, warnings = read_lines(source)
    records = [value or {} for value in values]
    entries = tuple(number for number, value in enumerate(values) if value is not None)
    tree = LineTree.of(_column(records, "id"), _column(records, "parentId"))
    linked = bool(entries) and tree.keys[entries[-1]] is not None
    path = tree.path(entries[-1]) if linked else frozenset(entries)
    cuts = [number for number in sorted(path) if records[number].get("type") == "compaction"]
    kept = {cut: _first_kept(records[cut], cut, entries, tree) for cut in cuts}
    shown = [number for number in sorted(path) if is_message(records[number])]
    found = []
    edges = list(zip([None, *cuts], [*cuts, len(records)], strict=True))
    if len(edges) > MAX_SEGMENTS:
        warnings = (*warnings, f"only the newest {MAX_SEGMENTS} of {len(edges)} segments are read")
    for before, end in edges[-MAX_SEGMENTS:]:
        start = 0 if before is None else kept[before]
        seen = shown[bisect_left(shown, start) : bisect_left(shown, end)]
        found.append(_segment(records, before, seen))
    segments = tuple(segment for segment in found if segment.messages) or (Segment(),)
    title = records[0].get("id") if records else None
    name = title if isinstance(title, str) and title else "session"
    return Session(name, lines, tree, entries, path, kept, segments), warnings


def wire_of(record: dict[str, Any]) -> dict[str, Any] | None:
    """Return the message of an entry in the shape that pi gives it, None where it has none."""
    match record.get("type"):
        case "message":
            wire = record.get("message")
            return wire if isinstance(wire, dict) else None
        case "custom_message":
            return {"role": "custom", "content": record.get("content")}
        case "compaction":
            return {"role": "compactionSummary", "summary": record.get("summary") or ""}
        case "branch_summary":
            return {"role": "branchSummary", "summary": record.get("summary") or ""}
        case _:
            return None


def is_message(record: dict[str, Any]) -> bool:
    """Tell whether an entry other than a compaction is sent."""
    wire = wire_of(record) if record.get("type") != "compaction" else None
    return wire is not None and pi_messages.is_shown(wire)


def _segment(
    records: Sequence[dict[str, Any]], compaction: int | None, seen: Sequence[int]
) -> Segment:
    summary = None if compaction is None else wire_of(records[compaction])
    lead = [compaction] if compaction is not None and summary and summary["summary"] else []
    numbers = [*lead, *seen]
    with at_line(numbers), bounded_nesting():
        read_messages = list(_messages(records[number] for number in numbers))
        messages = Transcript.of(read_messages, pi_messages.NAME).messages
    body = zip(messages[len(lead) :], seen, strict=True)
    return Segment(messages, {message.id: (line,) for message, line in body}, compaction)


def _messages(records: Iterator[dict[str, Any]]) -> Iterator[Message]:
    for index, record in enumerate(records):
        yield pi_messages.message(wire_of(record) or {}, index)


def _first_kept(record: dict[str, Any], line: int, entries: Sequence[int], tree: LineTree) -> int:
    """Return the first line that a compaction kept; its own line when it kept none."""
    index = record.get("firstKeptEntryIndex")
    if isinstance(index, int) and 0 <= index < len(entries):
        return min(entries[index], line)
    key = record.get("firstKeptEntryId")
    if isinstance(key, str):
        return min(tree.lines.get(key, line), line)
    return line


def _column(records: Sequence[dict[str, Any]], key: str) -> list[str | None]:
    values = (record.get(key) for record in records)
    return [value if isinstance(value, str) else None for value in values]
