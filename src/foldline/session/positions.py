"""Where the message with an id stands in the log; a long one is looked up in the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from threading import Lock
from typing import Final

from foldline.session.damage import reading
from foldline.stores.protocol import FindableIds

AT_ONCE: Final = 20_000
"""So many ids are read when a session is opened; those of a longer log when all are needed."""


class Positions(Mapping[str, int]):
    """
    The position of every message by its id, in order.

    It may be read in one thread while another one adds to it.

    Args:
        name: Of the session.
        ids: The ids that are stored.
    """

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        self._name = name
        self._ids = ids
        self._stored = ids if isinstance(ids, FindableIds) and len(ids) > AT_ONCE else None
        self._size = len(ids)
        self._known: dict[str, int] = {}
        self._adding = Lock()
        if self._stored is None:
            self._read()

    def _read(self) -> dict[str, int]:
        """Return all positions by id."""
        with self._adding, reading(self._name):
            early = list(self._ids)
            known = {number: position for position, number in enumerate(early)}
            if len(known) != len(early):
                raise ValueError("two messages have the same id")
            self._known = known | self._known
            self._stored, self._ids = None, ()
        return self._known

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[str]:
        return iter(self._known if self._stored is None else self._read())

    def __getitem__(self, number: str) -> int:
        stored = self._stored  # first: once it is None, everything is known
        found = self._known.get(number)
        if found is None and stored is not None:
            with reading(self._name):
                found = stored.find(number)
            if found is not None:
                self.note(number, found)
        if found is None:
            raise KeyError(number)
        return found

    def __contains__(self, number: object) -> bool:
        return number in self._known or (isinstance(number, str) and self.get(number) is not None)

    def since(self, start: int) -> Iterator[str]:
        """Yield the ids from a position on, in order."""
        ids = self._ids  # first: they are let go of when everything is known
        if self._stored is None:
            return islice(self, start, None)
        size = len(ids)
        with self._adding:
            late = [number for number, position in self._known.items() if position >= size]
        early = ids[start:] if start < size else ()
        return iter([*early, *late[max(0, start - size) :]])

    def note(self, number: str, position: int) -> None:
        """Remember where a message stands that was read, so that it is looked up once."""
        with self._adding:
            if self._stored is not None:
                self._known.setdefault(number, position)

    def add(self, number: str) -> None:
        """Add the id of a message that is new."""
        with self._adding:
            self._known[number] = self._size
            self._size += 1
