"""
One SQLite file shared by several processes: opening, migrations, transactions.

The file is in WAL mode: any number of readers and one writer at a time. A killed process leaves
its committed changes, and nothing else.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, Literal, TypeAlias

from foldline.errors import StoreError
from foldline.frozen import frozen


@frozen
class Schema:
    """
    The content of a file.

    Args:
        mark: Identifies the files of this kind; SQLite's ``application_id``.
        steps: The statements of each migration; migrations only go forward.
        what: The kind of file in messages, such as "memory".
    """

    mark: int
    steps: Sequence[Sequence[str]]
    what: str


def migrate(connection: sqlite3.Connection, schema: Schema, name: str) -> None:
    """
    Migrate a file to the newest version, in one transaction.

    Args:
        connection: A connection in autocommit mode.
        schema: The target schema.
        name: The name of the file in messages.

    Raises:
        StoreError: The file is another program's, or a newer Foldline's.
    """
    if _version(connection, schema, name) == len(schema.steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again: another process may have migrated while this one waited for the lock.
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
    # One statement reads a consistent state, while another process may be migrating.
    mark, version, tables = connection.execute(
        "SELECT (SELECT application_id FROM pragma_application_id), "
        "(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)"
    ).fetchone()
    if mark != schema.mark and (mark or version or tables):
        raise StoreError(
            f"{name} is a database of another program, no {schema.what}.",
            hint="Name another file; this one was not changed.",
        )
    if version > len(schema.steps):
        raise StoreError(
            f"{name} was written by a newer Foldline (version {version}, this one knows "
            f"{len(schema.steps)}).",
            hint="Upgrade: pip install --upgrade foldline",
        )
    return int(version)


PATIENCE: Final = 10.0
"""Timeout for another writer, in seconds."""

CHECKPOINT_PAGES: Final = 4_000
"""Pages after which the log is checkpointed, 16 MB: rare enough not to affect the p99."""

Durability: TypeAlias = Literal["full", "process"]


class SqliteDatabase:
    """
    A connection to one file; threads take turns.

    Args:
        path: The file; if it is missing it is created, readable only by its owner.
        schema: Its schema.
        durability: "full": commits survive a power failure, at one fsync per commit. "process":
            commits survive the death of the process, a power failure may lose the newest.
        patience: Timeout for another writer, in seconds.

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
        # Absolute: SQLite does not take ":memory:" and "file:" as file names.
        self.path = Path(path).absolute()
        self._patience = patience
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        _prepare(self.path)
        with self._errors():
            self._connection = self._connect(schema, durability)
        self._file = _identity(self.path)

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Begin a read-only transaction on one snapshot of the file."""
        return self._transaction("BEGIN")

    def writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """
        Begin an atomic write transaction; commits survive the end of this process.

        Raises:
            StoreError: It cannot be written; nothing was changed.
        """
        return self._transaction("BEGIN IMMEDIATE")

    @property
    def version(self) -> int:
        """A number that changes whenever another connection has changed the file."""
        with self._lock, self._errors():
            (number,) = self._open().execute("PRAGMA data_version").fetchone()
            return int(number)

    def size(self) -> int:
        """Return the size of the file and its log, in bytes."""
        files = (Path(f"{self.path}{end}") for end in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def shrink(self, share: float) -> None:
        """
        Overwrite the log of the file, and release free pages.

        Args:
            share: Fraction of free pages above which the file is rewritten without them.

        Raises:
            StoreError: Another process was reading all the time, so that old content stays in
                the log until it ends.
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
        """Close the file; closing twice is allowed."""
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
            _use_wal(connection, self._patience)
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
        if _identity(self.path) != self._file:
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
            raise _explain_error(error, self.path, self._patience) from error
        except UnicodeDecodeError as error:  # SQLite quotes file content in its errors
            raise StoreError(
                f"{self.path} is damaged: it holds invalid text.",
                hint="Restore it from a backup, or start with a new file.",
                damaged=True,
            ) from error
        except (UnicodeEncodeError, OverflowError) as error:
            raise StoreError(
                f"{self.path}: a value is not one that SQLite holds: {error}.",
                hint="Use valid Unicode in names, and numbers below 2^63.",
            ) from error


def _prepare(path: Path) -> None:
    """Create a missing file, and restrict access to its owner: conversations hold secrets."""
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder.", hint="Name a file in it.")
        number = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            _close_to_others(number)
        finally:
            os.close(number)
    except FileNotFoundError as error:
        raise StoreError(
            f"The folder {path.parent} does not exist.", hint=f"Run: mkdir -p {path.parent}"
        ) from error
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{path} cannot be opened for writing: {error}.",
            hint="Check its permissions, or name another file.",
        ) from error


def _close_to_others(number: int) -> None:
    """Restrict a file to its owner, who may have copied it with another mode."""
    if os.name != "posix":
        return
    status = os.fstat(number)
    if status.st_mode & 0o077 and status.st_uid == os.geteuid():
        os.fchmod(number, 0o600)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the identity of a file, to detect its replacement; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _use_wal(connection: sqlite3.Connection, patience: float) -> None:
    """Switch to WAL mode; unlike other statements this one does not wait for the lock."""
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _explain_error(error: sqlite3.Error, path: Path, patience: float) -> StoreError:
    """Convert an error to a StoreError with a hint."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreError(
                f"Another process has been writing to {path} for more than {patience:g} seconds.",
                hint="Try again when it is done, or use a file of your own.",
            )
        case sqlite3.SQLITE_NOTADB:
            return StoreError(
                f"{path} is not a SQLite file.",
                hint="Name another file; this one was not changed.",
            )
        case sqlite3.SQLITE_CORRUPT:
            return StoreError(
                f"{path} is damaged: {error}.",
                hint="Restore it from a backup, or start with a new file.",
                damaged=True,
            )
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return StoreError(
                f"{path} cannot be written: {error}; nothing was changed.",
                hint="Check the free space of the disk.",
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return StoreError(
                f"{path} cannot be opened for writing: {error}.",
                hint="Check the permissions of the file and its folder.",
            )
        case _:
            # Python itself found invalid text: such errors have no code.
            strange = not hasattr(error, "sqlite_errorcode")
            return StoreError(f"{path}: {error}.", hint="Nothing was changed.", damaged=strange)
