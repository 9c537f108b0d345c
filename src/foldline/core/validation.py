"""Shared checks of settings: whole numbers, fractions, names."""

from __future__ import annotations

import math
from collections.abc import Iterable

from foldline.errors import BudgetError

MOST = 10**12
"""Maximum value of any setting."""


def whole(name: str, value: object, least: int = 0) -> None:
    """
    Check that a setting is a whole number.

    Args:
        name: Its name in errors.
        value: The setting.
        least: The minimum.

    Raises:
        BudgetError: It is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:
        raise BudgetError(
            f"{name} must be a whole number from {least} on, not {_format_value(value)}.",
            hint=f"Give {least} or more.",
        )


def positive(name: str, value: object, most: float = float(MOST)) -> None:
    """
    Check that a setting is a number from 0 to ``most``.

    Raises:
        BudgetError: It is not.
    """
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 <= value <= most:  # type: ignore[arg-type, operator]  # a number
        raise BudgetError(
            f"{name} must be a number from 0 to {most:g}, not {_format_value(value)}.",
            hint="Give a number in that range.",
        )


def check_name(what: str, value: object, known: Iterable[str]) -> None:
    """
    Check that a setting is one of some names.

    Args:
        what: The kind of name in errors, such as "policy".
        value: The setting.
        known: The known names.

    Raises:
        BudgetError: The name is unknown; the error suggests a similar one.
    """
    names = tuple(known)
    if value not in names:
        raise BudgetError(
            f"There is no {what} {_format_value(value)}.",
            hint=f"{suggest_name(str(value), names)}Known: {', '.join(names)}.",
        )


def suggest_name(word: str, known: Iterable[str]) -> str:
    """Return "Did you mean …? " with the most similar name; "" if none is similar."""
    from difflib import get_close_matches  # only needed for errors

    near = get_close_matches(word[:80].casefold(), [*known], 1)
    return f"Did you mean {near[0]!r}? " if near else ""


def _format_value(value: object) -> str:
    """Return a value as short text for an error."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
