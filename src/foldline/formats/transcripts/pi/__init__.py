"""
pi sessions: JSON Lines of entries, the newer ones linked to a tree.

The context is built as in pi: the path to the last entry; after a ``compaction`` its summary,
then the entries from the first kept one on. Shell commands of the user are messages, unless they
were excluded. Every compaction ends a segment; the last conversation of the recording is the
model's current view. Summaries are read without the sentence that pi wraps around them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

from foldline.formats.arrangement import Slot
from foldline.formats.jsonl import JsonDraft, SessionFormat
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.pi.read import NAME, PiSegment, PiSession, read, wires
from foldline.values.identity import derived_id
from foldline.values.messages import Message, Text


class Pi(SessionFormat):
    """
    The session files under ``~/.pi/agent/sessions``.

    A changed message changes its entry, a new one becomes a ``message`` entry, or the summary of
    the compaction if it replaces that summary.
    """

    name = NAME
    title = "pi session (.jsonl)"
    dialect = NAME
    read = staticmethod(read)

    def recognises(self, source: TranscriptSource) -> float:
        """Look for the header, and for messages in pi's shape."""
        records = [value for value in source.head if isinstance(value, dict)]
        if not records or records[0].get("type") != "session":
            return 0.0
        messages = [record.get("message") for record in records if record.get("type") == "message"]
        return 1.0 if all(isinstance(m, dict) and "role" in m for m in messages) else 0.0

    def draft(self, session: PiSession) -> JsonDraft:
        """Create a draft of the changed file."""
        return _Draft(session)


class _Draft(JsonDraft):
    """A draft of the file, with changed messages and summaries."""

    def __init__(self, session: PiSession) -> None:
        super().__init__(session.lines, session.entries)
        self.session = session
        self.is_linked = bool(session.entries) and (
            session.tree.keys[session.entries[-1]] is not None
        )
        self.wires: dict[int | str, list[dict[str, Any]]] = {}
        self.summaries: dict[int, str] = {}

    def apply(self, segment: PiSegment, messages: Sequence[Message]) -> None:
        """Apply the changes of one segment."""
        body = self._without_summary(segment, messages)
        removed: set[Slot] = set()
        for message in body:
            places = segment.places.get(message.id)
            if places is None:
                self.wires[message.id] = wires(message)
            elif not message.intact:
                self.wires[places[0]] = wires(message)
                removed |= set() if self.wires[places[0]] else {places[0]}
        body = [m for m in body if m.id in segment.places or self.wires[m.id]]
        moved = self.arrange(segment.places, body).moved
        self.remove(removed | self._find_stranded())
        if self.is_linked:
            self.relink(self.session.tree, moved, self.session.path, _entry_id)

    def _without_summary(
        self, segment: PiSegment, messages: Sequence[Message]
    ) -> Sequence[Message]:
        """
        Record the summary and return the other messages.

        The compaction must stay, or the entries it summarised would reappear. A new text at the
        front replaces a summary that was removed; else the summary becomes empty.
        """
        if segment.compaction is None:
            return messages
        old = next((m for m in segment.messages if m.id not in segment.places), None)
        kept = next((m for m in messages if old is not None and m.id == old.id), None)
        first = messages[0] if messages else None
        if kept is None and first is not None and _is_new_text(first, segment):
            kept = first
        if kept is not old or (kept is not None and not kept.intact):
            self.summaries[segment.compaction] = kept.text if kept is not None else ""
        return [message for message in messages if message is not kept]

    def _find_stranded(self) -> set[Slot]:
        """Find entries beside the path that would become the last one, and so the current leaf."""
        left = [slot for slot in self.slots if isinstance(slot, int) and slot in self.session.path]
        last = max(left, default=-1)
        return {n for n in self.session.entries if n > last and n not in self.session.path}

    def update_line(self, line: int) -> Any:
        """Return an entry with its changed fields."""
        known = (self.parents, self.summaries, self.wires, self._first_kept)
        if not any(line in lines for lines in known):
            return None
        changes: dict[str, Any] = {}
        if line in self.parents:
            changes["parentId"] = self.parents[line]
        if line in self.summaries:
            changes["summary"] = self.summaries[line]
        record = self.old.value(line)
        for wire in self.wires.get(line, ())[:1]:
            fields = {"custom_message": "content", "branch_summary": "summary"}
            key = fields.get(str(record.get("type")), "message")
            changes[key] = wire if key == "message" else wire[key]
        changes |= self._first_kept.get(line, {})
        return {**record, **changes} if changes else None

    def new_values(self, message: Message, near: dict[str, Any]) -> Iterator[Any]:
        """Create the entries of a new message, with the timestamp of its neighbour."""
        parent, all_wires = self.parents.get(message.id), self.wires[message.id]
        stamp = {"timestamp": near["timestamp"]} if "timestamp" in near else {}
        for number, wire in enumerate(all_wires, start=1):
            links: dict[str, Any] = {}
            if self.is_linked:
                links = {"id": _entry_id(message, len(all_wires) - number), "parentId": parent}
                parent = links["id"]
            yield {"type": "message", **links, **stamp, "message": wire}

    @cached_property
    def _first_kept(self) -> dict[int, dict[str, Any]]:
        """Point every compaction at the first entry that it keeps in the changed file."""
        entries = frozenset(self.session.entries)
        sizes = (
            len(self.wires[slot.id]) if isinstance(slot, Message) else int(slot in entries)
            for slot in self.slots
        )
        counts = list(accumulate(sizes, initial=0))
        where = {slot: n for n, slot in enumerate(self.slots) if isinstance(slot, int)}
        left = sorted(where)
        out = {}
        for line, first in self.session.kept.items():
            if line in where:
                heir = left[bisect_left(left, first)]
                target = where[line] if first == line else min(where[heir], where[line])
                while first != line and target and isinstance(self.slots[target - 1], Message):
                    target -= 1
                out[line] = self._pointer(line, target, counts[target])
        return out

    def _pointer(self, line: int, target: int, count: int) -> dict[str, Any]:
        """Return the field with the first kept entry of a compaction, if it changed."""
        record = self.old.value(line)
        new: dict[str, Any] = {}
        if isinstance(record.get("firstKeptEntryId"), str):
            kept = self.session.kept[line] != line
            new = {"firstKeptEntryId": self._entry_key(target)} if kept else {}
        elif isinstance(record.get("firstKeptEntryIndex"), int):
            index = record["firstKeptEntryIndex"]
            same = index >= count and self.session.kept[line] == line
            new = {} if same else {"firstKeptEntryIndex": count}
        return {key: value for key, value in new.items() if record[key] != value}

    def _entry_key(self, position: int) -> str | None:
        slot = self.slots[position]
        if isinstance(slot, Message):
            return _entry_id(slot, len(self.wires[slot.id]) - 1)
        return self.session.tree.keys[slot]


def _is_new_text(message: Message, segment: PiSegment) -> bool:
    texts = all(isinstance(part, Text) for part in message.parts)
    return message.role == "user" and texts and message.id not in segment.places


def _entry_id(message: Message, further: int = 0) -> str:
    """Derive the id of a new entry, deterministically; the last of several is number 0."""
    return derived_id(message.id, str(further))[:8]
