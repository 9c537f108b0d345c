"""The tables of the archive, and the numbered steps that lead to them; steps only go forward."""

from __future__ import annotations

from typing import Final

from foldline.sqlite.schema import Schema

APPLICATION_ID: Final = 0x464F4C44
"""Marks a SQLite file as Foldline's: "FOLD" in ASCII."""

_FIRST: Final = (
    # Content-addressed: ``hash`` is of the content, ``size`` its length before compression.
    """
    CREATE TABLE blobs (
        id INTEGER PRIMARY KEY,
        hash BLOB NOT NULL UNIQUE,
        codec INTEGER NOT NULL,
        size INTEGER NOT NULL,
        data BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE sessions (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        dialect TEXT NOT NULL,
        model TEXT NOT NULL,
        window INTEGER,
        created REAL NOT NULL,
        updated REAL NOT NULL,
        generation INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE messages (
        session INTEGER NOT NULL REFERENCES sessions (id),
        seq INTEGER NOT NULL,
        id TEXT NOT NULL,
        role TEXT NOT NULL,
        time REAL NOT NULL,
        pinned INTEGER NOT NULL,
        usage TEXT,
        wire INTEGER NOT NULL REFERENCES blobs (id),
        form INTEGER REFERENCES blobs (id),
        PRIMARY KEY (session, seq)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX messages_by_id ON messages (id)",
    """
    CREATE TABLE batches (
        session INTEGER NOT NULL REFERENCES sessions (id),
        number INTEGER NOT NULL,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        time REAL NOT NULL,
        undone_at INTEGER,
        edits INTEGER NOT NULL REFERENCES blobs (id),
        receipt INTEGER NOT NULL REFERENCES blobs (id),
        PRIMARY KEY (session, number)
    ) WITHOUT ROWID
    """,
)

_MEMORY: Final = (
    # What was prepared for the next compaction of a session, and what a batch took over of that.
    # The content stands here rather than among the blobs: what was prepared anew replaces it.
    """
    CREATE TABLE memories (
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES sessions (id),
        until TEXT NOT NULL,
        digest TEXT NOT NULL,
        at INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        time REAL NOT NULL,
        hash BLOB NOT NULL,
        codec INTEGER NOT NULL,
        size INTEGER NOT NULL,
        data BLOB NOT NULL
    )
    """,
    "CREATE INDEX memories_by_session ON memories (session)",
    "ALTER TABLE batches ADD COLUMN memory INTEGER REFERENCES memories (id)",
    "ALTER TABLE batches ADD COLUMN repeats INTEGER NOT NULL DEFAULT 1",
)

_CHECKPOINTS: Final = (
    # What was shown after a batch. Programs of the version before delete sessions without it.
    """
    CREATE TABLE checkpoints (
        session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        at INTEGER NOT NULL,
        hash BLOB NOT NULL,
        codec INTEGER NOT NULL,
        size INTEGER NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (session, number)
    )
    """,
)

_LOCKS: Final = (
    # What tells the key of an encrypted archive from another one; no row where nothing is.
    """
    CREATE TABLE locks (
        "only" INTEGER PRIMARY KEY DEFAULT 1 CHECK ("only" = 1),
        check_value TEXT NOT NULL
    ) WITHOUT ROWID
    """,
)

MIGRATIONS: Final = (_FIRST, _MEMORY, _CHECKPOINTS, _LOCKS)
"""The statements of each step; a file of version n has had the first n steps."""

ARCHIVE: Final = Schema(APPLICATION_ID, MIGRATIONS, "archive")
