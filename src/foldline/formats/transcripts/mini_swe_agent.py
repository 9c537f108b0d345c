"""
mini-swe-agent trajectories (``.traj.json``): chat completions messages with an ``extra`` field.

``extra`` repeats the provider's response and is carried along unread, except for its token counts.
The entry with the role "exit", the outcome of the run, is no message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from foldline.formats.arrangement import weave
from foldline.formats.dialect import expect
from foldline.formats.json_document import ConversationPath, at, read_recording, write_recording
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.formats.recording import Recording
from foldline.formats.source import TranscriptSource
from foldline.values.messages import Message
from foldline.values.transcript import Transcript
from foldline.values.usage import read_usage

PATH = ("messages",)
_CHAT = OpenAIChatDialect()


class MiniSweAgent:
    """The trajectory file of mini-swe-agent."""

    name = "mini-swe-agent"
    title = "mini-swe-agent trajectory (.traj.json)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for ``trajectory_format`` and ``messages``."""
        document = source.document
        if not isinstance(document, dict) or not isinstance(document.get("messages"), list):
            return 0.0
        return 1.0 if str(document.get("trajectory_format")).startswith("mini-swe-agent") else 0.0

    def decode(self, source: TranscriptSource) -> Recording:
        """Read the one conversation of the file."""
        document = expect(source.document, dict, None, "")
        entries = expect(document.get("messages"), list, None, "messages")
        read = _CHAT.decode([entry for entry in entries if not _is_exit(entry)])
        messages = [_with_usage(message) for message in read.messages]
        title = document.get("instance_id")
        name = title if isinstance(title, str) and title else "run"
        return read_recording(self.name, source, [(name, PATH, read.with_messages(messages))])

    def encode(self, recording: Recording) -> bytes:
        """Write the file, the outcome behind the messages where it was."""
        return write_recording(recording, _entries)


def _is_exit(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("role") == "exit"


def _with_usage(message: Message) -> Message:
    usage = read_usage(at(message.raw, ("extra", "response", "usage")))
    return replace(message, usage=usage) if usage else message


def _entries(before: Sequence[Any], place: ConversationPath, transcript: Transcript) -> list[Any]:
    silent = [index for index, entry in enumerate(before) if _is_exit(entry)]
    spoken = (index for index, entry in enumerate(before) if not _is_exit(entry))
    where = {message.id: index for message, index in zip(place.messages, spoken, strict=True)}
    after = ((where.get(m.id), _CHAT.messages([m])) for m in transcript.messages)
    return weave(before, silent, after)
