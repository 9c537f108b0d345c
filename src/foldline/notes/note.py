"""A note: its metadata, its content, and the errors of notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Final, Literal, Self, TypeAlias, get_args

from foldline.errors import InputError, StoreError
from foldline.frozen import frozen

Kind: TypeAlias = Literal["task_state", "conclusion", "blocker", "action", "reference", "general"]
Level: TypeAlias = Literal["temporary", "task", "project"]
Status: TypeAlias = Literal["pending", "running", "done", "failed", "cancelled"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
STATUSES: Final[tuple[Status, ...]] = get_args(Status)

RELEVANCE: Final[Mapping[Kind, float]] = {
    "blocker": 0.9,
    "action": 0.8,
    "task_state": 0.75,
    "conclusion": 0.7,
    "reference": 0.6,
    "general": 0.6,
}
"""The importance of a note for continuing the work, by its type; from 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteMetadata:
    """
    The metadata of a note.

    ``version`` counts its changes from 1. ``level`` is its lifetime: temporary, the task, or the
    project. ``source`` is its origin, such as a file and line; ``merged`` holds the ids of the
    notes merged into it. A note with a ``status`` is a task: ``needs`` holds the ids of the tasks
    it depends on, ``attempts`` counts its starts, ``outcome`` is its result or the reason for its
    failure. ``extra`` are unknown fields of the front matter, kept as they are.
    """

    id: str
    title: str
    type: Kind = "general"
    level: Level = "task"
    tags: tuple[str, ...] = ()
    created_at: datetime
    updated_at: datetime
    version: int = 1
    status: Status | None = None
    needs: tuple[str, ...] = ()
    attempts: int = 0
    outcome: str = ""
    source: str = ""
    merged: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def newest_first(self) -> tuple[float, str]:
        """The sort key, in descending order."""
        return self.updated_at.timestamp(), self.id

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values, with ``id`` also as ``note_id``."""
        out: dict[str, Any] = {"note_id": self.id}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name in OPTIONAL and not value:
                continue
            if isinstance(value, datetime):
                value = value.isoformat(timespec="milliseconds")
            out[one.name] = list(value) if isinstance(value, tuple) else value
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(NoteMetadata):
    """A note with its content, in Markdown."""

    content: str = ""

    @classmethod
    def of(cls, metadata: NoteMetadata, content: str) -> Self:
        """Return a note with this metadata and content."""
        known = {one.name: getattr(metadata, one.name) for one in fields(NoteMetadata)}
        return cls(**known, content=content)


OPTIONAL: Final = ("status", "needs", "attempts", "outcome", "source", "merged", "extra")
"""Fields that are omitted if they are empty."""


class UnknownNote(InputError):
    """
    No note has this id.

    Args:
        id: The requested id.
        hint: Where it might be.
    """

    def __init__(
        self,
        id: str,  # noqa: A002  # the name of the field
        hint: str = "List or search names the ids.",
    ) -> None:
        super().__init__(f"there is no note {id[:80]!r}", field="note_id", hint=hint)


class BrokenNote(InputError):
    """A file cannot be read as a note; it is left as it is."""


class NoteConflict(StoreError):
    """The note was changed concurrently; nothing was written."""


class CyclicTasks(InputError):
    """
    Tasks would depend on each other.

    Args:
        cycle: The ids of the tasks, each depending on the next; the first is repeated at the end.
        titles: Their titles.
    """

    def __init__(self, cycle: tuple[str, ...], titles: tuple[str, ...]) -> None:
        super().__init__(
            f"these tasks would depend on each other: {' → '.join(titles)}",
            field="needs",
            hint="Remove one of these dependencies.",
        )
        self.cycle = cycle


@frozen
class SkippedFile:
    """A file of the folder that is not a note, and the reason; it is left alone."""

    name: str
    why: str
