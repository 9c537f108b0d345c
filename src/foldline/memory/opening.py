"""Which database keeps the memories of a place: a SQLite file, or PostgreSQL."""

from __future__ import annotations

import os
from typing import Final

from foldline.memory.tables import SCHEMA
from foldline.sql import Database, is_url

_FIRST: Final = (
    """
    CREATE TABLE users (
        name text COLLATE "C" PRIMARY KEY,
        era bigint NOT NULL DEFAULT 0,
        clock bigint NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE memories (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        "user" text COLLATE "C" NOT NULL,
        id text COLLATE "C" NOT NULL,
        revision bigint NOT NULL,
        kind text NOT NULL,
        content text NOT NULL,
        importance double precision NOT NULL,
        happened double precision NOT NULL,
        added double precision NOT NULL,
        expires double precision,
        tokens bigint NOT NULL,
        session text NOT NULL,
        author text NOT NULL,
        source text NOT NULL,
        parents text NOT NULL,
        seen bigint NOT NULL,
        metadata text NOT NULL,
        fingerprint bytea NOT NULL,
        terms text NOT NULL,
        cut text NOT NULL,
        vector bytea,
        model text NOT NULL,
        state text NOT NULL,
        ended double precision,
        reason text NOT NULL,
        changed bigint NOT NULL,
        UNIQUE ("user", id, revision)
    )
    """,
    """
    CREATE INDEX memories_alike ON memories ("user", fingerprint, kind) WHERE state = 'live'
    """,
    """
    CREATE INDEX memories_live ON memories ("user", kind, happened) WHERE state = 'live'
    """,
    """
    CREATE INDEX memories_changed ON memories ("user", changed)
    """,
)


def open_memory(place: str | os.PathLike[str]) -> Database:
    """
    Open the database of memories at a path or a URL; it is made where it is missing.

    Raises:
        StoreError: It cannot be opened, or is no memory.
        MissingExtra: The extra ``postgres`` is not installed.
    """
    if isinstance(place, str) and is_url(place):
        from foldline.postgres.database import PostgresDatabase
        from foldline.postgres.schema import PostgresSchema

        return PostgresDatabase(place, PostgresSchema("foldline_memory", (_FIRST,), "memory"))
    from foldline.sqlite.database import SqliteDatabase as SqliteDatabase

    return SqliteDatabase(place, SCHEMA)
