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
"""How much a note matters for continuing the work, by its type; from 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteMetadata:
    """
    What is known about a note without reading it.

    ``version`` counts its changes from 1. ``level`` says how long it matters: for the moment, the
    task, or the project. ``source`` points to where it comes from, such as a file and line;
    ``merged`` holds the ids of the notes that were taken into it. A note with a ``status`` is a
    task: ``needs`` holds the ids of the tasks that come first, ``attempts`` counts how often it
    was begun, ``outcome`` is its result or why it failed. ``extra`` are fields of others in the
    front matter, kept as they are.
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
        """What to sort by, the greatest first."""
        return self.updated_at.timestamp(), self.id

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values; ``id`` is there under ``note_id`` as well."""
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
"""Fields that are not written where they say nothing."""


class UnknownNote(InputError):
    """
    No note has this id.

    Args:
        id: What was asked for.
        hint: Where it may be.
    """

    def __init__(
        self,
        id: str,  # noqa: A002  # what every note calls it
        hint: str = "List or search names the ids.",
    ) -> None:
        super().__init__(f"there is no note {id[:80]!r}", field="note_id", hint=hint)


class BrokenNote(InputError):
    """A file cannot be read as a note; it is left as it is."""


class NoteConflict(StoreError):
    """Somebody else changed what was to be changed; nothing was written."""


class CyclicTasks(InputError):
    """
    Tasks would wait for each other.

    Args:
        cycle: Ids of the tasks, each needing the next, the first one again at the end.
        titles: Their titles.
    """

    def __init__(self, cycle: tuple[str, ...], titles: tuple[str, ...]) -> None:
        super().__init__(
            f"these tasks would wait for each other: {' → '.join(titles)}",
            field="needs",
            hint="Leave out one of these dependencies.",
        )
        self.cycle = cycle


@frozen
class SkippedFile:
    """A file of the folder that is no note, and why; it is left alone."""

    name: str
    why: str
