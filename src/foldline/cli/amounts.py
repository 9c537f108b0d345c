"""Options that take an amount of tokens: ``8000``, ``8k``, ``50%``."""

from __future__ import annotations

from typing import Any, Final

import click

from foldline.core.budget import Amount
from foldline.errors import BudgetError


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
        try:
            return Amount.parse(str(value), shares=self._shares)
        except BudgetError as error:
            self.fail(error.message, param, ctx)


BUDGET: Final = AmountType(shares=True)
WINDOW: Final = AmountType(shares=False)
