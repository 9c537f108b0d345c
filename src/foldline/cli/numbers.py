"""Options that take a number: what is none is answered with the numbers that are."""

from __future__ import annotations

from typing import Any

import click


class Whole(click.IntRange):
    """A whole number; both ends of its range may be left open."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a number, or say which numbers there are."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(_refusal(value, "a whole number", self), param, ctx)


class Number(click.FloatRange):
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
