"""
Magentic-One histories, as the Who&When set keeps them: who spoke, and what was said.

There are no calls and no ids: what the orchestrator and its agents say are texts of the assistant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from foldline.errors import InputError
from foldline.formats.fields import expect
from foldline.formats.foreign import flat_text
from foldline.formats.json_document import JsonFormat, Path, at
from foldline.formats.source import TranscriptSource
from foldline.values.messages import Message, Role, Text
from foldline.values.transcript import Transcript

DIALECT = "magentic-one"
PATH = ("history",)
_PEOPLE = ("human", "user")
_LEADER = "Orchestrator"


class MagenticOne(JsonFormat):
    """A history of Magentic-One with the question that it is about."""

    name = DIALECT
    title = "Magentic-One history (.json)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for texts of an orchestrator in a ``history``."""
        entries = at(source.document, PATH)
        if not isinstance(entries, list) or not all(map(_is_entry, entries)):
            return 0.0
        return float(any(entry["role"].startswith(_LEADER) for entry in entries))

    def find(self, document: Any) -> Iterator[tuple[str, Path, Any]]:
        """Yield the history as one conversation."""
        yield "history", PATH, expect(at(document, PATH), list, None, "history")

    def read(self, wire: Any) -> Transcript:
        """Read the entries of a history."""
        return Transcript.of([_message(one, index) for index, one in enumerate(wire)], DIALECT)

    def write(self, messages: Sequence[Message]) -> list[Any]:
        """Write the history again."""
        return [m.raw if m.intact and m.dialect == DIALECT else _entry(m) for m in messages]


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("role"), str)
        and isinstance(entry.get("content"), str)
    )


def _message(entry: Any, index: int) -> Message:
    if not _is_entry(entry):
        raise InputError("an entry has a role and a content", index=index, field="history")
    role: Role = "user" if entry["role"] in _PEOPLE else "assistant"
    return Message(role, (Text(entry["content"]),), entry, DIALECT)


def _entry(message: Message) -> dict[str, Any]:
    own = message.raw if message.dialect == DIALECT and isinstance(message.raw, dict) else {}
    role = "human" if message.role == "user" else f"{_LEADER} (thought)"
    return {"role": role, **own, "content": flat_text(message.parts)}
