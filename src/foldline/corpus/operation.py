"""
What is done with every session: from a recording to rows of a table, without any state.

`Scan` is the simplest operation: it counts what conversations hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final, Protocol, TypeAlias

from foldline.api import counter_for
from foldline.evaluation.breakdown import KINDS, by_kind, waste
from foldline.formats.recording import RecordedConversation, Recording
from foldline.frozen import frozen
from foldline.values.messages import ToolCall, ToolResult

Row: TypeAlias = Mapping[str, Any]
Work: TypeAlias = Callable[[Recording], Iterable[Row]]
Totals: TypeAlias = dict[str, float]

LOCATION_COLUMNS: Final = {
    "path": "text",
    "offset": "int",
    "number": "int",
    "conversation": "text",
    "error": "text",
}
"""
The columns of every table: which session a row is of and where in the file that begins, in bytes;
which of its conversations, counted from 1, with its name; and why a row has no other values.
"""


class Operation(Protocol):
    """
    A kind of run. The same recording and settings always have the same rows.

    ``columns`` are the names of the values of a row with their types: text, int or float.
    """

    name: ClassVar[str]
    columns: ClassVar[dict[str, str]]
    order: ClassVar[tuple[str, ...]]

    def start(self) -> Work:
        """Prepare what a worker needs once, and return what makes the rows of a session."""
        ...

    def totals(self, rows: Iterable[Row]) -> Totals:
        """Add up the rows of one session."""
        ...


def each_conversation(
    recording: Recording, rows: Callable[[RecordedConversation], Iterable[Row]]
) -> Iterator[Row]:
    """Yield the rows of every conversation of a session, each with its conversation."""
    for number, conversation in enumerate(recording.conversations, 1):
        place = {"format": recording.format, "number": number, "conversation": conversation.name}
        for row in rows(conversation):
            yield {**place, **row}


def add_up(rows: Iterable[Row], *names: str) -> Totals:
    """Add up columns of rows, by their names, and count the rows as "conversations"."""
    totals: Totals = dict.fromkeys(("conversations", *names), 0)
    for row in rows:
        totals["conversations"] += 1
        for name in names:
            totals[name] += row.get(name) or 0
    return totals


_KINDS: Final = {kind: f"{kind.replace(' ', '_')}_tokens" for kind in KINDS}
_COUNTS: Final = ("messages", "user_messages", "tool_calls", "tool_errors")
_TOKENS: Final = ("tokens", "prompt_tokens", "schema_tokens", "waste_tokens", *_KINDS.values())


@frozen
class Scan:
    """
    Count messages, calls and tokens of every conversation.

    ``prompt_tokens`` and ``schema_tokens`` are what is sent besides the messages;
    ``waste_tokens`` what is there twice or was overtaken.

    Args:
        model: Count tokens as this model does.
    """

    model: str | None = None

    name: ClassVar[str] = "scan"
    order: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[dict[str, str]] = {
        "format": "text",
        "counter": "text",
        **dict.fromkeys((*_COUNTS, *_TOKENS), "int"),
    }

    def start(self) -> Work:
        """Return what makes a row of every conversation."""
        return lambda recording: each_conversation(recording, lambda one: [self._row(one)])

    def totals(self, rows: Iterable[Row]) -> Totals:
        """Add up counts and tokens."""
        return add_up(rows, *_COUNTS, *_TOKENS)

    def _row(self, conversation: RecordedConversation) -> Row:
        there = conversation.transcript
        messages, counter = there.messages, counter_for(there, self.model)
        parts = [part for message in messages for part in message.parts]
        kinds = {share.name: share.tokens for share in by_kind(messages, counter)}
        return {
            "counter": counter.name,
            "messages": len(messages),
            "user_messages": sum(message.role == "user" for message in messages),
            "tool_calls": sum(isinstance(part, ToolCall) for part in parts),
            "tool_errors": sum(isinstance(part, ToolResult) and part.is_error for part in parts),
            "tokens": counter.messages(messages),
            "prompt_tokens": counter.overhead(there.system, ()),
            "schema_tokens": counter.overhead("", there.tools),
            "waste_tokens": sum(share.tokens for share in waste(messages, counter)),
            **{column: kinds.get(kind, 0) for kind, column in _KINDS.items()},
        }
