"""Ranking: all statements of a history, in arrays, because one object each would be too many."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

from foldline.snapshot.statements import Slice


class Statement(NamedTuple):
    """A slice of a source, with its worth over its size and what it takes in tokens."""

    density: float
    cost: float
    source: int
    start: int
    end: int


class Ranking:
    """
    Statements, numbered as they are added, and their order: the greatest density first, of equal
    ones the later. ``densities``, ``costs`` and ``sources`` are read by number.
    """

    def __init__(self) -> None:
        self.densities, self.costs = array("d"), array("d")
        self.sources, self._starts, self._ends = array("I"), array("I"), array("I")
        self._order = array("I")

    def add(
        self,
        source: int,
        slices: Sequence[Slice],
        costs: Iterable[float],
        densities: Iterable[float],
    ) -> None:
        """
        Add the statements of a source.

        Args:
            source: Its number.
            slices: Where they begin and end in it.
            costs: What each takes, in tokens.
            densities: What each is worth over its size.
        """
        self.costs.extend(costs)
        self.densities.extend(densities)
        self.sources.extend(repeat(source, len(slices)))
        self._starts.extend([start for start, _ in slices])
        self._ends.extend([end for _, end in slices])

    @property
    def order(self) -> array[int]:
        """The numbers of all statements in their order."""
        if len(self._order) < len(self.densities):
            numbers = range(len(self.densities) - 1, -1, -1)
            self._order = array("I", sorted(numbers, key=self.densities.__getitem__, reverse=True))
        return self._order

    def place_of(self, number: int) -> Slice:
        """Return where a statement stands in its source."""
        return self._starts[number], self._ends[number]

    def __getitem__(self, number: int) -> Statement:
        return Statement(
            self.densities[number],
            self.costs[number],
            self.sources[number],
            self._starts[number],
            self._ends[number],
        )

    def __iter__(self) -> Iterator[Statement]:
        return map(self.__getitem__, self.order)
