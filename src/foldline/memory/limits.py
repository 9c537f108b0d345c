"""How much is remembered, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from foldline.errors import BudgetError


@dataclass(frozen=True, slots=True)
class MemoryLimits:
    """
    The bounds of a memory.

    Args:
        working_items: Working memories that are kept at a time.
        working_tokens: What they may take together, in tokens.
        working_seconds: How long each is kept.
        fade: Seconds after which a working memory counts half as much when one has to go.
        boost: What the importance is multiplied by when a memory is consolidated.
        longest: Characters of one memory.
        most: Memories that a search or a list returns at most.

    Raises:
        BudgetError: A number is none, or not positive.
    """

    working_items: int = 10
    working_tokens: int = 2_000
    working_seconds: float = 7_200.0
    fade: float = 3_600.0
    boost: float = 1.1
    longest: int = 100_000
    most: int = 1_000

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise BudgetError(f"{name} of a memory is {value!r}, which is no number")
            if not isfinite(value) or value <= 0:
                raise BudgetError(f"{name} of a memory is {value!r}; it has to be more than 0")
