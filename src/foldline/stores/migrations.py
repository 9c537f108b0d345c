"""The tables of the archive, as numbered migrations, which only go forward."""

from __future__ import annotations

from typing import Final

from foldline.postgres.schema import PostgresSchema
from foldline.sql import postgres_tables, sqlite_tables
from foldline.sqlite import Schema

APPLICATION_ID: Final = 0x464F4C44
"""Marks a SQLite file as Foldline's: "FOLD" in ASCII."""

_FIRST: Final = (
    # Content-addressed: ``hash`` is of the content, ``size`` its length before compression.
    """
    CREATE TABLE blobs (
        id {key},
        hash {bytes} NOT NULL UNIQUE,
        codec {small} NOT NULL,
        size {whole} NOT NULL,
        data {bytes} NOT NULL
    )
    """,
    """
    CREATE TABLE sessions (
        id {key},
        name {label} NOT NULL UNIQUE,
        dialect {text} NOT NULL,
        model {text} NOT NULL,
        "window" {whole},
        created {real} NOT NULL,
        updated {real} NOT NULL,
        generation {whole} NOT NULL
    )
    """,
    """
    CREATE TABLE messages (
        session {whole} NOT NULL REFERENCES sessions (id),
        seq {whole} NOT NULL,
        id {label} NOT NULL,
        role {text} NOT NULL,
        time {real} NOT NULL,
        pinned {small} NOT NULL,
        usage {text},
        wire {whole} NOT NULL REFERENCES blobs (id),
        form {whole} REFERENCES blobs (id),
        PRIMARY KEY (session, seq)
    ) {by_key}
    """,
    "CREATE INDEX messages_by_id ON messages (id)",
    """
    CREATE TABLE batches (
        session {whole} NOT NULL REFERENCES sessions (id),
        number {whole} NOT NULL,
        at {whole} NOT NULL,
        kind {text} NOT NULL,
        time {real} NOT NULL,
        undone_at {whole},
        edits {whole} NOT NULL REFERENCES blobs (id),
        receipt {whole} NOT NULL REFERENCES blobs (id),
        PRIMARY KEY (session, number)
    ) {by_key}
    """,
)

_MEMORY: Final = (
    # Prepared edits for the next compaction of a session, and those that a batch has adopted. The
    # content is stored here rather than as a blob, because a new preparation replaces it.
    """
    CREATE TABLE memories (
        id {key},
        session {whole} NOT NULL REFERENCES sessions (id),
        until {text} NOT NULL,
        digest {text} NOT NULL,
        at {whole} NOT NULL,
        generation {whole} NOT NULL,
        time {real} NOT NULL,
        hash {bytes} NOT NULL,
        codec {small} NOT NULL,
        size {whole} NOT NULL,
        data {bytes} NOT NULL
    )
    """,
    "CREATE INDEX memories_by_session ON memories (session)",
    "ALTER TABLE batches ADD COLUMN memory {whole} REFERENCES memories (id)",
    "ALTER TABLE batches ADD COLUMN repeats {whole} NOT NULL DEFAULT 1",
)

_CHECKPOINTS: Final = (
    # The view after a batch. Programs of the previous version delete sessions without it.
    """
    CREATE TABLE checkpoints (
        session {whole} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        number {whole} NOT NULL,
        at {whole} NOT NULL,
        hash {bytes} NOT NULL,
        codec {small} NOT NULL,
        size {whole} NOT NULL,
        data {bytes} NOT NULL,
        PRIMARY KEY (session, number)
    )
    """,
)

_LOCKS: Final = (
    # The check value of an encrypted archive's key; no row if the archive is not encrypted.
    """
    CREATE TABLE locks (
        "only" INTEGER PRIMARY KEY DEFAULT 1 CHECK ("only" = 1),
        check_value TEXT NOT NULL
    ) WITHOUT ROWID
    """,
)

MIGRATIONS: Final = (*map(sqlite_tables, (_FIRST, _MEMORY, _CHECKPOINTS)), _LOCKS)
"""The statements of each migration; a file of version n has the first n applied."""

ARCHIVE: Final = Schema(APPLICATION_ID, MIGRATIONS, "archive")

_POSTGRES_LOCKS: Final = (
    """
    CREATE TABLE locks (
        "only" boolean PRIMARY KEY DEFAULT true CHECK ("only"),
        check_value text NOT NULL
    )
    """,
)

_POSTGRES_FIRST: Final = (
    *postgres_tables((*_FIRST, *_MEMORY)),
    # Contents are already compressed, and stored out of line.
    "ALTER TABLE blobs ALTER COLUMN data SET STORAGE EXTERNAL",
    "CREATE INDEX sessions_by_update ON sessions (updated DESC, id DESC)",
)
_POSTGRES_CHECKPOINTS: Final = (
    *postgres_tables(_CHECKPOINTS),
    "ALTER TABLE checkpoints ALTER COLUMN data SET STORAGE EXTERNAL",
    # Sessions share messages, so an id alone may match thousands. It also serves workers of the
    # previous version: their lookups start with the id.
    "CREATE INDEX IF NOT EXISTS messages_by_id_and_session ON messages (id, session, seq)",
    "DROP INDEX messages_by_id",
)

POSTGRES_ARCHIVE: Final = PostgresSchema(
    "foldline_archive", (_POSTGRES_FIRST, _POSTGRES_CHECKPOINTS, _POSTGRES_LOCKS), "archive"
)
