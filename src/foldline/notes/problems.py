"""What can be wrong with notes: errors that stop a call, and troubles that are only told."""

from __future__ import annotations

from dataclasses import dataclass

from foldline.errors import InputError, StoreError


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


@dataclass(frozen=True, slots=True)
class Trouble:
    """A file of the folder that is no note, and why; it is left alone."""

    name: str
    why: str
