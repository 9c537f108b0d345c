"""Cover what is likely to be needed, line by line, under a budget of tokens."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import accumulate, repeat
from math import inf
from typing import TypeAlias

from foldline.core.names import blanked, mentions
from foldline.core.salience.windows import RESTRICTS, WORD, Window, Words, best_window

LINE_TOKENS = 1.5
"""What a line takes besides its text, in tokens: the line feed and the attention it asks for."""

SLACK = 0.85
ROW = 16
"""Lines beside each other whose parts share a row."""

SHORT = 48
"""Characters of a line that is never cut."""

POOL = 6.0
"""How many times the budget the best lines may take that are kept to choose from."""

TOO_LONG = 2.0
"""How many times the budget a line may be thought to take: the thought may be wrong."""

Worth: TypeAlias = tuple[float, float]
"""A factor for the value of a line's items, and a value of its own."""


@dataclass(frozen=True, slots=True)
class Offer:
    """
    Lines of one text.

    ``passage`` says which text, ``group`` what it belongs to, ``tokens_per_char`` what its lines
    cost. ``worth`` holds for all lines but those whose position ``marked`` names. Parts of its
    lines may stand for them if ``parts``; ``lost`` is how many words they have lost before. Those
    that ``whole`` names are never cut.
    """

    passage: int
    group: int
    lines: Sequence[str]
    tokens_per_char: float
    worth: Worth = (1.0, 0.0)
    marked: Mapping[int, Worth] = field(default_factory=dict)
    parts: bool = False
    lost: int = 0
    whole: Set[int] = frozenset()


Judged: TypeAlias = tuple[tuple[float, bool, int], tuple[float, Window | None]]
"""What a line was found to be worth, and what that depends on."""


@dataclass(slots=True)
class Candidate:
    """
    A line, or the part of one that was chosen, with what it offers and what it costs.

    ``passage``, ``number`` and ``start`` say where it stands, ``group`` what it belongs to.
    ``weight`` multiplies the value of its items, ``base`` is added to it. ``cost`` is in tokens,
    an estimate until it is ``counted``. A part of it may be chosen if ``parts``.
    """

    passage: int
    group: int
    number: int
    text: str
    items: tuple[str, ...]
    cost: float
    weight: float = 1.0
    base: float = 0.0
    parts: bool = False
    lost: int = 0
    start: int = 0
    counted: bool = False
    words: Words | None = None
    judged: Judged | None = None

    @property
    def price(self) -> float:
        """Tokens for each of its characters."""
        return (self.cost - LINE_TOKENS) / len(self.text)

    @property
    def row(self) -> tuple[int, int]:
        """The row that its part shares with parts of the lines beside it."""
        return self.passage, self.number // ROW

    @property
    def place(self) -> tuple[int, int, int]:
        """Where it stands, for putting candidates in order."""
        return self.passage, self.number, self.start


def candidates(
    offers: Iterable[Offer], values: Mapping[str, float], budget: float = inf
) -> list[Candidate]:
    """
    Judge lines.

    Args:
        offers: The lines, newest first.
        values: Probability of use by item.
        budget: What will be spent on them, in tokens: of very many lines the best are enough.

    Returns:
        Candidates that have any value, best first; of lines with the same text only one, of the
        first offer with it.
    """
    most = max(0.0, budget)
    pool = _Pool(most)
    seen = set[int]()
    for offer in offers:
        fresh = {line: number for number, line in enumerate(offer.lines) if hash(line) not in seen}
        if not fresh:
            continue
        seen.update(map(hash, fresh))
        plain = blanked("\n".join(fresh)).split("\n")
        marked, usual, per_char = offer.marked, offer.worth, offer.tokens_per_char
        # Of a line that the offer repeats, what is worth the most counts.
        best = sorted(marked, key=lambda number: marked[number][::-1])
        fresh.update((offer.lines[n], n) for n in best if offer.lines[n] in fresh)
        for (line, number), words in zip(fresh.items(), plain, strict=True):
            named = tuple(dict.fromkeys(mentions(words)))  # each counts once
            weight, base = marked.get(number, usual)
            value = weight * sum(map(values.get, named, _NOTHING)) + base
            cost = len(line) * per_char + LINE_TOKENS
            if value > 0 and (offer.parts or cost <= TOO_LONG * most):
                pool.add(value / cost, cost, (offer, line, number, named))
    return pool.best()


_NOTHING = repeat(0.0)
_Found: TypeAlias = tuple[Offer, str, int, tuple[str, ...]]
"""A line of an offer, its number and its items."""


class _Pool:
    """The best of many lines by what they offer a token, of which a budget will be spent."""

    def __init__(self, budget: float) -> None:
        self._budget, self._room = budget, POOL * budget
        self._taken = 0.0
        self._held: list[tuple[float, int, float, _Found]] = []
        self._number = 0

    def add(self, density: float, cost: float, found: _Found) -> None:
        self._number -= 1
        self._held.append((density, self._number, cost, found))
        self._taken += min(cost, self._budget)
        if self._taken > 2 * self._room:
            self._shrink()

    def _shrink(self) -> None:
        self._held.sort(reverse=True)
        taken = list(accumulate(min(cost, self._budget) for _, _, cost, _ in self._held))
        count = bisect_right(taken, self._room)
        del self._held[count:]
        self._taken = taken[count - 1] if count else 0.0

    def best(self) -> list[Candidate]:
        """Return what is left, best first."""
        self._shrink()
        return [_candidate(cost, *found) for _, _, cost, found in self._held]


def _candidate(
    cost: float, offer: Offer, line: str, number: int, named: tuple[str, ...]
) -> Candidate:
    weight, base = offer.marked.get(number, offer.worth)
    return Candidate(
        offer.passage,
        offer.group,
        number,
        line,
        named,
        cost,
        weight,
        base,
        offer.parts and len(line) > SHORT and number not in offer.whole,
        offer.lost,
    )


def select(
    offered: Sequence[Candidate],
    values: Mapping[str, float],
    budget: float,
    covered: Iterable[str] = (),
    opening: float = 0.0,
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
        opening: Extra tokens for the first line chosen from a group.
        exact: Counts the tokens of a line that leads; None to trust its estimated cost.

    Returns:
        The chosen candidates, best first.
    """
    for candidate in offered:
        candidate.judged = None  # what an earlier choice found depends on what was chosen there
    choice = _Choice(values, offered, covered, opening, exact)
    heap = [(-choice.bound(candidate), order) for order, candidate in enumerate(offered)]
    heapq.heapify(heap)
    chosen: list[Candidate] = []
    left = budget
    smallest = 1 + LINE_TOKENS
    while heap and left >= smallest:
        _, order = heapq.heappop(heap)
        candidate = offered[order]
        worth, window = choice.best(candidate)
        if worth <= 0:
            continue
        if heap and worth < SLACK * -heap[0][0]:
            heapq.heappush(heap, (-worth, order))
            continue
        part = candidate if window is None else _part(candidate, window)
        price = choice.price(part)
        if price > left:
            continue
        left -= price
        choice.take(part)
        chosen.append(part)
        if window is not None:
            # More of the line may follow; that it is shown at all is paid for now.
            candidate.base = 0.0
            heapq.heappush(heap, (-worth, order))
    return chosen


def _part(candidate: Candidate, window: Window) -> Candidate:
    text = candidate.text[window.start : window.stop]
    cost = candidate.price * len(text) + LINE_TOKENS
    named = tuple(dict.fromkeys(mentions(blanked(text))))
    return replace(candidate, text=text, items=named, cost=cost, start=window.start)


class _Choice:
    """What is chosen so far, and what a line is worth beside it."""

    def __init__(
        self,
        values: Mapping[str, float],
        offered: Iterable[Candidate],
        covered: Iterable[str],
        opening: float,
        exact: Callable[[str], int] | None,
    ) -> None:
        self._fresh = {item: values.get(item, 0.0) for c in offered for item in c.items}
        self._fresh.update(dict.fromkeys(self._fresh.keys() & set(covered), 0.0))
        self._opening, self._exact = opening, exact
        self._opened = set[int]()
        self._rows: dict[tuple[int, int], set[str]] = {}

    def bound(self, candidate: Candidate) -> float:
        """Return about the most that a candidate may offer a token."""
        value = candidate.weight * self._value(candidate.items) + candidate.base
        if not candidate.parts:
            return value / candidate.cost
        named = sum(map(len, candidate.items)) * candidate.price
        return value / (min(named, candidate.cost - LINE_TOKENS) + LINE_TOKENS)

    def best(self, candidate: Candidate) -> tuple[float, Window | None]:
        """Return what a candidate offers a token at most, and with which part; None for all."""
        named = self._value(candidate.items)
        value = candidate.weight * named + candidate.base
        if value <= 0:
            return 0.0, None
        if self._exact and not candidate.counted:
            candidate.counted = True
            candidate.cost = self._exact(candidate.text) + LINE_TOKENS
        if not candidate.parts:
            return value / self.price(candidate), None
        state = named, candidate.group in self._opened, len(self._said(candidate))
        if candidate.judged is None or candidate.judged[0] != state:
            candidate.judged = state, self._cut(candidate, value)
        return candidate.judged[1]

    def _cut(self, candidate: Candidate, value: float) -> tuple[float, Window | None]:
        if candidate.words is None:
            if RESTRICTS.search(candidate.text):
                candidate.parts = False
                return value / self.price(candidate), None
            candidate.words = Words.of(candidate.text, candidate.lost)
        whole = value / self.price(candidate)
        extra = LINE_TOKENS + (0.0 if candidate.group in self._opened else self._opening)
        window = best_window(
            candidate.words, self._fresh, self._said(candidate), candidate.price, extra
        )
        if window is None:
            return whole, None
        tokens = (window.stop - window.start) * candidate.price + extra
        worth = (candidate.weight * window.value + candidate.base) / tokens
        return (worth, window) if worth > whole else (whole, None)

    def price(self, candidate: Candidate) -> float:
        return candidate.cost + (0.0 if candidate.group in self._opened else self._opening)

    def take(self, part: Candidate) -> None:
        """Take a part as chosen: its items are covered."""
        self._opened.add(part.group)
        self._fresh.update(dict.fromkeys(part.items, 0.0))
        if part.parts:
            self._rows.setdefault(part.row, set()).update(WORD.findall(part.text))

    def _said(self, candidate: Candidate) -> Set[str]:
        return self._rows.get(candidate.row, _SILENCE)

    def _value(self, items: Iterable[str]) -> float:
        return sum(map(self._fresh.__getitem__, items))


_SILENCE: frozenset[str] = frozenset()
