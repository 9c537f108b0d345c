"""The database port of stores: statements and transactions, for SQLite and PostgreSQL."""

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
Column types of SQLite and PostgreSQL: generated keys, keys never reused, keys given with the row;
texts ordered by code point, and others; numbers; bytes; and the suffix of a table whose rows are
found only by their key.
"""


def sqlite_tables(statements: Iterable[str]) -> tuple[str, ...]:
    """Return the statements for SQLite; names in braces are replaced by `TYPES`."""
    return _fill(statements, 0)


def postgres_tables(statements: Iterable[str]) -> tuple[str, ...]:
    """Return the statements for PostgreSQL; see `sqlite_tables`."""
    return _fill(statements, 1)


def _fill(statements: Iterable[str], database: int) -> tuple[str, ...]:
    types = {name: both[database] for name, both in TYPES.items()}
    return tuple(one.format_map(types) for one in statements)


class Rows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """The number of rows changed."""
        ...

    def fetchone(self) -> Any:
        """Return the next row, None after the last."""
        ...

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""
        ...

    def fetchmany(self, size: int, /) -> list[Any]:
        """Return up to ``size`` next rows."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """Runs statements, with ``?`` or ``:name`` as placeholders of values."""

    def execute(self, statement: str, parameters: Parameters = (), /) -> Rows:
        """Run one statement."""
        ...

    def executemany(self, statement: str, parameters: Iterable[Parameters], /) -> Any:
        """Run one statement for each set of values."""
        ...


class Database(Protocol):
    """A database shared by several processes. Every method raises StoreError."""

    def reading(self) -> AbstractContextManager[Connection]:
        """Begin a read-only transaction on one snapshot of the database."""
        ...

    def writing(self) -> AbstractContextManager[Connection]:
        """Begin an atomic, durable write transaction."""
        ...

    def size(self) -> int:
        """Return its size on disk, in bytes."""
        ...

    def close(self) -> None:
        """Close the database; closing twice is allowed."""
        ...
