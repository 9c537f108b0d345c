"""
One SQLite file that several processes share: opened, brought up to date, changed in transactions.

The file is in WAL mode: any number of readers beside one writer, who waits for the one before. A
process that is killed leaves what it had committed, and nothing else.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, TypeAlias

from foldline.errors import StoreError
from foldline.sqlite.file import explain_error, identity, prepare, use_wal
from foldline.sqlite.schema import Schema, migrate

PATIENCE: Final = 10.0
"""How long to wait for another writer, in seconds."""

CHECKPOINT_PAGES: Final = 4_000
"""Pages after which the log is written back, 16 MB: rarely enough to stay out of a p99."""

Durability: TypeAlias = Literal["full", "process"]


class SqliteDatabase:
    """
    A connection to one file; threads take turns.

    Args:
        path: The file; it is created, readable by its owner only, when it is missing.
        schema: What it holds.
        durability: "full": what was committed survives a power cut, at one fsync a commit.
            "process": it survives the death of the process, a power cut may cost the newest.
        patience: How long to wait for another writer, in seconds.

    Raises:
        StoreError: The file cannot be opened, is another program's, or a newer Foldline's.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: Schema,
        *,
        durability: Durability = "process",
        patience: float = PATIENCE,
    ) -> None:
        # Absolute: SQLite takes ":memory:" and "file:" for something else than a file.
        self.path = Path(path).absolute()
        self._patience = patience
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        prepare(self.path)
        with self._errors():
            self._connection = self._connect(schema, durability)
        self._file = identity(self.path)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Look at one moment of the file."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """
        Change the file, all or nothing; what is committed survives the end of this process.

        Raises:
            StoreError: It cannot be written; nothing was changed.
        """
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @property
    def version(self) -> int:
        """A number that changes whenever another connection has changed the file."""
        with self._lock, self._errors():
            (number,) = self._open().execute("PRAGMA data_version").fetchone()
            return int(number)

    def size(self) -> int:
        """Return what the file and its log take, in bytes."""
        files = (Path(f"{self.path}{end}") for end in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def shrink(self, share: float) -> None:
        """
        Overwrite what the log of the file still holds, and give free pages back.

        Args:
            share: From which share of free pages on the file is written anew without them.

        Raises:
            StoreError: Another process was reading all the time, so that old content stays in
                the log until it is done.
        """
        with self._lock, self._errors():
            connection = self._open()
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            (free,) = connection.execute("PRAGMA freelist_count").fetchone()
            if free >= share * pages:
                connection.execute("VACUUM")
            (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreError(
                f"It was deleted, but another process is reading {self.path}, so that the bytes "
                f"are still in {self.path.name}-wal.",
                hint="They go when that process ends; or delete something else then.",
            )

    def close(self) -> None:
        """Let go of the file; closing twice is allowed."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _connect(self, schema: Schema, durability: Durability) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=self._patience, isolation_level=None, check_same_thread=False
        )
        try:
            migrate(connection, schema, str(self.path))
            use_wal(connection, self._patience)
            level = "FULL" if durability == "full" else "NORMAL"
            connection.execute(f"PRAGMA synchronous = {level}")
            connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"{self.path} is closed.", hint="Open it again.")
        if identity(self.path) != self._file:
            raise StoreError(
                f"{self.path} was removed or replaced while it was in use; nothing was changed.",
                hint="Put the file back, or open it again.",
            )
        return self._connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, self._errors():
            connection = self._open()
            if connection.in_transaction:
                raise StoreError(f"{self.path}: one transaction was begun inside another.")
            try:
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise explain_error(error, self.path, self._patience) from error
        except UnicodeDecodeError as error:  # SQLite quotes in its errors what stands in the file
            raise StoreError(
                f"{self.path} is damaged: it holds text that is none.",
                hint="Restore it from a backup, or start anew.",
                damaged=True,
            ) from error
        except (UnicodeEncodeError, OverflowError) as error:
            raise StoreError(
                f"{self.path}: a value is not one that SQLite holds: {error}.",
                hint="Use valid Unicode in names, and numbers below 2^63.",
            ) from error
