"""The tables of memories in SQLite and PostgreSQL, opening them, and reading their rows."""

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
"""A revision is what is remembered, was replaced by a later one, or was forgotten."""

_TABLES: Final = (
    # ``clock`` counts the changes of a user; what was changed since an index was built has a
    # higher one. ``era`` changes when everything of the user was erased.
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
    # What is indexed: changes up to ``indexed_clock`` of an era, so many live memories and terms.
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
    # What filters ask about, of the thousands that words lead to: read from the index alone.
    """
    CREATE INDEX memories_facts ON memories (number)
        INCLUDE ("user", kind, importance, happened, expires, session) WHERE state = 'live'
    """,
)

POSTGRES: Final = PostgresSchema("foldline_memory", (postgres_tables(_TABLES), _SEARCH), "memory")

NEAR_TABLES: Final = (
    # What filters ask about stands beside the vectors: the index of vectors leads to their rows.
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
    Open the database at a path or a URL; it is created if it is missing.

    Args:
        place: The SQLite file, or the URL of a PostgreSQL database.
        file: What a file holds.
        server: What a schema of a PostgreSQL database holds.

    Raises:
        StoreError: It cannot be opened, or holds something else.
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
