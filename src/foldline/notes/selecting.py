"""Choosing among the notes there are: by what is known about them, newest first, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from foldline.notes.drafting import checked, tags_of
from foldline.notes.note import Card, Kind, Level, Status
from foldline.notes.problems import Trouble, UnknownNote

Known = TypeVar("Known", bound=Card)

SHORTEST_PART: Final = 4
"""Characters at the end of an id that may stand for it; ids made together begin alike."""

RECENT: Final = 5


@dataclass(frozen=True, slots=True)
class NoteSummary:
    """How many notes there are, by type, level and status, and those that changed last."""

    total: int
    by_type: Mapping[str, int]
    by_level: Mapping[str, int]
    by_status: Mapping[str, int]
    recent: tuple[Card, ...]
    troubles: tuple[Trouble, ...]


def summed(cards: Iterable[Card], troubles: tuple[Trouble, ...]) -> NoteSummary:
    """Count notes, and the files that are none."""
    ordered = newest(cards)
    return NoteSummary(
        len(ordered),
        dict(Counter(card.type for card in ordered)),
        dict(Counter(card.level for card in ordered)),
        dict(Counter(card.status for card in ordered if card.status)),
        ordered[:RECENT],
        troubles,
    )


def newest(cards: Iterable[Known]) -> tuple[Known, ...]:
    """Return notes, the one that was changed last first."""
    return tuple(sorted(cards, key=lambda card: card.newest_first, reverse=True))


def fitting(
    type: Kind | None,  # noqa: A002  # as the front matter calls it
    level: Level | None,
    tags: Iterable[str],
    status: Status | None = None,
) -> Callable[[Card], bool]:
    """
    Return what tells whether a note is of a type, a level and a status, and has one of some tags.

    Raises:
        InputError: There is no such type or level.
    """
    checked(type=type, level=level)
    wanted = set(tags_of(tags))
    return lambda card: (
        type in (None, card.type)
        and level in (None, card.level)
        and status in (None, card.status)
        and (not wanted or not wanted.isdisjoint(card.tags))
    )


def ending_in(part: str, ids: Iterable[str]) -> str:
    """
    Return the one id that is this, or ends so.

    Raises:
        UnknownNote: None does, or several do.
    """
    known, wanted = list(ids), part.strip().upper()
    if part in known:
        return part
    found = {one for one in known if one.upper().endswith(wanted)}
    if len(found) != 1 or len(wanted) < SHORTEST_PART:
        raise UnknownNote(part)
    return found.pop()
