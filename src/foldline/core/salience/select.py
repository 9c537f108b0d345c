"""Cover what is likely to be needed, line by line, under a budget of tokens."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from foldline.core.salience.items import items
from foldline.core.salience.lines import Line

LINE_TOKENS = 2.0
"""What a line takes besides its text, in tokens: the line feed and the attention it asks for."""


@dataclass(slots=True)
class Candidate:
    """
    A line with what it offers and what it costs.

    ``weight`` multiplies the value of its items, ``base`` is added to it. ``cost`` is in tokens,
    an estimate until it is ``counted``.
    """

    line: Line
    items: tuple[str, ...]
    cost: float
    weight: float = 1.0
    base: float = 0.0
    counted: bool = False


def candidates(
    found: Iterable[Line],
    values: Mapping[str, float],
    cost: Callable[[Line], float],
    weight: Callable[[Line], tuple[float, float]],
) -> list[Candidate]:
    """
    Judge lines.

    Args:
        found: The lines.
        values: Probability of use by item.
        cost: Tokens that a line takes.
        weight: Factor and base value of a line.

    Returns:
        Candidates that have any value; of lines with the same text only the newest.
    """
    newest: dict[str, Candidate] = {}
    for line in found:
        named = tuple(item for item in items(line.text) if item in values)
        factor, base = weight(line)
        if named or base > 0:
            newest.pop(line.text, None)
            newest[line.text] = Candidate(line, named, cost(line) + LINE_TOKENS, factor, base)
    return list(newest.values())


def select(
    offered: Sequence[Candidate],
    values: Mapping[str, float],
    budget: float,
    covered: Iterable[str] = (),
    opening: Callable[[Line], float] = lambda _: 0.0,
    exact: Callable[[str], int] | None = None,
) -> list[Candidate]:
    """
    Choose lines greedily by the value that is not covered yet, per token.

    This is the lazy greedy algorithm for covering under a knapsack (Minoux 1978): values only
    fall as lines are chosen, so a stale value is an upper bound and is recomputed when it leads.

    Args:
        offered: The candidates.
        values: Probability of use by item.
        budget: Tokens to spend.
        covered: Items that are shown anyway.
        opening: Extra tokens for the first line chosen from a message.
        exact: Counts the tokens of a line that leads; None to trust its estimated cost.

    Returns:
        The chosen candidates, best first.
    """
    fresh = {item: values[item] for candidate in offered for item in candidate.items}
    fresh.update(dict.fromkeys(fresh.keys() & set(covered), 0.0))
    opened: set[int] = set()

    def price(candidate: Candidate) -> float:
        extra = 0.0 if candidate.line.message in opened else opening(candidate.line)
        return candidate.cost + extra

    def worth(candidate: Candidate) -> float:
        value = sum(map(fresh.__getitem__, candidate.items))
        return (candidate.weight * value + candidate.base) / price(candidate)

    heap = [(-worth(candidate), order) for order, candidate in enumerate(offered)]
    heapq.heapify(heap)
    chosen: list[Candidate] = []
    left = budget
    smallest = min((candidate.cost for candidate in offered), default=0.0)
    while heap and left >= smallest:
        _, order = heapq.heappop(heap)
        candidate = offered[order]
        if exact and not candidate.counted:
            candidate.counted = True
            candidate.cost = exact(candidate.line.text) + LINE_TOKENS
        now = worth(candidate)
        if now <= 0 or price(candidate) > left:
            continue
        if heap and now < -heap[0][0]:
            heapq.heappush(heap, (-now, order))
            continue
        left -= price(candidate)
        opened.add(candidate.line.message)
        fresh.update(dict.fromkeys(candidate.items, 0.0))
        chosen.append(candidate)
    return chosen
