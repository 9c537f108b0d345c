"""Who stands beside whom: the neighbours of a document in its conversation or file."""

from __future__ import annotations

from bisect import bisect_left, insort
from functools import lru_cache
from typing import Final

BEFORE: Final = 3
AFTER: Final = 2
"""
Neighbours that are looked at with a document. An answer rarely repeats the words of the question
that asked for it; measured on long chats, 2 to 4 before and 1 to 2 after do best.
"""

FADING: Final = {-3: 0.4, -2: 0.6, -1: 0.8, 0: 1.0, 1: 0.6, 2: 0.3}
"""How much of the meaning of a neighbour, by its distance, is taken for that of a document."""


class Neighbours:
    """The groups of numbered documents, each in its order."""

    def __init__(self) -> None:
        self._groups: dict[str, list[tuple[float, int]]] = {}
        self._seats: dict[int, tuple[str, float]] = {}
        self._pairs = 0

    def add(self, number: int, group: str, place: float) -> None:
        """Seat a document; one without a group stands alone."""
        if not group:
            return
        seats = self._groups.setdefault(group, [])
        self._pairs += _pairs(len(seats) + 1) - _pairs(len(seats))
        insort(seats, (place, number))
        self._seats[number] = group, place

    def remove(self, number: int) -> None:
        """Take a document from its seat."""
        seat = self._seats.pop(number, None)
        if seat is None:
            return
        group, place = seat
        seats = self._groups[group]
        self._pairs += _pairs(len(seats) - 1) - _pairs(len(seats))
        del seats[bisect_left(seats, (place, number))]
        if not seats:
            del self._groups[group]

    def window(self, number: int) -> list[int]:
        """Return a document and the neighbours that are looked at with it."""
        return self._near(number, BEFORE, AFTER)

    def windows(self, number: int) -> list[int]:
        """Return the documents with which this one is looked at, itself included."""
        return self._near(number, AFTER, BEFORE)

    def mean_size(self, documents: int) -> float:
        """Return how many documents are looked at together, on average."""
        return 1 + self._pairs / max(documents, 1)

    def _near(self, number: int, before: int, after: int) -> list[int]:
        seat = self._seats.get(number)
        if seat is None:
            return [number]
        group, place = seat
        seats = self._groups[group]
        at = bisect_left(seats, (place, number))
        return [one for _, one in seats[max(0, at - before) : at + after + 1]]


@lru_cache(maxsize=1_000)
def _pairs(size: int) -> int:
    """Return how many neighbours the members of a group have together."""
    steps = (*range(1, BEFORE + 1), *range(1, AFTER + 1))
    return sum(max(0, size - step) for step in steps)
