"""
Codex rollouts: JSON Lines whose ``response_item`` records are OpenAI Responses items.

``event_msg`` records repeat the conversation for the screen and are not read, except for the
token counts. A ``compacted`` record replaces everything before it by its
``replacement_history``: each ends a segment, and the last conversation of the recording is what
the model sees now. Turns that the user rolled back are left out. The system prompt is the
``base_instructions`` of the session, its tool schemas are the ``dynamic_tools``.
"""

from __future__ import annotations

from foldline.formats.recording import Conversation, Recording, segment_name, unrecognised
from foldline.formats.source import Source
from foldline.formats.transcripts.codex_reading import DIALECT, read
from foldline.formats.transcripts.codex_writing import written
from foldline.values.transcript import Transcript

_KINDS = ("session_meta", "response_item", "turn_context", "event_msg", "compacted")


class Codex:
    """The rollout files under ``~/.codex/sessions``."""

    name = "codex"
    title = "Codex rollout (.jsonl)"

    def recognises(self, source: Source) -> float:
        """Look for records of the known types with a payload."""
        records = [value for value in source.head if isinstance(value, dict)]
        known = [r.get("type") in _KINDS and isinstance(r.get("payload"), dict) for r in records]
        return 1.0 if any(known) else 0.0

    def decode(self, source: Source) -> Recording:
        """Read the segments of a rollout."""
        if not self.recognises(source):
            raise unrecognised(source, self.title)
        rollout, warnings = read(source)
        count = len(rollout.segments)
        conversations = tuple(
            Conversation(
                segment_name(index, count, rollout.id),
                Transcript(
                    segment.messages, DIALECT.name, system=rollout.system, tools=rollout.tools
                ),
            )
            for index, segment in enumerate(rollout.segments)
        )
        return Recording(self.name, conversations, rollout, warnings)

    def encode(self, recording: Recording) -> bytes:
        """
        Write a rollout.

        Untouched records stay as they are, a changed message changes its record, a new one becomes
        a ``response_item``. What changes in a ``replacement_history`` is written there.
        """
        return written(recording)
