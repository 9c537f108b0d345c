"""
Ranking: all statements of a history, in arrays, because one object each would be too many.

Most of them are never looked at: their order follows from bounds, which are cheap, and a statement
is judged when nothing before it can be worth more.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import repeat
from math import inf
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
    Statements in the order of their density, the greatest first; of equal ones the later first.

    Args:
        judge: Returns the density of a statement, given its number and where it stands (source,
            begin, end); it is below its bound, or 0.
    """

    def __init__(self, judge: Callable[[int, int, int, int], float]) -> None:
        self._judge = judge
        self._densities, self._costs = array("d"), array("d")
        self._sources, self._starts, self._ends = array("I"), array("I"), array("I")
        self._judged = bytearray()
        self._order = array("I")

    def add(
        self, source: int, slices: Sequence[Slice], costs: Sequence[float], bounds: Sequence[float]
    ) -> None:
        """
        Add the statements of a source; they are numbered from 0 through all sources.

        Args:
            source: Its number.
            slices: Where they begin and end in it.
            costs: What each takes, in tokens.
            bounds: What the density of each is below.
        """
        self._densities.extend(bounds)
        self._judged.extend(bytes(len(slices)))
        self._costs.extend(costs)
        self._sources.extend(repeat(source, len(slices)))
        self._starts.extend([start for start, _ in slices])
        self._ends.extend([end for _, end in slices])

    def __len__(self) -> int:
        return len(self._densities)

    def _place(self, number: int) -> tuple[int, int, int]:
        return self._sources[number], self._starts[number], self._ends[number]

    def __iter__(self) -> Iterator[Statement]:
        return self.within(lambda: inf)

    def within(self, space: Callable[[], float]) -> Iterator[Statement]:
        """
        Yield the statements that fit.

        Args:
            space: Returns what there is room for by now, in tokens; it never grows.
        """
        return map(self._statement, self._numbers(space))

    def _statement(self, number: int) -> Statement:
        return Statement(self._densities[number], self._costs[number], *self._place(number))

    def _numbers(self, space: Callable[[], float]) -> Iterator[int]:
        self._sort()
        densities, costs, judged = self._densities, self._costs, self._judged
        least = min(costs, default=0.0)
        waiting: list[tuple[float, int]] = []
        for number in self._order:
            density = -densities[number]
            while waiting and waiting[0] < (density, -number):
                yield -heappop(waiting)[1]
            left = space()
            if costs[number] > left:
                if left < least:
                    return
            elif judged[number] and not waiting:
                yield number
            else:
                heappush(waiting, (-self._settle(number), -number))
        while waiting:
            yield -heappop(waiting)[1]

    def _settle(self, number: int) -> float:
        """Put the density of a statement in the place of its bound."""
        if not self._judged[number]:
            self._judged[number] = 1
            self._densities[number] = self._judge(number, *self._place(number))
        return self._densities[number]

    def _sort(self) -> None:
        """Put the statements in order, as far as that is known."""
        numbers = range(len(self) - 1, -1, -1)
        self._order = array("I", sorted(numbers, key=self._densities.__getitem__, reverse=True))
