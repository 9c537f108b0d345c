"""
OpenHands: event files (V1), completion logs, and DevAI trajectories of its runs.

A completion log holds the chat completions request of one step with the response beside it; the
conversation is the request. Where tool calls are written into the text (models without function
calling), they are text here too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from foldline.formats.fields import expect
from foldline.formats.json_document import Path
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.formats.recording import Recording
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.embedded import EmbeddedWire
from foldline.formats.transcripts.openhands import devai
from foldline.formats.transcripts.openhands.events import (
    EventLog,
    decode_events,
    encode_events,
    is_event_log,
)

_DEVAI = devai.DevAI()
_LOGGED = frozenset({"kwargs", "cost", "latency_sec", "context_window", "raw_messages"})


class OpenHands(EmbeddedWire):
    """The files that OpenHands leaves behind."""

    name = "openhands"
    title = "OpenHands events (.jsonl), completion log (.json), DevAI trajectory (.json)"
    wire = OpenAIChatDialect()

    def recognises(self, source: TranscriptSource) -> float:
        """Look for events, for a logged completion, or for DevAI steps."""
        if is_event_log(source) or _DEVAI.recognises(source):
            return 1.0
        log = source.document
        if not isinstance(log, dict) or not isinstance(log.get("messages"), list):
            return 0.0
        return float(isinstance(log.get("response"), dict) and bool(_LOGGED & log.keys()))

    def find(self, document: Any) -> Iterator[tuple[str, Path, Any]]:
        """Yield the request of a completion log."""
        yield "completion", ("messages",), expect(document, dict, None, "")

    def decode(self, source: TranscriptSource) -> Recording:
        """Read the one conversation of the file."""
        if is_event_log(source):
            return decode_events(source)
        is_devai = _DEVAI.recognises(source)
        return _DEVAI.decode(source) if is_devai else super().decode(source)

    def encode(self, recording: Recording) -> bytes:
        """Write the file again, of whichever kind it is."""
        if isinstance(recording.document, EventLog):
            return encode_events(recording)
        is_devai = recording.current.transcript.dialect == devai.NAME
        return _DEVAI.encode(recording) if is_devai else super().encode(recording)
