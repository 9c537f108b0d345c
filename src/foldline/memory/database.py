"""The tables of memories in SQLite and PostgreSQL, and functions to open and read them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from foldline.errors import UNREADABLE, StoreError
from foldline.memory.term_index import TERM_ENTRIES, TERM_TABLES
from foldline.memory.vector_index import EMBEDDERS
from foldline.postgres.schema import PostgresSchema
from foldline.sql import Database, is_url, postgres_tables, sqlite_tables
from foldline.sqlite import Schema

LIVE, SUPERSEDED, FORGOTTEN = "live", "superseded", "gone"
"""A revision is current, was replaced by a later one, or was forgotten."""

_TABLES: Final = (
    # ``clock`` counts the changes of a user; rows changed since an index was built have a
    # higher value. ``era`` changes when all memories of the user are erased.
    """
    CREATE TABLE users (
        name {label} PRIMARY KEY,
        era {whole} NOT NULL DEFAULT 0,
        clock {whole} NOT NULL DEFAULT 0
    ) {by_key}
    """,
    """
    CREATE TABLE memories (
        number {rising_key},
        "user" {label} NOT NULL,
        id {label} NOT NULL,
        revision {whole} NOT NULL,
        kind {text} NOT NULL,
        content {text} NOT NULL,
        importance {real} NOT NULL,
        happened {real} NOT NULL,
        added {real} NOT NULL,
        expires {real},
        tokens {whole} NOT NULL,
        session {text} NOT NULL,
        author {text} NOT NULL,
        source {text} NOT NULL,
        parents {text} NOT NULL,
        seen {whole} NOT NULL,
        metadata {text} NOT NULL,
        fingerprint {bytes} NOT NULL,
        terms {text} NOT NULL,
        cut {text} NOT NULL,
        vector {bytes},
        model {text} NOT NULL,
        state {text} NOT NULL,
        ended {real},
        reason {text} NOT NULL,
        changed {whole} NOT NULL,
        UNIQUE ("user", id, revision)
    )
    """,
    """CREATE INDEX memories_alike ON memories ("user", fingerprint, kind) WHERE state = 'live'""",
    """CREATE INDEX memories_live ON memories ("user", kind, happened) WHERE state = 'live'""",
    """CREATE INDEX memories_changed ON memories ("user", changed)""",
)

SCHEMA: Final = Schema(0x464F4C4D, (sqlite_tables(_TABLES),), "memory")
"""Marked "FOLM" in ASCII."""


_SEARCH: Final = (
    # The indexed state: changes up to ``indexed_clock`` of an era, with counts of live memories
    # and their terms.
    """
    ALTER TABLE users
        ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY,
        ADD COLUMN indexed_era bigint NOT NULL DEFAULT 0,
        ADD COLUMN indexed_clock bigint NOT NULL DEFAULT 0,
        ADD COLUMN indexed_memories bigint NOT NULL DEFAULT 0,
        ADD COLUMN indexed_terms bigint NOT NULL DEFAULT 0
    """,
    *TERM_TABLES,
    *postgres_tables([EMBEDDERS]),
    f"""
    CREATE VIEW entries AS
        SELECT users.id AS space, memories.number, memories.happened, entries.term
        FROM memories JOIN users ON users.name = memories."user"
        CROSS JOIN LATERAL (
            SELECT '' AS term UNION ALL SELECT entry.term FROM {TERM_ENTRIES}
        ) AS entries
    """,  # noqa: S608  # a constant
    """
    CREATE INDEX memories_happened ON memories ("user", happened) WHERE state = 'live'
    """,
    """
    CREATE INDEX memories_seats ON memories ("user", session, happened, number)
        WHERE state = 'live'
    """,
    """
    CREATE INDEX memories_authors ON memories ("user", author) WHERE state = 'live'
    """,
    # The columns that filters use; for thousands of candidates only this index is read.
    """
    CREATE INDEX memories_facts ON memories (number)
        INCLUDE ("user", kind, importance, happened, expires, session) WHERE state = 'live'
    """,
)

POSTGRES: Final = PostgresSchema("foldline_memory", (postgres_tables(_TABLES), _SEARCH), "memory")

NEAR_TABLES: Final = (
    # The columns that filters use are stored beside the vectors: the vector index leads to them.
    """
    CREATE TABLE IF NOT EXISTS near (
        number bigint PRIMARY KEY,
        owner bigint NOT NULL,
        embedder bigint NOT NULL,
        importance double precision NOT NULL,
        happened double precision NOT NULL,
        expires double precision,
        kind text NOT NULL,
        session text NOT NULL,
        direction halfvec NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS near_happened ON near (owner, happened, importance, kind)",
    "CREATE INDEX IF NOT EXISTS near_sessions ON near (owner, session)",
    "CREATE INDEX IF NOT EXISTS near_important ON near (owner, importance)",
)


def open_memory(place: str | os.PathLike[str]) -> Database:
    """Open the database of memories at a path or a URL; see `open_database`."""
    return open_database(place, SCHEMA, POSTGRES)


def open_database(place: str | os.PathLike[str], file: Schema, server: PostgresSchema) -> Database:
    """
    Open the database at a path or a URL, and create it if it is missing.

    Args:
        place: The SQLite file, or the URL of a PostgreSQL database.
        file: The schema of a SQLite file.
        server: The schema of a PostgreSQL database.

    Raises:
        StoreError: It cannot be opened, or has another schema.
        MissingExtra: The extra ``postgres`` is not installed.
    """
    if is_url(place):
        from foldline.postgres.database import PostgresDatabase

        return PostgresDatabase(place, server)
    from foldline.sqlite import SqliteDatabase

    return SqliteDatabase(place, file)


@contextmanager
def reading_rows() -> Iterator[None]:
    """
    Convert errors in reading rows to `StoreError`; no user code may run inside.

    Raises:
        StoreError: A row does not have the expected values.
    """
    try:
        yield
    except UNREADABLE as error:
        raise _damage_error(f"{type(error).__name__}: {error}"[:300]) from error


def as_bytes(value: object) -> bytes:
    """
    Return the value of a bytes column; ``bytes()`` of a damaged number would allocate memory.

    Raises:
        StoreError: The value is not bytes.
    """
    if not isinstance(value, bytes):
        raise _damage_error(f"a {type(value).__name__} was found instead of bytes")
    return value


def _damage_error(why: str) -> StoreError:
    return StoreError(
        f"The memory database is damaged: {why}.",
        hint="Restore the file from a backup.",
        damaged=True,
    )
