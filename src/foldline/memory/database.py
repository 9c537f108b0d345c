"""
One SQLite file that several processes share: opened, brought up to date, changed in transactions.

The file is in WAL mode: any number of readers beside one writer, who waits for the one before. A
process that is killed leaves what it had committed, and nothing else.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from foldline.core.errors import StoreError

PATIENCE: Final = 10.0
"""How long to wait for another writer, in seconds."""

CHECKPOINT_PAGES: Final = 4_000
"""Pages after which the log is written back, 16 MB."""

PRIVATE: Final = 0o600
"""A new file is for its owner only: what is remembered may hold secrets."""


@dataclass(frozen=True, slots=True)
class Schema:
    """
    What a file holds.

    Args:
        mark: Tells the files of this kind from others; SQLite's ``application_id``.
        steps: The statements that lead from each version to the next; steps only go forward.
        what: What to call such a file, as in "memory".
    """

    mark: int
    steps: Sequence[Sequence[str]]
    what: str


class Database:
    """
    A connection to one file; threads take turns.

    Args:
        path: The file; it is created, readable by its owner only, when it is missing.
        schema: What it holds.
        patience: How long to wait for another writer, in seconds.

    Raises:
        StoreError: The file cannot be opened, is another program's, or a newer Foldline's.
    """

    def __init__(
        self, path: str | os.PathLike[str], schema: Schema, *, patience: float = PATIENCE
    ) -> None:
        # Absolute: SQLite takes ":memory:" and "file:" for something else than a file.
        self.path = Path(path).absolute()
        self._schema = schema
        self._patience = patience
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        _prepare(self.path, schema.what)
        with self._errors():
            self._connection = self._connect()

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

    def close(self) -> None:
        """Let go of the file; closing twice is allowed."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=self._patience, isolation_level=None, check_same_thread=False
        )
        try:
            _migrate(connection, self._schema, str(self.path))
            _patiently(lambda: connection.execute("PRAGMA journal_mode = WAL"), self._patience)
            # NORMAL: a killed process loses nothing; a power cut may cost the newest commits.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"{self.path} is closed.", hint="Open it again.")
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
            raise self._explained(error) from error

    def _explained(self, error: sqlite3.Error) -> StoreError:
        """Say what went wrong and what to do next."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        match code:
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                return StoreError(
                    f"Another process has been writing to {self.path} for more than "
                    f"{self._patience:g} seconds.",
                    hint="Try again when it is done.",
                )
            case sqlite3.SQLITE_NOTADB:
                return StoreError(
                    f"{self.path} is not a SQLite file.",
                    hint="Name another file; this one was left as it is.",
                )
            case sqlite3.SQLITE_CORRUPT:
                hint = "Restore it from a backup, or start anew."
                return StoreError(f"{self.path} is damaged: {error}.", hint=hint)
            case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
                hint = "Check the free space of the disk."
                return StoreError(f"{self.path} cannot be written: {error}.", hint=hint)
            case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
                hint = "Check the permissions of the file and its folder."
                return StoreError(f"{self.path} cannot be opened: {error}.", hint=hint)
            case _:
                return StoreError(f"{self.path}: {error}.", hint="Nothing was changed.")


def _prepare(path: Path, what: str) -> None:
    if path.is_dir():
        raise StoreError(f"{path} is a folder.", hint="Name a file in it.")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, PRIVATE))
    except FileNotFoundError as error:
        raise StoreError(
            f"The folder {path.parent} does not exist.", hint=f"Run: mkdir -p {path.parent}"
        ) from error
    except (OSError, ValueError) as error:
        raise StoreError(
            f"The {what} {path} cannot be opened for writing: {error}.",
            hint="Check its permissions, or name another file.",
        ) from error


def _patiently(work: Callable[[], object], patience: float) -> None:
    """Do what does not wait for a lock by itself, again and again while it is taken."""
    deadline = time.monotonic() + patience
    while True:
        try:
            work()
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _migrate(connection: sqlite3.Connection, schema: Schema, name: str) -> None:
    """Bring a file to the newest version, in one transaction."""
    if _version(connection, schema, name) == len(schema.steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again: another process may have been faster while this one waited for the lock.
        for step in schema.steps[_version(connection, schema, name) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {schema.mark}")
        connection.execute(f"PRAGMA user_version = {len(schema.steps)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, schema: Schema, name: str) -> int:
    # One statement sees one moment of the file, which another process may be in the middle of.
    mark, version, tables = connection.execute(
        "SELECT (SELECT application_id FROM pragma_application_id), "
        "(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)"
    ).fetchone()
    if mark != schema.mark and (mark or version or tables):
        raise StoreError(
            f"{name} is a database of another kind, no {schema.what}.",
            hint="Name another file; this one was left as it is.",
        )
    if version > len(schema.steps):
        raise StoreError(
            f"{name} was written by a newer Foldline (version {version}, this one knows "
            f"{len(schema.steps)}).",
            hint="Upgrade: pip install --upgrade foldline",
        )
    return int(version)
