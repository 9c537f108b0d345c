"""
Windows: the part of a line that is worth its tokens.

A line that is long is cut to a run of its words around the items that are wanted. So that the run
still tells what the line said, at least `SHARE` of its words are in it or stand beside it, in the
parts of the neighbouring lines that it shares a row with. A line that forbids or restricts
something stays whole: without its "not" it would say the opposite.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from math import ceil
from sys import intern

from foldline.core.names import blanked, items_of, mentions

SHARE = 0.6
"""Fraction of the different words of a line that is left of it at least."""

RESTRICTS = re.compile(
    r"\b(?:not?|never|only|unless|except|without|cannot|neither|nor|avoid|\w+n['\u2019]t)\b|[不勿禁别仅只没未无非]|除非|必须",
    re.IGNORECASE,
)

WORD = re.compile(r"\w+")
# Words and items together, so that a window which begins with one cuts no word.
_NAME = re.compile(r"[\w./@~+-]{3,}")
_JOINED = re.compile(r"[\w./@~+:,=%$#-]+")


@dataclass(frozen=True, slots=True)
class Window:
    """A run of characters of a line; ``value`` is what its items are worth."""

    start: int
    stop: int
    value: float


@dataclass(frozen=True, slots=True)
class Words:
    """
    A line taken apart.

    ``names`` are the runs of characters that name an item for the first time. ``words`` are all
    words, ``starts`` where they begin, and ``least`` is how many different ones are to be left.
    """

    line: str
    names: Sequence[tuple[int, int, tuple[str, ...]]]
    starts: Sequence[int]
    words: Sequence[str]
    least: int

    @classmethod
    def of(cls, line: str, missing: int = 0) -> Words:
        """Take a line apart that has lost some words, such as its number, already."""
        # Thousands of lines are taken apart at once, and share most of their words.
        words = list(map(intern, WORD.findall(line)))
        least = ceil(SHARE * (len(set(words)) + missing))
        return cls(line, _names(line), _starts(line, words), words, least)

    def tells(self, start: int, stop: int, least: int, said: Set[str]) -> bool:
        """Tell whether a run of characters holds enough words that are not said already."""
        if least <= 0:
            return True
        low, high = bisect_left(self.starts, start), bisect_left(self.starts, stop)
        return high - low >= least and len(set(self.words[low:high]) - said) >= least

    def widened(self, start: int, stop: int, least: int, said: Set[str]) -> tuple[int, int]:
        """Widen a run, word by word at both ends in turn, until it holds enough."""
        low, high = bisect_left(self.starts, start), bisect_left(self.starts, stop)
        held = set(self.words[low:high]) - said
        while len(held) < least and (low > 0 or high < len(self.words)):
            if high < len(self.words):
                held |= {self.words[high]} - said
                high += 1
            if low > 0 and len(held) < least:
                low -= 1
                held |= {self.words[low]} - said
        end = self.starts[high - 1] + len(self.words[high - 1])
        return min(start, self.starts[low]), max(stop, end)

    def window(self, start: int, stop: int, value: float) -> Window:
        """Make a run a window; it does not begin or end inside of 12,000 or of retries=3."""
        line = self.line
        while start and _JOINED.fullmatch(line, start - 1, start + 1):
            start -= 1
        run = _JOINED.match(line, stop - 1)
        return Window(start, run.end() if run else stop, value)


def _names(line: str) -> list[tuple[int, int, tuple[str, ...]]]:
    found = []
    seen = set[str]()
    for match in _NAME.finditer(line):
        name = match[0]
        items = items_of(name) if name.isascii() else tuple(mentions(blanked(name)))
        # Naming it again is worth nothing.
        fresh = tuple(item for item in dict.fromkeys(items) if item not in seen)
        if fresh:
            seen.update(fresh)
            found.append((*match.span(), fresh))
    return found


def _starts(line: str, words: Iterable[str]) -> list[int]:
    # Finding words again is faster than asking every match for its place.
    found, place, find = [], 0, line.find
    for word in words:
        place = find(word, place)
        found.append(place)
        place += len(word)
    return found


def best_window(
    line: Words, values: Mapping[str, float], said: Set[str], price: float, extra: float
) -> Window | None:
    """
    Find a run of words that offers much for its tokens.

    The run from the first to the last name that is wanted is shortened, from the end that offers
    less, as long as that raises what a token offers and enough of the line is left.

    Args:
        line: The line.
        values: What every item is worth.
        said: Words that stand beside it already.
        price: Tokens for each character.
        extra: Tokens that any window takes besides its characters.

    Returns:
        The window; None if nothing in the line is wanted.
    """
    wanted = [
        (start, stop, value)
        for start, stop, items in line.names
        if (value := sum(map(values.__getitem__, items))) > 0
    ]
    if not wanted:
        return None
    value = sum(worth for _, _, worth in wanted)
    first, last = 0, len(wanted) - 1
    missing = line.least - len(said & set(line.words))
    if not line.tells(wanted[0][0], wanted[-1][1], missing, said):
        return line.window(*line.widened(wanted[0][0], wanted[-1][1], missing, said), value)
    while first < last:
        (start, _, left), (_, stop, right) = wanted[first], wanted[last]
        tokens = (stop - start) * price + extra
        after_left = (value - left) / (tokens - (wanted[first + 1][0] - start) * price)
        after_right = (value - right) / (tokens - (stop - wanted[last - 1][1]) * price)
        if max(after_left, after_right) <= value / tokens:
            break
        ends = (first + 1, last) if after_left >= after_right else (first, last - 1)
        if not line.tells(wanted[ends[0]][0], wanted[ends[1]][1], missing, said):
            break
        value -= left if after_left >= after_right else right
        first, last = ends
    return line.window(wanted[first][0], wanted[last][1], value)
