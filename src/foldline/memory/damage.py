"""Reading rows of memories and knowledge: whatever is wrong with one is one error in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from foldline.errors import UNREADABLE, StoreError


@contextmanager
def reading_rows() -> Iterator[None]:
    """
    Read what stands in rows; no code of the user runs inside.

    Raises:
        StoreError: It is something else than was written.
    """
    try:
        yield
    except UNREADABLE as error:
        raise _damage_error(f"{type(error).__name__}: {error}"[:300]) from error


def as_bytes(value: object) -> bytes:
    """
    Return what a column of bytes holds; ``bytes()`` would make as many of them as a number says.

    Raises:
        StoreError: It is something else.
    """
    if not isinstance(value, bytes):
        raise _damage_error(f"a {type(value).__name__} stands in the place of bytes")
    return value


def _damage_error(why: str) -> StoreError:
    return StoreError(
        f"What is remembered is damaged: {why}.",
        hint="Restore the file from a backup.",
        damaged=True,
    )
