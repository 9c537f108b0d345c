"""
Sessions in a database: every change is one transaction, in any number of processes.

A session has a generation, so that two processes writing to the same session cannot lose each
other's messages: the later one gets an error. The row of a session is locked while it changes, and
the lock ends with its connection.
"""

from __future__ import annotations

from collections.abc import Collection

from foldline.errors import StoreError
from foldline.frozen import replace
from foldline.sql import Connection, Database
from foldline.stores import blobs, log, rows
from foldline.stores.protocol import FOUND_AT_MOST, Change, SessionHead, SessionInfo, StoredSession


class SqlStore:
    """
    A store in a database; see `foldline.stores.protocol.Store`.

    Args:
        database: The database with the tables of the archive.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._check = ""

    # --- the Store protocol ----------------------------------------------------------------

    def begin(self, head: SessionHead) -> StoredSession:
        """Return the session with the name of ``head``; create it if there is none."""
        found = self.load(head.name)
        if found is not None:
            return found
        with self._database.writing() as connection:
            self._insert(connection, head)
            # After the insert, which waits for the lock of the archive.
            self._compare(_check_value(connection))
        created = self.load(head.name)
        if created is None:
            raise blobs.damage_error("an index that does not fit its table")
        return created

    def load(self, name: str) -> StoredSession | None:
        """Return a session, or None if there is none with this name."""
        # One transaction, for a consistent snapshot.
        with self._database.reading() as connection:
            row = connection.execute(
                'SELECT name, dialect, model, "window", created, generation, id'
                " FROM sessions WHERE name = ?",
                (name,),
            ).fetchone()
            if row is None:
                return None
            self._compare(_check_value(connection))
            reading, session = self._database.reading, row[6]
            size, batches = rows.length(connection, session), rows.batch_count(connection, session)
            return StoredSession(
                rows.head(row[:5]),
                rows.whole(row[5], "the generation of a session"),
                log.StoredIds(reading, session, size, rows.message_ids, log.IDS_PAGE),
                log.StoredRows(reading, session, size, rows.messages),
                log.StoredRows(
                    reading, session, batches, rows.batches, log.BATCHES_PAGE, "compactions"
                ),
                rows.memory(connection, session),
                rows.newest_checkpoint(connection, session),
                session,
            )

    def commit(self, name: str, generation: int, change: Change) -> int:
        """
        Record a change durably, in one transaction.

        Returns:
            The new generation.

        Raises:
            InputError: A message is not JSON; ``index`` is not known here.
            StoreError: Somebody else changed the session since, or encrypted the archive; nothing
                was recorded.
        """
        # Serialised before the lock is taken: other writers do not wait for it.
        packed = replace(change, batches=()).map(blobs.pack)
        # What had been prepared for a batch is mostly written already.
        batches = [replace(batch, memory=None).map(blobs.pack) for batch in change.batches]
        with self._database.writing() as connection:
            session = self._claim(connection, name, generation, change)
            rows.insert_messages(connection, session, change.at, packed.messages)
            for given, batch in zip(change.batches, batches, strict=True):
                rows.insert_batch(connection, session, batch, given.memory)
            if change.memory is not None or change.forgets:
                rows.replace_memory(connection, session, packed.memory)
            if packed.checkpoint is not None:
                rows.insert_checkpoint(connection, session, packed.checkpoint)
            rows.mark(connection, session, change)
        return generation + 1

    def sessions(self) -> tuple[SessionInfo, ...]:
        """Return the sessions, most recently changed first."""
        with self._database.reading() as connection:
            found = connection.execute(
                """
                SELECT s.name, s.dialect, s.model, s."window", s.created, s.updated,
                    (SELECT coalesce(max(m.seq) + 1, 0) FROM messages m WHERE m.session = s.id),
                    (SELECT count(*) FROM batches b WHERE b.session = s.id
                        AND b.kind = 'compaction' AND b.undone_at IS NULL),
                    (SELECT coalesce(sum(length(d.data)), 0) FROM messages m
                        JOIN blobs d ON d.id = m.wire WHERE m.session = s.id)
                FROM sessions s ORDER BY s.updated DESC, s.id DESC
                """
            ).fetchall()
        return tuple(rows.info(row) for row in found)

    def names(self) -> tuple[str, ...]:
        """Return the names of the sessions, most recently changed first."""
        with self._database.reading() as connection:
            found = connection.execute("SELECT name FROM sessions ORDER BY updated DESC, id DESC")
            return tuple(str(name) for (name,) in found)

    def find(self, prefix: str) -> tuple[tuple[str, str], ...]:
        """Find messages by the prefix of their id, newest sessions first, at most 100."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT s.name, m.id FROM messages m JOIN sessions s ON s.id = m.session"
                " WHERE m.id >= ? AND m.id < ? ORDER BY s.updated DESC, s.id DESC, m.seq LIMIT ?",
                (prefix, prefix + "\U0010ffff", FOUND_AT_MOST),
            ).fetchall()
        return tuple((str(name), str(number)) for name, number in found)

    def delete(self, names: Collection[str]) -> int:
        """Delete sessions and every content that no other holds; return their number."""
        with self._database.writing() as connection:
            self._begin_delete(connection)
            return rows.delete_sessions(connection, names)

    def size(self) -> int:
        """Return the size of the contents, in bytes."""
        with self._database.reading() as connection:
            (size,) = connection.execute(
                "SELECT coalesce(sum(length(data)), 0) FROM blobs"
            ).fetchone() or (0,)
        return int(size)

    def close(self) -> None:
        """Close the database; closing twice is allowed."""
        self._database.close()

    # --- encryption ------------------------------------------------------------------------

    def read_key_check(self) -> str:
        """Return the check value of an encrypted archive's key, "" if it is not encrypted."""
        with self._database.reading() as connection:
            return _check_value(connection)

    def lock(self, check: str) -> str:
        """
        Record the key of an encrypted archive, if the archive is empty.

        Args:
            check: The check value of the key.

        Returns:
            The check value now recorded: another one if another process was first, "" if it has
            sessions.
        """
        with self._database.writing() as connection:
            self._begin_lock(connection)
            connection.execute(
                "INSERT INTO locks (check_value) SELECT ? WHERE NOT EXISTS"
                ' (SELECT 1 FROM sessions) ON CONFLICT ("only") DO NOTHING',
                (check,),
            )
            return _check_value(connection)

    def expect(self, check: str) -> None:
        """
        Set the key with which contents are encrypted from now on; without it they are plain.

        Sessions are then neither read nor written if the archive has another key.
        """
        self._check = check

    def _compare(self, check: str) -> None:
        if check == self._check:
            return
        if not self._check:
            raise StoreError(
                "This archive has been encrypted meanwhile; nothing was recorded.",
                hint="Open it again with its key, as key=… or in the variable "
                "FOLDLINE_ARCHIVE_KEY.",
            )
        raise StoreError(
            "This archive is not encrypted with the key that it was opened with; nothing was "
            "recorded.",
            hint="Open it again with its own key.",
        )

    def _insert(self, connection: Connection, head: SessionHead) -> None:
        """Insert a session unless its name exists; its number was never used before."""
        connection.execute(
            'INSERT INTO sessions (name, dialect, model, "window", created, updated,'
            " generation) VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT (name) DO NOTHING",
            rows.session_values(head),
        )

    def _begin_lock(self, connection: Connection) -> None:
        """Prepare locking the archive, in its transaction."""

    def _begin_delete(self, connection: Connection) -> None:
        """Prepare deleting, in its transaction."""

    def _claim(self, connection: Connection, name: str, generation: int, change: Change) -> int:
        row = connection.execute(
            "UPDATE sessions SET generation = generation + 1, updated = ?"
            " WHERE name = ? AND generation = ? AND id = coalesce(?, id)"
            " RETURNING id, (SELECT check_value FROM locks)",
            (rows.moment(change), name, generation, change.session),
        ).fetchone()
        if row is None and not rows.is_called(connection, name, change.session):
            raise log.replaced_error(name)
        if row is None:
            raise log.conflict_error(name)
        self._compare(row[1] or "")
        return int(row[0])


def _check_value(connection: Connection) -> str:
    row = connection.execute("SELECT check_value FROM locks").fetchone()
    return "" if row is None else str(row[0])
