"""Pydantic AI: requests and responses, as ``ModelMessagesTypeAdapter`` serializes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.errors import InputError
from foldline.formats.call_ids import wire_ids
from foldline.formats.dialect import Violation, expect
from foldline.formats.foreign import adapted, is_own
from foldline.formats.nesting import bounded_nesting
from foldline.formats.pydantic_ai_reading import read
from foldline.formats.pydantic_ai_rules import violations
from foldline.formats.pydantic_ai_writing import built, changed
from foldline.values.groups import Site
from foldline.values.messages import Message, Opaque, Part, Role, Text, ToolResult, Usage
from foldline.values.transcript import Transcript

NAME = "pydantic-ai"

KINDS = frozenset({"request", "response"})

MARKS = "__pydantic_ai__"
"""Where the metadata of a response hold what the framework notes for itself."""


class PydanticAI:
    """
    The Pydantic AI dialect: requests that may hold prompts and tool returns, and responses.

    Parts of a kind that this library does not know are carried along untouched.
    """

    name = NAME
    title = "Pydantic AI messages"
    provider = "openai"

    def recognises(self, wire: Any) -> float:
        """Return how sure it is that this value is in the dialect, from 0 to 1."""
        if not isinstance(wire, list) or not wire:
            return 0.0
        return 1.0 if all(_is_message(item) for item in wire) else 0.0

    def decode(self, wire: Any) -> Transcript:
        """Read a list of serialized messages."""
        items = expect(wire, list, None, "")
        with bounded_nesting():
            return Transcript.of([_message(item, i) for i, item in enumerate(items)], NAME)

    def encode(self, transcript: Transcript) -> Any:
        """Write a conversation; a system prompt of another wire becomes a request at the start."""
        items = self.messages(transcript.messages)
        if not transcript.system or transcript.dialect == NAME:
            return items
        part = {"content": transcript.system, "part_kind": "system-prompt"}
        return [{"parts": [part], "kind": "request"}, *items]

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """
        Write messages.

        Messages of this dialect stay one wire message each; neighbouring tool messages of other
        origin become one request, as their calls stand in one response.
        """
        if all(message.intact and is_own(message, NAME) for message in messages):
            return [message.raw for message in messages]
        ready = adapted(messages, NAME)
        numbers = wire_ids(ready, NAME)
        out: list[Any] = []
        growing = False
        for index, message in enumerate(ready):
            if is_own(message, NAME):
                wire = message.raw if message.intact else changed(message)
            else:
                places = range(len(message.parts))
                wire = built(message, [numbers.get(Site(index, at), "") for at in places])
            answers = message.role == "tool" and not is_own(message, NAME)
            if wire is not None and answers and growing:
                out[-1]["parts"] += wire["parts"]
            elif wire is not None:
                out.append(wire)
                growing = answers
        return out

    def validate(self, wire: Any) -> list[Violation]:
        """Check what providers demand of a conversation."""
        return violations(wire)


def _is_message(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and isinstance(item.get("kind"), str)
        and item["kind"] in KINDS
        and isinstance(item.get("parts"), list)
    )


def _message(item: Any, index: int) -> Message:
    wire = expect(item, dict, index, "")
    kind = expect(wire.get("kind"), str, index, "kind")
    if kind not in KINDS:
        raise InputError(
            f"unknown kind {kind[:40]!r}",
            index=index,
            field="kind",
            hint=f"Known kinds: {', '.join(sorted(KINDS))}.",
        )
    parts = tuple(part for _, part in read(expect(wire.get("parts"), list, index, "parts"), index))
    if kind == "response":
        return Message("assistant", parts, wire, NAME, usage=_usage(wire))
    role = _role(wire["parts"], parts)
    return Message(role, _as_system(parts) if role == "system" else parts, wire, NAME)


def _role(wires: Sequence[dict[str, Any]], parts: Sequence[Part]) -> Role:
    """Return who speaks: a user wherever there is a prompt, else tools, else the framework."""
    if any(wire.get("part_kind") == "user-prompt" for wire in wires):
        return "user"
    return "tool" if any(isinstance(part, ToolResult) for part in parts) else "system"


def _as_system(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Read the system prompts of a request that holds nothing else as what they say."""
    return tuple(
        Text(part.text, part.raw)
        if isinstance(part, Opaque) and part.kind == "system-prompt"
        else part
        for part in parts
    )


def _usage(response: dict[str, Any]) -> Usage | None:
    value = response.get("usage")
    if not isinstance(value, dict):
        return None
    keys = ("cache_read_tokens", "cache_write_tokens", "input_tokens", "output_tokens")
    read_, write, given, output = (_tokens(value.get(key)) for key in keys)
    held = _context(response.get("metadata"))
    if held is not None:
        return Usage(held, output) if held else None
    # Pydantic AI counts cached tokens as input too.
    usage = Usage(max(0, given - read_ - write), output, read_, write)
    return usage if usage.total else None


def _context(metadata: Any) -> int | None:
    """Return what the window really held, where the usage adds up several requests."""
    marks = metadata.get(MARKS) if isinstance(metadata, dict) else None
    held = marks.get("context_input_tokens") if isinstance(marks, dict) else None
    return _tokens(held) if held is not None else None


def _tokens(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
