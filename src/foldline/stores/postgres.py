"""Sessions in a PostgreSQL database, for agents on several machines."""

from __future__ import annotations

from foldline.postgres.database import PATIENCE, PostgresDatabase
from foldline.sql import Connection
from foldline.stores.migrations import POSTGRES_ARCHIVE
from foldline.stores.sql import SqlStore


class PostgresStore(SqlStore):
    """
    A store in the schema ``foldline_archive`` of a database; it is created if it is missing.

    Args:
        url: ``postgresql://user@host:port/database``.
        patience: Timeout for a connection or another writer, in seconds.

    Raises:
        StoreError: The database cannot be reached, or a newer Foldline wrote it.
        MissingExtra: psycopg is not installed.
    """

    def __init__(self, url: str, *, patience: float = PATIENCE) -> None:
        super().__init__(PostgresDatabase(url, POSTGRES_ARCHIVE, patience=patience))

    def _begin_lock(self, connection: Connection) -> None:
        # No session may be added between the check for sessions and locking the archive.
        connection.execute("LOCK TABLE sessions IN SHARE ROW EXCLUSIVE MODE")

    def _begin_delete(self, connection: Connection) -> None:
        # A writer must not reference content that is being deleted as unused.
        connection.execute(
            "LOCK TABLE sessions, messages, batches, memories, checkpoints, blobs"
            " IN SHARE ROW EXCLUSIVE MODE"
        )
