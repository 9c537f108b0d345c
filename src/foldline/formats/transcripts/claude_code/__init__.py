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

from foldline.formats.recording import RecordedConversation, Recording, segment_name, wrong_format
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.claude_code.read import DIALECT, is_spoken, read
from foldline.formats.transcripts.claude_code.write import written
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
        count = len(session.segments)
        conversations = tuple(
            RecordedConversation(
                segment_name(index, count, session.id),
                Transcript(segment.messages, DIALECT.name),
            )
            for index, segment in enumerate(session.segments)
        )
        return Recording(self.name, conversations, session, warnings)

    def encode(self, recording: Recording) -> bytes:
        """
        Write a session.

        Untouched lines stay as they are. A changed message changes the lines whose blocks changed
        and loses their ``toolUseResult``. A new message becomes a line of its own in the chain of
        parents; ``isCompactSummary`` marks one of the user.
        """
        return written(recording)
