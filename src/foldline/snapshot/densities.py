"""Densities: what a statement is worth for its size, beside an account of the same messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

SHORTEST: Final = 4
"""Letters and digits of a word, at least, by which it is told whether a text repeats another."""

NO_WORD: Final = -1
"""The number of all words that are too short."""

_WORD = lazy_pattern(r"[^\W_]{4,}|\d+")
_FIGURE = lazy_pattern("[0-9]+")
_LETTER_ELSEWHERE = lazy_pattern(r"[^\W_\x00-\x7f]")
_BLANKED: Final = bytes(code if chr(code).isalnum() else ord(" ") for code in range(128)) + bytes(
    128
)


class WordNumbers(dict[str, int]):
    """
    The number of every word seen so far; ``figures`` says by number whether it is a figure.

    Of short words only figures count, also where they stand beside letters.
    """

    def __init__(self) -> None:
        super().__init__()
        self.figures = bytearray()

    def __missing__(self, word: str) -> int:
        number, is_figure = len(self), word.isdigit()
        if len(word) < SHORTEST and not is_figure:
            figure = _FIGURE.search(word)
            number = self[figure[0]] if figure else NO_WORD
        self.figures.append(is_figure)
        self[word] = number
        return number

    def of(self, text: str) -> set[int]:
        """Return the words of a text, each as its number."""
        text = text.lower()
        if not text.isascii() and _LETTER_ELSEWHERE.search(text):
            return set(map(self.__getitem__, _WORD.findall(text)))
        # Ten times as fast as a pattern.
        words = text.encode("ascii", "replace").translate(_BLANKED).decode("ascii").split()
        found = set(map(self.__getitem__, words))
        found.discard(NO_WORD)
        return found


class Densities:
    """
    Says what statements are worth over their size.

    Args:
        judge: Says what they are worth.
        account: What a model wrote of the same; what it says is worth less.
    """

    def __init__(self, judge: Judge, account: str = "") -> None:
        self.judge = judge
        self._words = WordNumbers()
        self.account_words = self._words.of(account)
        self.account_names = frozenset(items(account))

    def of(
        self,
        source: SourceText,
        slices: Sequence[Slice],
        costs: Sequence[float],
        extras: Mapping[int, float],
    ) -> list[float]:
        """
        Judge the statements of a text.

        Args:
            source: The text.
            slices: Where they begin and end in it, in order.
            costs: What each takes, in tokens.
            extras: What is added to the worth of some, by their number.
        """
        worths = list(self.judge.worths(source, slices))
        if extras:
            worths = [worth + extras.get(line, 0.0) for line, worth in enumerate(worths)]
        if self.account_words:
            texts = (source.text[start:end] for start, end in slices)
            worths = [
                worth * self._novelty(text) for worth, text in zip(worths, texts, strict=True)
            ]
        return [worth / cost**SIZE_POWER for worth, cost in zip(worths, costs, strict=True)]

    def _novelty(self, text: str) -> float:
        """Return what is left of a statement's worth beside an account of the same."""
        words = self._words.of(text)
        if not words:
            return 1.0
        known = len(words & self.account_words) / len(words)
        # Exact values that the account lacks come first.
        exact = not items(text).keys() <= self.account_names
        return 1 - OVERLAP * known ** (2 if exact else 0.5)
