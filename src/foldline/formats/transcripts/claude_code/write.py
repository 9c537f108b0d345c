"""Writing a Claude Code session whose conversation was changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from foldline.formats.arrangement import Arrangement, Slot, arrange, relink
from foldline.formats.recording import Recording
from foldline.formats.transcripts.claude_code.read import (
    DIALECT,
    ClaudeSegment,
    ClaudeSession,
    as_blocks,
)
from foldline.values.messages import Message

_COPIED = (
    "isSidechain",
    "userType",
    "entrypoint",
    "cwd",
    "sessionId",
    "version",
    "gitBranch",
    "slug",
    "agentId",
    "timestamp",
)
"""Fields that a new line takes over from its neighbour."""


def written(recording: Recording) -> bytes:
    """Write the file; see ``ClaudeCode.encode``."""
    session: ClaudeSession = recording.document
    draft = _Draft(session)
    for segment, there in zip(session.segments, recording.conversations, strict=True):
        draft.apply(segment, there.transcript.messages)
    return session.lines.joined(draft.lines())


class _Draft:
    """The file in the making: its slots, new message contents, and new parents."""

    def __init__(self, session: ClaudeSession) -> None:
        self.session = session
        self.slots: tuple[Slot, ...] = tuple(range(len(session.lines.data)))
        self.contents: dict[Slot, Any] = {}
        self.wires: dict[str, dict[str, Any]] = {}
        self.parents: dict[int | str, str | None] = {}
        places = (lines for segment in session.segments for lines in segment.places.values())
        self.spoken = frozenset(line for lines in places for line in lines)

    def apply(self, segment: ClaudeSegment, messages: Sequence[Message]) -> None:
        """Bring one segment into its new state."""
        if messages == segment.messages and all(message.intact for message in messages):
            return
        gone: set[Slot] = set()
        before = {message.id: message for message in segment.messages}
        for message in messages:
            if message.id not in before:
                wires = DIALECT.messages([message])
                self.wires |= {message.id: wires[0]} if wires else {}
            elif not message.intact:
                contents = self._contents(message, before[message.id], segment)
                gone |= {line for line, content in contents.items() if content is None}
                self.contents |= contents
        shown = [m for m in messages if m.id in before or m.id in self.wires]
        draft = arrange(self.slots, segment.places, shown, segment.start)
        gone |= _stranded(segment, draft.slots)
        self.slots = tuple(slot for slot in draft.slots if slot not in gone)
        if segment.path:
            changed = Arrangement(self.slots, draft.moved)
            parents = relink(self.session.tree, changed, segment.path, _uuid)
            self.parents |= {_key(self.slots[at]): parent for at, parent in parents.items()}

    def _contents(
        self, message: Message, before: Message, segment: ClaudeSegment
    ) -> dict[Slot, Any]:
        """Divide a changed message among its lines; return the content of those that changed."""
        out: dict[Slot, Any] = {}
        lines, start = segment.places[message.id], 0
        for line in lines:
            content = self.session.lines.value(line)["message"]["content"]
            end = None if line == lines[-1] else start + len(as_blocks(content))
            parts = message.parts[start:end]
            if parts != before.parts[start:end]:
                raw = {"role": message.raw["role"], "content": content}
                wires = DIALECT.messages([replace(message, parts=parts, raw=raw)])
                out[line] = wires[0]["content"] if wires else None
            start += len(as_blocks(content))
        return out

    def lines(self) -> Iterator[bytes]:
        """Write all slots."""
        neighbour = min(self.spoken, default=0)
        for slot in self.slots:
            if isinstance(slot, Message):
                yield self.session.lines.written(self._record(slot, neighbour), like=neighbour)
                continue
            yield self._line(slot)
            neighbour = slot if slot in self.spoken else neighbour

    def _line(self, line: int) -> bytes:
        if line not in self.contents and line not in self.parents:
            return self.session.lines.data[line]
        record = self.session.lines.value(line)
        if line in self.parents:
            record["parentUuid"] = self.parents[line]
        if line in self.contents:
            record["message"]["content"] = self.contents[line]
            record.pop("toolUseResult", None)
        return self.session.lines.written(record, like=line)

    def _record(self, message: Message, neighbour: int) -> dict[str, Any]:
        """Make the record of a new message, its surroundings taken over from a neighbour."""
        near, wire = self.session.lines.value(neighbour), self.wires[message.id]
        record = {
            "parentUuid": self.parents.get(message.id),
            **{key: near[key] for key in _COPIED if key in near},
            "type": wire["role"],
            "message": wire,
            "uuid": _uuid(message),
        }
        if wire["role"] == "assistant":
            response = {"id": f"msg_{message.id}", "type": "message", "model": "<synthetic>"}
            return {**record, "message": {**response, **wire}}
        return record if message.results else {**record, "isCompactSummary": True}


def _uuid(message: Message) -> str:
    """Derive the id of a new line, the same one every time."""
    return str(uuid5(NAMESPACE_OID, message.id))


def _key(slot: Slot) -> int | str:
    return slot.id if isinstance(slot, Message) else slot


def _stranded(segment: ClaudeSegment, slots: Sequence[Slot]) -> set[Slot]:
    """Find rewound lines that would now be the newest ones, and so be taken for the present."""
    owned = {line for lines in segment.places.values() for line in lines}
    last = max((slot for slot in slots if slot in owned and isinstance(slot, int)), default=-1)
    return {line for line in segment.abandoned if line > last}
