"""Types of option values: numbers, token amounts, lengths of time and file sizes."""

from __future__ import annotations

import re
from typing import Any, Final

import click

from foldline.core.budget import Amount
from foldline.errors import BudgetError
from foldline.sql import is_url


class IntegerType(click.IntRange):
    """A whole number; both ends of its range may be left open."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a number, or say which numbers there are."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(_refusal(value, "a whole number", self), param, ctx)


class NumberType(click.FloatRange):
    """A number such as 0.2; both ends of its range may be left open."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a number, or say which numbers there are."""
        try:
            found = super().convert(value, param, ctx)
        except click.BadParameter:
            found = None
        if found is None or found != found:  # no range refuses nan
            self.fail(_refusal(value, "a number", self), param, ctx)
        return found


class PlaceType(click.Path):
    """A file as a path, or the URL of a PostgreSQL database as it is."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a path, or return a URL."""
        return value if is_url(value) else super().convert(value, param, ctx)


def _refusal(value: Any, what: str, wanted: click.IntRange | click.FloatRange) -> str:
    least, most = wanted.min, wanted.max
    start = "above" if wanted.min_open else "from"
    if least is None:
        numbers = what
    elif most is None:
        numbers = f"{what} {start} {least:,}" + ("" if wanted.min_open else " on")
    else:
        numbers = f"{what} {start} {least:,} to {most:,}"
    return f"{str(value)[:40]!r} is not {numbers}."


_WRITTEN: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([a-zA-Z]{1,3})")


class UnitType(click.ParamType):  # type: ignore[type-arg]  # since click 8.5 only
    """
    Reads a number with a unit.

    Args:
        name: What it is a number of.
        units: What each unit is worth, in lower case.
        example: How one is written.
    """

    def __init__(self, name: str, units: dict[str, float], example: str) -> None:
        self.name = name
        self._units = units
        self._example = example

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Turn the text of an option into a number, or say how one is written."""
        if isinstance(value, (int, float)):
            return float(value)
        text = str(value).strip()
        found = _WRITTEN.fullmatch(text)
        worth = self._units.get(found[2].lower()) if found else None
        if found is None or worth is None:
            self.fail(f"{text[:40]!r} is no {self.name}: write {self._example}.", param, ctx)
        number = float(found[1]) * worth
        if not number:
            self.fail(f"{text[:40]!r} would keep nothing at all.", param, ctx)
        return number


PERIOD: Final = UnitType(
    "length of time",
    {"m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0, "y": 31_557_600.0},
    "30d, 12h or 8w",
)
"""A length of time, in seconds."""

SIZE: Final = UnitType(
    "size", {"kb": 1e3, "mb": 1e6, "gb": 1e9, "k": 1e3, "m": 1e6, "g": 1e9}, "500MB or 2GB"
)
"""A size, in bytes."""


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


class BudgetsType(click.ParamType):  # type: ignore[type-arg]  # since click 8.5 only
    """Reads several amounts, separated by commas."""

    name = "amounts"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Amount, ...]:
        """Turn the text of an option into amounts, each once."""
        if isinstance(value, tuple):
            return value
        words = [word for word in str(value).split(",") if word.strip()]
        if not 1 <= len(words) <= MAX_BUDGETS:
            self.fail(f"give 1 to {MAX_BUDGETS} budgets, such as {DEFAULT_BUDGETS}.", param, ctx)
        return tuple(dict.fromkeys(BUDGET.convert(word, param, ctx) for word in words))


DEFAULT_BUDGETS: Final = "5%,10%,20%"

MAX_BUDGETS: Final = 12

BUDGETS: Final = BudgetsType()
