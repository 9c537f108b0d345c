"""How much each sign of relevance counts."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from foldline.errors import BudgetError


@dataclass(frozen=True, slots=True)
class Weights:
    """
    The weights of one search, in the order of what they are worth.

    Scores of words and meaning are divided by their spread before they are weighed, so that
    queries of many and of few words are comparable; author and date are 0 to 1 by nature. Fitted
    on long conversations, each left out in turn (bench/retrieval.py); the optimum is flat.

    Args:
        words: The document's own terms.
        around: Its terms and those of its neighbours together.
        meaning: Similarity of its vector.
        meaning_around: Similarity of its vector and those of its neighbours, on average.
        author: The query names who wrote it.
        date: It happened when the query says, or soon after.
        question: It only asks; counts against it.

    Raises:
        BudgetError: A weight is negative or no number.
    """

    words: float = 0.25
    around: float = 0.55
    meaning: float = 0.45
    meaning_around: float = 0.65
    author: float = 2.3
    date: float = 3.0
    question: float = 0.7

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not isinstance(value, int | float) or not isfinite(value) or value < 0:
                raise BudgetError(f"the weight {name!r} must be a number from 0 up, not {value!r}")
