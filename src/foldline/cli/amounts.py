"""Amounts on the command line: ``8000``, ``8k``, ``1.5M`` tokens, or ``50%`` of what there is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import click

_AMOUNT: Final = re.compile(r"([0-9]{1,12}(?:[_,][0-9]{3}){0,4}(?:\.[0-9]{1,6})?)\s*([kKmM%]?)")
_FACTORS: Final = {"": 1, "k": 1_000, "m": 1_000_000}


@dataclass(frozen=True, slots=True)
class Amount:
    """
    A number of tokens, or a share of what there is.

    Args:
        text: As the user wrote it.
        tokens: The number, 0 where a share was given.
        share: The share as a fraction, 0 where a number was given.
    """

    text: str
    tokens: int = 0
    share: float = 0.0

    def of(self, whole: int) -> int:
        """Return the number of tokens, of ``whole`` tokens where a share was given; at least 1."""
        return max(1, int(self.share * whole)) if self.share else self.tokens


class AmountType(click.ParamType):  # type: ignore[type-arg]  # since click 8.5 only
    """
    Reads an amount.

    Args:
        shares: Whether a percentage makes sense.
    """

    name = "amount"

    def __init__(self, *, shares: bool) -> None:
        self._shares = shares

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Amount:
        """Turn the text of an option into an amount, or say what would be one."""
        if isinstance(value, Amount):
            return value
        text = str(value).strip()
        amount = self._read(text)
        if amount is None:
            share = ", 8k or 25%" if self._shares else " or 200k"
            self.fail(f"{text[:40]!r} is no amount: write tokens such as 8000{share}.", param, ctx)
        if not (amount.tokens or amount.share):
            self.fail(f"{text[:40]!r} leaves no room for anything; it must be more.", param, ctx)
        return amount

    def _read(self, text: str) -> Amount | None:
        if text.startswith("-") and _AMOUNT.fullmatch(text[1:]):
            return Amount(text)  # a negative number is understood, and refused like zero
        found = _AMOUNT.fullmatch(text)
        if found is None:
            return None
        number, unit = float(re.sub("[_,]", "", found[1])), found[2].lower()
        if unit == "%":
            return Amount(text, share=number / 100) if self._shares else None
        return Amount(text, tokens=int(number * _FACTORS[unit]))


BUDGET: Final = AmountType(shares=True)
WINDOW: Final = AmountType(shares=False)
