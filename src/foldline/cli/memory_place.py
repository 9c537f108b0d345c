"""Which memory the commands of ``foldline memory`` mean, and what they share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from foldline.cli import options
from foldline.cli.output import counted
from foldline.errors import StoreError
from foldline.memory import Memory


@dataclass(frozen=True, slots=True)
class Place:
    """Which memory is meant."""

    file: Path
    user: str


@contextmanager
def opened(place: Place, /, *, make: bool = False) -> Iterator[Memory]:
    """
    Open the memory.

    Raises:
        StoreError: There is none, and none is to be made.
    """
    if make:
        options.make_folder(place.file)
    elif not place.file.exists():
        raise StoreError(
            f"There is no memory {place.file}.",
            hint="'foldline memory add' makes it, --file or FOLDLINE_HOME names another.",
        )
    with Memory.open(place.file, user=place.user) as memory:
        yield memory


def seconds(when: datetime | None) -> float | None:
    """Return a time as seconds since 1970; a date without a zone is in UTC."""
    return None if when is None else when.replace(tzinfo=UTC).timestamp()


def memories(number: int) -> str:
    """Write a number of memories."""
    return counted(number, "memory") if number == 1 else f"{number:,} memories"
