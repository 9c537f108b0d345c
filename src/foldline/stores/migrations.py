"""The tables of the archive, and the numbered steps that lead to them; steps only go forward."""

from __future__ import annotations

import sqlite3
from typing import Final

from foldline.core.errors import StoreError

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

MIGRATIONS: Final = (_FIRST, _MEMORY)
"""The statements of each step; a file of version n has had the first n steps."""


def migrate(connection: sqlite3.Connection, name: str) -> None:
    """
    Bring a file to the newest version, in one transaction.

    Args:
        connection: In autocommit mode.
        name: What to call the file in messages.

    Raises:
        StoreError: The file is another program's, or a newer Foldline's.
    """
    if _current(connection, name):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again: another process may have migrated while this one waited for the lock.
        for step in MIGRATIONS[_version(connection, name) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _current(connection: sqlite3.Connection, name: str) -> bool:
    """Look at one moment of the file: another process may be in the middle of making it."""
    connection.execute("BEGIN")
    try:
        return _version(connection, name) == len(MIGRATIONS)
    finally:
        connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection, name: str) -> int:
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if owner != APPLICATION_ID and (owner or version or tables):
        raise StoreError(
            f"{name} is a database of another program.",
            hint="Name another file for the archive; this one was left as it is.",
        )
    if version > len(MIGRATIONS):
        raise StoreError(
            f"{name} was written by a newer Foldline (archive version {version}, this one knows "
            f"{len(MIGRATIONS)}).",
            hint="Upgrade: pip install --upgrade foldline",
        )
    return int(version)
