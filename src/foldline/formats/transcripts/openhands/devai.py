"""
DevAI trajectories of OpenHands: a list of steps.

Each step holds what the user said, what the agent thought and did, and what the environment
answered; action and answer have no ids, those of one step belong together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from foldline.formats.fields import expect
from foldline.formats.foreign import flat_text
from foldline.formats.json_document import JsonFormat, Path
from foldline.formats.source import TranscriptSource
from foldline.values.messages import Message, Part, Text, ToolCall, ToolResult
from foldline.values.transcript import Transcript

NAME = "devai"
ACTION = "action"
_FIELDS = frozenset({"step", "user_message", "agent", "environment"})


class DevAI(JsonFormat):
    """A DevAI trajectory."""

    name = "openhands"
    title = "DevAI trajectory (.json)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for a list of such steps."""
        steps = source.document
        if not isinstance(steps, list) or not steps:
            return 0.0
        return float(all(isinstance(step, dict) and step.keys() >= _FIELDS for step in steps))

    def find(self, document: Any) -> Iterator[tuple[str, Path, Any]]:
        """Yield the steps as one conversation."""
        yield "steps", (), expect(document, list, None, "")

    def read(self, wire: Any) -> Transcript:
        """Read the messages of the steps."""
        messages = [m for index, step in enumerate(wire) for m in _messages(step, index)]
        return Transcript.of(messages, NAME)

    def write(self, messages: Sequence[Message]) -> list[Any]:
        """Write the steps again; messages of no step become one each."""
        out = []
        for _, group in groupby(messages, key=_origin):
            together = tuple(group)
            step = together[0].raw if together[0].dialect == NAME else None
            if not isinstance(step, dict):
                out += [_fields({}, (message,)) for message in together]
            elif len(_messages(step, 0)) == len(together) and all(m.intact for m in together):
                out.append(step)
            else:
                out.append(_fields(step, together))
        return out


def _messages(step: dict[str, Any], index: int) -> list[Message]:
    request = expect(step["user_message"], (str, type(None)), index, "user_message")
    answer = expect(step["environment"], (str, type(None)), index, "environment")
    agent = expect(step["agent"], (dict, type(None)), index, "agent") or {}
    thought = expect(agent.get("thought"), (str, type(None)), index, "agent.thought")
    action = expect(agent.get("action"), (str, type(None)), index, "agent.action")
    out = []
    if request:
        out.append(Message("user", (Text(request),), step, NAME))
    parts: list[Part] = [Text(thought)] if thought else []
    if action:
        parts.append(ToolCall(f"step_{index}", ACTION, action))
    if parts:
        out.append(Message("assistant", tuple(parts), step, NAME))
    if answer:
        result = ToolResult(f"step_{index}", (Text(answer),), ACTION)
        out.append(Message("tool", (result,), step, NAME))
    return out


def _origin(message: Message) -> int:
    """Tell apart the steps from which messages came; those of none are one by one anyway."""
    return id(message.raw) if message.dialect == NAME else 0


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
