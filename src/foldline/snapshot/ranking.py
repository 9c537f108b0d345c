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
    """Statements in the order of their density, the greatest first; of equal ones the later."""

    def __init__(self) -> None:
        self._densities, self._costs = array("d"), array("d")
        self._sources, self._starts, self._ends = array("I"), array("I"), array("I")
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
        self._costs.extend(costs)
        self._densities.extend(densities)
        self._sources.extend(repeat(source, len(slices)))
        self._starts.extend([start for start, _ in slices])
        self._ends.extend([end for _, end in slices])

    def __iter__(self) -> Iterator[Statement]:
        if len(self._order) < len(self._densities):
            numbers = range(len(self._densities) - 1, -1, -1)
            ranked = sorted(numbers, key=self._densities.__getitem__, reverse=True)
            self._order = array("I", ranked)
        return map(
            Statement,
            map(self._densities.__getitem__, self._order),
            map(self._costs.__getitem__, self._order),
            map(self._sources.__getitem__, self._order),
            map(self._starts.__getitem__, self._order),
            map(self._ends.__getitem__, self._order),
        )
