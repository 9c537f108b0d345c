"""
OpenHands: event files (V1), completion logs, and DevAI trajectories of its runs.

A completion log holds the chat completions request of one step with the response beside it; the
conversation is the request. Where tool calls are written into the text (models without function
calling), they are text here too.
"""

from __future__ import annotations

from foldline.formats.dialect import expect
from foldline.formats.json_document import read_recording, write_recording
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.formats.recording import Recording
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.openhands import devai, events

NAME = "openhands"
_CHAT = OpenAIChatDialect()
_LOGGED = frozenset({"kwargs", "cost", "latency_sec", "context_window", "raw_messages"})


class OpenHands:
    """The files that OpenHands leaves behind."""

    name = NAME
    title = "OpenHands events (.jsonl), completion log (.json), DevAI trajectory (.json)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for events, for a logged completion, or for DevAI steps."""
        found = events.is_event_log(source) or devai.is_devai(source)
        return float(found or _is_log(source))

    def decode(self, source: TranscriptSource) -> Recording:
        """Read the one conversation of the file."""
        if events.is_event_log(source):
            return events.decode(source)
        if devai.is_devai(source):
            return devai.decode(source)
        log = expect(source.document, dict, None, "")
        return read_recording(NAME, source, [("completion", ("messages",), _CHAT.decode(log))])

    def encode(self, recording: Recording) -> bytes:
        """Write the file again, of whichever kind it is."""
        if isinstance(recording.document, events.EventLog):
            return events.encode(recording)
        if recording.conversations[0].transcript.dialect == devai.DIALECT:
            return devai.encode(recording)
        return write_recording(recording, lambda _, __, there: _CHAT.messages(there.messages))


def _is_log(source: TranscriptSource) -> bool:
    log = source.document
    if not isinstance(log, dict) or not isinstance(log.get("messages"), list):
        return False
    return isinstance(log.get("response"), dict) and bool(_LOGGED & log.keys())
