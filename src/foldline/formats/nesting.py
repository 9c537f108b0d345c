"""Hostile nesting: values so deep that no JSON writer reaches their end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from foldline.errors import InputError


@contextmanager
def bounded_nesting() -> Iterator[None]:
    """
    Name the reason when a value is nested deeper than the interpreter follows.

    Raises:
        InputError: Instead of the RecursionError.
    """
    try:
        yield
    except RecursionError as error:
        raise InputError(
            "a value is nested too deeply",
            hint="Flatten it; no model reads hundreds of levels.",
        ) from error
