"""What stores ask of a database, whichever it is: statements, and transactions around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol, TypeAlias, TypeGuard

Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any]


POSTGRES: Final = ("postgresql://", "postgres://")


def is_url(place: object) -> TypeGuard[str]:
    """Return True if a place is a PostgreSQL database rather than a file."""
    return isinstance(place, str) and place.startswith(POSTGRES)


_KEY: Final = "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"

TYPES: Final = {
    "key": ("INTEGER PRIMARY KEY", _KEY),
    "rising_key": ("INTEGER PRIMARY KEY AUTOINCREMENT", _KEY),
    "given_key": ("INTEGER PRIMARY KEY", "bigint PRIMARY KEY"),
    "label": ("TEXT", 'text COLLATE "C"'),
    "text": ("TEXT", "text"),
    "whole": ("INTEGER", "bigint"),
    "small": ("INTEGER", "smallint"),
    "real": ("REAL", "double precision"),
    "bytes": ("BLOB", "bytea"),
    "by_key": ("WITHOUT ROWID", ""),
}
"""
What SQLite and PostgreSQL say in a table for: keys that the database gives, that it never gives
again, that come with the row; texts that are ordered letter by letter, and others; numbers; bytes;
and the end of a table whose rows are found by their key alone.
"""


def sqlite_tables(statements: Iterable[str]) -> tuple[str, ...]:
    """Return statements that make tables for SQLite; in braces they have names of `TYPES`."""
    return _fill(statements, 0)


def postgres_tables(statements: Iterable[str]) -> tuple[str, ...]:
    """Return such statements for PostgreSQL."""
    return _fill(statements, 1)


def _fill(statements: Iterable[str], database: int) -> tuple[str, ...]:
    words = {name: both[database] for name, both in TYPES.items()}
    return tuple(one.format_map(words) for one in statements)


class Rows(Protocol):
    """What a statement found."""

    @property
    def rowcount(self) -> int:
        """How many rows a change touched."""
        ...

    def fetchone(self) -> Any:
        """Return the next row, None after the last."""
        ...

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""
        ...

    def fetchmany(self, size: int, /) -> list[Any]:
        """Return the next rows, at most so many."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """Runs statements; a value stands where they have a question mark, or ``:name``."""

    def execute(self, statement: str, parameters: Parameters = (), /) -> Rows:
        """Run one statement."""
        ...

    def executemany(self, statement: str, parameters: Iterable[Parameters], /) -> Any:
        """Run one statement for each set of values."""
        ...


class Database(Protocol):
    """A place for rows that several processes share. Every method raises StoreError."""

    def reading(self) -> AbstractContextManager[Connection]:
        """Look at one moment of the database."""
        ...

    def writing(self) -> AbstractContextManager[Connection]:
        """Change the database, all or nothing; what is committed stays."""
        ...

    def size(self) -> int:
        """Return what it takes on the disk, in bytes."""
        ...

    def close(self) -> None:
        """Close the database; closing twice is allowed."""
        ...
