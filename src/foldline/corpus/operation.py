"""The operation on every session: from a recording to rows of a table, without state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final, Protocol, TypeAlias

from foldline.formats.recording import RecordedConversation, Recording

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
The columns of every table: the session of a row and its offset in the file, in bytes;
the conversation, counted from 1, with its name; and the error if a row has no other values.
"""


class Operation(Protocol):
    """
    A kind of run. The same recording and settings always give the same rows.

    ``columns`` maps the names of the values in a row to their types: text, int or float.
    """

    name: ClassVar[str]
    columns: ClassVar[dict[str, str]]
    order: ClassVar[tuple[str, ...]]

    def start(self) -> Work:
        """Prepare a worker once, and return a function that makes the rows of a session."""
        ...

    def totals(self, rows: Iterable[Row]) -> Totals:
        """Add up the rows of one session."""
        ...


def each_conversation(
    recording: Recording, rows: Callable[[RecordedConversation], Iterable[Row]]
) -> Iterator[Row]:
    """Yield the rows of every conversation of a session, with its number and name."""
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
