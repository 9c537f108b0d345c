"""
Claude Code sessions: JSON Lines with a tree of records, one content block of the model a line.

What the model sees is rebuilt as Claude Code does it on resume: walk up from the last record, so
that rewound branches are left out, and begin at the last compaction. Each compaction ends a
segment; the last conversation of the recording is what the model sees now. Lines marked
``isMeta`` (skills, caveats, hook feedback) are part of the prompt. ``attachment`` records, of
which Claude Code turns some into reminders, and ``toolUseResult``, a second copy of each result,
are metadata: they stay in the file and are not counted. Lines of sub-agents are metadata too,
except in a file that holds nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from foldline.formats.arrangement import Slot
from foldline.formats.jsonl import SessionDraft
from foldline.formats.recording import Recording, name_segments, wrong_format
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.claude_code.read import (
    DIALECT,
    ClaudeSegment,
    ClaudeSession,
    as_blocks,
    is_spoken,
    read,
)
from foldline.values.messages import Message
from foldline.values.transcript import Transcript

_KNOWN = ("file-history-snapshot", "queue-operation", "progress", "summary")


class ClaudeCode:
    """The session files under ``~/.claude/projects``."""

    name = "claude-code"
    title = "Claude Code session (.jsonl)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for spoken lines with an API message and a place in the tree."""
        records = [value for value in source.head if isinstance(value, dict)]
        spoken = [record for record in records if is_spoken(record)]
        if any("parentUuid" in record for record in spoken):
            return 1.0
        known = any(record.get("type") in _KNOWN for record in records)
        return 0.6 if known or spoken else 0.0

    def decode(self, source: TranscriptSource) -> Recording:
        """Read the segments of a session."""
        if not self.recognises(source):
            raise wrong_format(source, self.title)
        session, warnings = read(source)
        transcripts = [Transcript(one.messages, DIALECT.name) for one in session.segments]
        return Recording(self.name, name_segments(transcripts, session.id), session, warnings)

    def encode(self, recording: Recording) -> bytes:
        """
        Write a session.

        Untouched lines stay as they are. A changed message changes the lines whose blocks changed
        and loses their ``toolUseResult``. A new message becomes a line of its own in the chain of
        parents; ``isCompactSummary`` marks one of the user.
        """
        session: ClaudeSession = recording.document
        return _Draft(session).write(session.segments, recording)


# --- writing -------------------------------------------------------------------------------


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


class _Draft(SessionDraft):
    """The file in the making, with new message contents."""

    def __init__(self, session: ClaudeSession) -> None:
        super().__init__(session.lines)
        self.session = session
        self.contents: dict[Slot, Any] = {}
        self.wires: dict[str, dict[str, Any]] = {}
        places = (lines for segment in session.segments for lines in segment.places.values())
        self.spoken = frozenset(line for lines in places for line in lines)

    def apply(self, segment: ClaudeSegment, messages: Sequence[Message]) -> None:
        """Bring one segment into its new state."""
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
        visible = [m for m in messages if m.id in before or m.id in self.wires]
        moved = self.arrange(segment.places, visible, segment.start).moved
        self.leave_out(gone | _find_stranded(segment, self.slots))
        if segment.path:
            self.relink(self.session.tree, moved, segment.path, _uuid)

    def _contents(
        self, message: Message, before: Message, segment: ClaudeSegment
    ) -> dict[Slot, Any]:
        """Divide a changed message among its lines; return the content of those that changed."""
        out: dict[Slot, Any] = {}
        lines, start = segment.places[message.id], 0
        for line in lines:
            content = self.old.value(line)["message"]["content"]
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
                yield self.old.write(self._record(slot, neighbour), like=neighbour)
                continue
            yield self._line(slot)
            neighbour = slot if slot in self.spoken else neighbour

    def _line(self, line: int) -> bytes:
        if line not in self.contents and line not in self.parents:
            return self.old.data[line]
        record = self.old.value(line)
        if line in self.parents:
            record["parentUuid"] = self.parents[line]
        if line in self.contents:
            record["message"]["content"] = self.contents[line]
            record.pop("toolUseResult", None)
        return self.old.write(record, like=line)

    def _record(self, message: Message, neighbour: int) -> dict[str, Any]:
        """Make the record of a new message, its surroundings taken over from a neighbour."""
        near, wire = self.old.value(neighbour), self.wires[message.id]
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


def _find_stranded(segment: ClaudeSegment, slots: Sequence[Slot]) -> set[Slot]:
    """Find rewound lines that would now be the newest ones, and so be taken for the present."""
    owned = {line for lines in segment.places.values() for line in lines}
    last = max((slot for slot in slots if slot in owned and isinstance(slot, int)), default=-1)
    return {line for line in segment.abandoned if line > last}
