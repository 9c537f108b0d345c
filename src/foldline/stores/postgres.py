"""Sessions in a PostgreSQL database, for agents on several machines."""

from __future__ import annotations

from typing import Final

from foldline.postgres.database import PATIENCE, PostgresDatabase
from foldline.postgres.schema import PostgresSchema
from foldline.sql import Connection
from foldline.stores.sql import SqlStore

_FIRST: Final = (
    # Content-addressed: ``hash`` is of the content, ``size`` its length before compression. The
    # content is compressed already, and kept out of the row.
    """
    CREATE TABLE blobs (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        hash bytea NOT NULL UNIQUE,
        codec smallint NOT NULL,
        size bigint NOT NULL,
        data bytea NOT NULL
    )
    """,
    "ALTER TABLE blobs ALTER COLUMN data SET STORAGE EXTERNAL",
    """
    CREATE TABLE sessions (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text COLLATE "C" NOT NULL UNIQUE,
        dialect text NOT NULL,
        model text NOT NULL,
        "window" bigint,
        created double precision NOT NULL,
        updated double precision NOT NULL,
        generation bigint NOT NULL
    )
    """,
    "CREATE INDEX sessions_by_update ON sessions (updated DESC, id DESC)",
    """
    CREATE TABLE messages (
        session bigint NOT NULL REFERENCES sessions (id),
        seq bigint NOT NULL,
        id text COLLATE "C" NOT NULL,
        role text NOT NULL,
        time double precision NOT NULL,
        pinned smallint NOT NULL,
        usage text,
        wire bigint NOT NULL REFERENCES blobs (id),
        form bigint REFERENCES blobs (id),
        PRIMARY KEY (session, seq)
    )
    """,
    "CREATE INDEX messages_by_id ON messages (id)",
    # What was prepared for the next compaction of a session, and what a batch took over of that.
    """
    CREATE TABLE memories (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        session bigint NOT NULL REFERENCES sessions (id),
        until text NOT NULL,
        digest text NOT NULL,
        at bigint NOT NULL,
        generation bigint NOT NULL,
        time double precision NOT NULL,
        hash bytea NOT NULL,
        codec smallint NOT NULL,
        size bigint NOT NULL,
        data bytea NOT NULL
    )
    """,
    "CREATE INDEX memories_by_session ON memories (session)",
    """
    CREATE TABLE batches (
        session bigint NOT NULL REFERENCES sessions (id),
        number bigint NOT NULL,
        at bigint NOT NULL,
        kind text NOT NULL,
        time double precision NOT NULL,
        undone_at bigint,
        edits bigint NOT NULL REFERENCES blobs (id),
        receipt bigint NOT NULL REFERENCES blobs (id),
        memory bigint REFERENCES memories (id),
        repeats bigint NOT NULL DEFAULT 1,
        PRIMARY KEY (session, number)
    )
    """,
)

_CHECKPOINTS: Final = (
    # What was shown after a batch. Workers of the version before delete sessions without it.
    """
    CREATE TABLE checkpoints (
        session bigint NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        number bigint NOT NULL,
        at bigint NOT NULL,
        hash bytea NOT NULL,
        codec smallint NOT NULL,
        size bigint NOT NULL,
        data bytea NOT NULL,
        PRIMARY KEY (session, number)
    )
    """,
    "ALTER TABLE checkpoints ALTER COLUMN data SET STORAGE EXTERNAL",
    # Sessions share messages, so an id alone may name thousands. Workers of the version before
    # are served by it too: what they look up begins with the id.
    "CREATE INDEX IF NOT EXISTS messages_by_id_and_session ON messages (id, session, seq)",
    "DROP INDEX messages_by_id",
)

_LOCKS: Final = (
    # What tells the key of an encrypted archive from another one; no row where nothing is.
    """
    CREATE TABLE locks (
        "only" boolean PRIMARY KEY DEFAULT true CHECK ("only"),
        check_value text NOT NULL
    )
    """,
)

ARCHIVE: Final = PostgresSchema("foldline_archive", (_FIRST, _CHECKPOINTS, _LOCKS), "archive")


class PostgresStore(SqlStore):
    """
    A store in the schema ``foldline_archive`` of a database; it is created when it is missing.

    Args:
        url: ``postgresql://user@host:port/database``.
        patience: How long to wait for a connection or another writer, in seconds.

    Raises:
        StoreError: The database cannot be reached, or a newer Foldline wrote it.
        MissingExtra: psycopg is not installed.
    """

    def __init__(self, url: str, *, patience: float = PATIENCE) -> None:
        super().__init__(PostgresDatabase(url, ARCHIVE, patience=patience))

    def _begin_lock(self, connection: Connection) -> None:
        # No session must appear between looking for one and locking the archive.
        connection.execute("LOCK TABLE sessions IN SHARE ROW EXCLUSIVE MODE")

    def _begin_delete(self, connection: Connection) -> None:
        # A writer must not point at a content that is being found to belong to nobody.
        connection.execute(
            "LOCK TABLE sessions, messages, batches, memories, checkpoints, blobs"
            " IN SHARE ROW EXCLUSIVE MODE"
        )
