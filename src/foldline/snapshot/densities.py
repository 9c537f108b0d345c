"""Densities: what a statement is worth for its size, beside an account of the same messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from foldline.lazy import lazy_pattern
from foldline.relevance.names import items
from foldline.snapshot.sources import SourceText
from foldline.snapshot.statements import Slice
from foldline.snapshot.worth import SIZE_POWER, Judge

OVERLAP: Final = 0.75
"""
What a statement loses of its worth whose words all stand in an account; of one with half of them
it loses a quarter of that where it has names that the account lacks, else two thirds.
"""

WORD: Final = lazy_pattern(r"[^\W_]{4,}|\d+")
ASCII_WORD: Final = lazy_pattern("[a-z0-9]{4,}|[0-9]+")
"""
Words and figures by which it is told whether a statement repeats another text, and the same of
texts in lower case without any other letters.
"""


class Densities:
    """
    Says what statements are worth over their size.

    Args:
        judge: Says what they are worth.
        account: What a model wrote of the same; what it says is worth less.
    """

    def __init__(self, judge: Judge, account: str = "") -> None:
        self.judge = judge
        self.account_words = frozenset(WORD.findall(account.lower()))
        self.account_names = frozenset(items(account))

    def of(
        self,
        source: SourceText,
        slices: Sequence[Slice],
        costs: Sequence[float],
        extras: Mapping[int, float],
    ) -> Iterator[float]:
        """
        Judge the statements of a text.

        Args:
            source: The text.
            slices: Where they begin and end in it, in order.
            costs: What each takes, in tokens.
            extras: What is added to the worth of some, by their number.
        """
        for line, worth in enumerate(self.judge.worths(source, slices)):
            worth += extras.get(line, 0.0)
            if self.account_words:
                worth *= self._novelty(source.text[slice(*slices[line])])
            yield worth / costs[line] ** SIZE_POWER

    def _novelty(self, text: str) -> float:
        """Return what is left of a statement's worth beside an account of the same."""
        words = set(WORD.findall(text.lower()))
        if not words:
            return 1.0
        known = len(words & self.account_words) / len(words)
        # Exact values that the account lacks come first.
        exact = not items(text).keys() <= self.account_names
        return 1 - OVERLAP * known ** (2 if exact else 0.5)
