"""Ranking: all statements of a history in arrays, because one object each would be too many."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Statement(NamedTuple):
    """A slice of a source, with its worth over its size and what it takes in tokens."""

    density: float
    cost: float
    source: int
    start: int
    end: int


class Ranking:
    """
    Statements in the order of their density, the greatest first.

    Args:
        statements: In the order of their sources; of equal ones the later stands first.
    """

    def __init__(self, statements: Iterable[Statement]) -> None:
        self._sizes = array("d")
        self._places = array("q")
        densities = array("d")
        for density, size, *place in statements:
            densities.append(density)
            self._sizes.append(size)
            self._places.extend(place)
        self._densities = densities
        self._order = array("q", sorted(range(len(densities)), key=densities.__getitem__))
        self._order.reverse()

    def __iter__(self) -> Iterator[Statement]:
        for number in self._order:
            place = self._places[3 * number : 3 * number + 3]
            yield Statement(self._densities[number], self._sizes[number], *place)
