"""
pi sessions: JSON Lines of entries, the newer ones linked to a tree.

The context is what pi itself builds: the path to the last entry; after a ``compaction`` its
summary, then the entries from the first kept one on. Shell commands of the user are messages,
unless they were excluded. Every compaction ends a segment; the last conversation of the recording
is what the model sees now. Summaries are shown without the sentence that pi puts around them.
"""

from __future__ import annotations

from foldline.formats.recording import RecordedConversation, Recording, segment_name, wrong_format
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.pi.read import NAME, read
from foldline.formats.transcripts.pi.write import written
from foldline.values.transcript import Transcript


class Pi:
    """The session files under ``~/.pi/agent/sessions``."""

    name = NAME
    title = "pi session (.jsonl)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for the header, and for messages in the shape of pi."""
        records = [value for value in source.head if isinstance(value, dict)]
        if not records or records[0].get("type") != "session":
            return 0.0
        messages = [record.get("message") for record in records if record.get("type") == "message"]
        return 1.0 if all(isinstance(m, dict) and "role" in m for m in messages) else 0.0

    def decode(self, source: TranscriptSource) -> Recording:
        """Read the segments of a session."""
        if not self.recognises(source):
            raise wrong_format(source, self.title)
        session, warnings = read(source)
        count = len(session.segments)
        conversations = tuple(
            RecordedConversation(
                segment_name(index, count, session.id), Transcript(segment.messages, NAME)
            )
            for index, segment in enumerate(session.segments)
        )
        return Recording(self.name, conversations, session, warnings)

    def encode(self, recording: Recording) -> bytes:
        """
        Write a session.

        Untouched entries stay as they are, a changed message changes its entry, a new one becomes
        a ``message`` entry, or the summary of the compaction where it replaces that summary.
        """
        return written(recording)
