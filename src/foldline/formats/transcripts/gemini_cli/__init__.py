"""
Gemini CLI chats: one JSON document, or JSON Lines with ``$set`` and ``$rewindTo`` records.

A tool call and its result stand in one record: it is read as a message of the model with calls,
and one with results behind it. What is sent is what Gemini CLI sends on resume: notices (``info``,
``error``, ``warning``), slash commands and the ``thoughts``, which are a summary for the screen,
are not. A later line with the id of an earlier one replaces it.
"""

from __future__ import annotations

from foldline.formats.recording import RecordedConversation, Recording, wrong_format
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.gemini_cli.read import DIALECT, read
from foldline.formats.transcripts.gemini_cli.write import written
from foldline.values.transcript import Transcript


class GeminiCli:
    """The chat files under ``~/.gemini/tmp/*/chats``."""

    name = "gemini-cli"
    title = "Gemini CLI chat (.json, .jsonl)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for the session header and its messages."""
        records = [value for value in source.head if isinstance(value, dict)]
        header = records[0] if records else source.document
        if not isinstance(header, dict) or "sessionId" not in header:
            return 0.0
        if isinstance(header.get("messages"), list):
            return 1.0 if "projectHash" in header or "startTime" in header else 0.5
        return 0.9 if "projectHash" in header else 0.0

    def decode(self, source: TranscriptSource) -> Recording:
        """Read the one conversation of a chat."""
        if not self.recognises(source):
            raise wrong_format(source, self.title)
        chat, warnings = read(source)
        transcript = Transcript(chat.messages, DIALECT.name)
        return Recording(self.name, (RecordedConversation(chat.id, transcript),), chat, warnings)

    def encode(self, recording: Recording) -> bytes:
        """
        Write a chat.

        Untouched records stay as they are, a changed message changes its record, which loses the
        ``resultDisplay`` of a changed result; a new message becomes a record of its own.
        """
        return written(recording)
