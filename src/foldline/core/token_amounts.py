"""Amounts of tokens as people write them: 8000, "8k", "1.5M", or "50%" of what there is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from foldline.core.errors import BudgetError

_AMOUNT: Final = re.compile(r"([0-9]{1,12}(?:[_,][0-9]{3}){0,4}(?:\.[0-9]{1,6})?)\s*([kKmM%]?)")
_FACTORS: Final = {"": 1, "k": 1_000, "m": 1_000_000}


@dataclass(frozen=True, slots=True)
class Amount:
    """
    A number of tokens, or a share of what there is.

    Args:
        text: As it was written.
        tokens: The number, 0 where a share was given.
        share: The share as a fraction, 0 where a number was given.
    """

    text: str
    tokens: int = 0
    share: float = 0.0

    @classmethod
    def parse(cls, text: str, *, shares: bool = True) -> Amount:
        """
        Read an amount.

        Args:
            text: Such as "8000", "8k" or "25%".
            shares: Whether a percentage makes sense.

        Raises:
            BudgetError: It is no amount, or leaves no room for anything.
        """
        word = text.strip()
        amount = _read(word, shares)
        if amount is None:
            share = ", 8k or 25%" if shares else " or 200k"
            raise BudgetError(f"{word[:40]!r} is no amount: write tokens such as 8000{share}.")
        if not (amount.tokens or amount.share):
            raise BudgetError(f"{word[:40]!r} leaves no room for anything; it must be more.")
        return amount

    def of(self, whole: int) -> int:
        """Return the number of tokens, of ``whole`` tokens where a share was given; at least 1."""
        return max(1, int(self.share * whole)) if self.share else self.tokens


def _read(text: str, shares: bool) -> Amount | None:
    if text.startswith("-") and _AMOUNT.fullmatch(text[1:]):
        return Amount(text)  # a negative number is understood, and refused like zero
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return None
    number, unit = float(re.sub("[_,]", "", found[1])), found[2].lower()
    if unit == "%":
        return Amount(text, share=number / 100) if shares else None
    return Amount(text, tokens=int(number * _FACTORS[unit]))
