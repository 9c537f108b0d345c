"""
OpenHands: event files (V1), completion logs, and DevAI trajectories of its runs.

A completion log holds the chat completions request of one step and its response; the
conversation is the request. Tool calls that are written into the text (models without function
calling) are text here too.

A DevAI trajectory is a list of steps. Each holds the user's message, the agent's thought and
action, and the environment's answer; action and answer have no ids and are paired by step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from foldline.formats.conversion import flat_text
from foldline.formats.fields import expect
from foldline.formats.json_document import JsonFormat, Path, is_list_of_objects
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.formats.recording import Recording
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.embedded import EmbeddedWire
from foldline.formats.transcripts.openhands.events import (
    EventLog,
    decode_events,
    encode_events,
    is_event_log,
)
from foldline.values.messages import Message, Part, Text, ToolCall, ToolResult
from foldline.values.transcript import Transcript

_LOGGED = frozenset({"kwargs", "cost", "latency_sec", "context_window", "raw_messages"})


class OpenHands(EmbeddedWire):
    """The files that OpenHands writes."""

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
        """Write the file, of any of these kinds."""
        if isinstance(recording.document, EventLog):
            return encode_events(recording)
        steps = recording.current.transcript.dialect == DEVAI
        return _DEVAI.encode(recording) if steps else super().encode(recording)


# --- DevAI ---------------------------------------------------------------------------------

DEVAI = "devai"
ACTION = "action"


class DevAI(JsonFormat):
    """A DevAI trajectory."""

    name = "openhands"
    title = "DevAI trajectory (.json)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for a list of DevAI steps."""
        fields = ("step", "user_message", "agent", "environment")
        return float(is_list_of_objects(source.document, *fields))

    def find(self, document: Any) -> Iterator[tuple[str, Path, Any]]:
        """Yield the steps as one conversation."""
        yield "steps", (), expect(document, list, None, "")

    def read(self, wire: Any) -> Transcript:
        """Read the messages of the steps."""
        messages = [m for index, step in enumerate(wire) for m in _messages(step, index)]
        return Transcript.of(messages, DEVAI)

    def write(self, messages: Sequence[Message]) -> list[Any]:
        """Write the steps; a new message becomes its own step."""
        out = []
        for _, group in groupby(messages, key=_origin):
            together = tuple(group)
            step = together[0].raw if together[0].dialect == DEVAI else None
            if not isinstance(step, dict):
                out += [_fields({}, (message,)) for message in together]
            elif len(_messages(step, 0)) == len(together) and all(m.intact for m in together):
                out.append(step)
            else:
                out.append(_fields(step, together))
        return out


_DEVAI = DevAI()


def _messages(step: dict[str, Any], index: int) -> list[Message]:
    request = expect(step["user_message"], (str, type(None)), index, "user_message")
    answer = expect(step["environment"], (str, type(None)), index, "environment")
    agent = expect(step["agent"], (dict, type(None)), index, "agent") or {}
    thought = expect(agent.get("thought"), (str, type(None)), index, "agent.thought")
    action = expect(agent.get("action"), (str, type(None)), index, "agent.action")
    out = []
    if request:
        out.append(Message("user", (Text(request),), step, DEVAI))
    parts: list[Part] = [Text(thought)] if thought else []
    if action:
        parts.append(ToolCall(f"step_{index}", ACTION, action))
    if parts:
        out.append(Message("assistant", tuple(parts), step, DEVAI))
    if answer:
        result = ToolResult(f"step_{index}", (Text(answer),), ACTION)
        out.append(Message("tool", (result,), step, DEVAI))
    return out


def _origin(message: Message) -> int:
    """Return an identity of the step that a message was read from, 0 for a new message."""
    return id(message.raw) if message.dialect == DEVAI else 0


def _fields(step: dict[str, Any], messages: tuple[Message, ...]) -> dict[str, Any]:
    by_role = {message.role: message for message in messages}
    user, agent = by_role.get("user") or by_role.get("system"), by_role.get("assistant")
    thought = flat_text(_words(agent)) or None
    action = agent.calls[0].arguments if agent and agent.calls else None
    results = [result.text for message in messages for result in message.results]
    return {
        "step": None,
        **step,
        "user_message": flat_text(_words(user)) or None,
        "agent": {"thought": thought, "action": action},
        "environment": "\n".join(results) or None,
    }


def _words(message: Message | None) -> Sequence[Part]:
    parts = message.parts if message else ()
    return [part for part in parts if not isinstance(part, (ToolCall, ToolResult))]
