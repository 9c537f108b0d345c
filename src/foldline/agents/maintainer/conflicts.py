"""Where the layers contradict each other, or say the same thing twice; and which one is right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeAlias

from foldline.agents.maintainer.pointers import Pointer, pointer_in
from foldline.agents.maintainer.routing import Authority
from foldline.memory.items import MemoryItem, fingerprint
from foldline.notes import Note
from foldline.tools.files.root import Root

Kind: TypeAlias = Literal["changed", "gone", "disagree", "twice"]

MOST: Final = 5_000
"""Notes and memories that are compared."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """
    Two layers that do not go together.

    ``changed`` and ``gone``: a note or memory was taken from a place that is another now; the
    workspace is right. ``disagree``: two notes about the same place saw different content there,
    or a person and the agent noted it; ``right`` names the one to believe. ``twice``: a memory
    says what a note says; the note stays.
    """

    kind: Kind
    ids: tuple[str, ...]
    right: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def authority_of(note: Note) -> Authority:
    """Return who vouches for a note; what nobody marked was written by a person."""
    return "agent" if "agent" in note.tags else "person"


def conflicts(
    notes: Iterable[Note], items: Iterable[MemoryItem], root: Root
) -> tuple[Conflict, ...]:
    """
    Compare notes and memories with the workspace and with each other.

    Args:
        notes: All notes, the newest first.
        items: All memories.
        root: The codebase.
    """
    some_notes, some_items = list(notes)[:MOST], list(items)[:MOST]
    return (
        *_with_workspace(some_notes, some_items, root),
        *_between_notes(some_notes),
        *_said_twice(some_notes, some_items),
    )


def _with_workspace(notes: list[Note], items: list[MemoryItem], root: Root) -> Iterator[Conflict]:
    known: dict[Pointer, str] = {}
    sourced = [(note.id, note.title, note.source) for note in notes]
    sourced += [(item.id, item.content[:60], item.source) for item in items]
    for name, title, source in sourced:
        pointer = pointer_in(source)
        if pointer is None:
            continue
        if pointer not in known:
            known[pointer] = pointer.standing(root)
        if known[pointer] == "changed":
            why = f"{title!r}: {pointer.where} was changed since"
            yield Conflict("changed", (name,), "workspace", why)
        elif known[pointer] == "gone":
            why = f"{title!r}: {pointer.where} is not there any more"
            yield Conflict("gone", (name,), "workspace", why)


def _between_notes(notes: list[Note]) -> Iterator[Conflict]:
    """Notes of one type about one place: what they saw differs, or who vouches for them."""
    by_place: dict[tuple[str, str], Note] = {}
    for note in notes:
        pointer = pointer_in(note.source)
        if pointer is None:
            continue
        place = (note.type, pointer.where)
        other = by_place.setdefault(place, note)
        if other is note:
            continue
        mine, theirs = authority_of(note), authority_of(other)
        if note.source == other.source and mine == theirs:
            continue
        right = note if (mine, theirs) == ("person", "agent") else other
        why = f"two notes of the type {note.type} about {pointer.where}"
        yield Conflict("disagree", (other.id, note.id), right.id, why)


def _said_twice(notes: list[Note], items: list[MemoryItem]) -> Iterator[Conflict]:
    said = {fingerprint(text): note for note in notes for text in (note.content, note.title)}
    for item in items:
        note = said.get(fingerprint(item.content))
        if note is not None:
            why = f"a memory repeats the note {note.title!r}"
            yield Conflict("twice", (note.id, item.id), note.id, why)
