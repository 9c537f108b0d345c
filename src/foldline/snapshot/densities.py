"""Densities: what a statement is worth for its size, beside an account of the same messages."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Final

from foldline.lazy_patterns import lazy_pattern
from foldline.relevance.names import items
from foldline.snapshot.sources import SourceText
from foldline.snapshot.worth import SIZE_POWER, Judge, cost

OVERLAP: Final = 0.75
"""
What a statement loses of its worth whose words all stand in an account; of one with half of them
it loses a quarter of that where it has names that the account lacks, else two thirds.
"""

WORD: Final = lazy_pattern(r"[^\W_]{4,}|\d+")
"""Words and figures by which it is told whether a statement repeats another text."""


class Densities:
    """
    Returns the worth of a statement over its size.

    Args:
        judge: Says what it is worth.
        sources: The texts.
        account: What a model wrote of the same; what it says is worth less.
    """

    def __init__(self, judge: Judge, sources: Sequence[SourceText], account: str = "") -> None:
        self.judge, self.sources = judge, sources
        self.account_words = frozenset(WORD.findall(account.lower()))
        self.account_names = frozenset(items(account))
        self.words = array("d")
        self.firsts = array("I")
        self.extras: dict[int, float] = {}

    def add(self, first: int, words: Sequence[float], extras: Mapping[int, float]) -> None:
        """Note what the words of the next source are worth, and what is added to that."""
        self.firsts.append(first)
        self.words.extend(words)
        self.extras.update((first + place, extra) for place, extra in extras.items())

    def __call__(self, number: int, index: int, start: int, end: int) -> float:
        """
        Judge a statement.

        Args:
            number: Its number among those of all sources.
            index: The number of its source.
            start: Where it begins in that.
            end: Where it ends.
        """
        source, line = self.sources[index], number - self.firsts[index]
        worth = self.judge.worth(source, (start, end), line, self.words[number])
        worth += self.extras.get(number, 0.0)
        if self.account_words:
            worth *= self._novelty(source.text[start:end])
        return worth / float(cost(source, start, end) ** SIZE_POWER)

    def _novelty(self, text: str) -> float:
        """Return what is left of a statement's worth beside an account of the same."""
        words = set(WORD.findall(text.lower()))
        if not words:
            return 1.0
        known = len(words & self.account_words) / len(words)
        # Exact values that the account lacks come first.
        exact = not items(text).keys() <= self.account_names
        return 1 - OVERLAP * known ** (2 if exact else 0.5)
