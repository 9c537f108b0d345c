"""Opening a SQLite file, and saying in words what SQLite says in codes."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

from foldline.errors import StoreError


def prepare(path: Path) -> None:
    """Create a missing file, and close one to others; what agents say holds secrets."""
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
    """Leave a file to its owner alone, who may have copied it in another mode."""
    if os.name != "posix":
        return
    status = os.fstat(number)
    if status.st_mode & 0o077 and status.st_uid == os.geteuid():
        os.fchmod(number, 0o600)


def identity(path: Path) -> tuple[int, int] | None:
    """Tell which file is there, so that another one in its place is noticed; None for no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def use_wal(connection: sqlite3.Connection, patience: float) -> None:
    """Switch to WAL mode; unlike other statements this one does not wait for the lock itself."""
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


def explain_error(error: sqlite3.Error, path: Path, patience: float) -> StoreError:
    """Say what went wrong and what to do next."""
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
                hint="Name another file; this one was left as it is.",
            )
        case sqlite3.SQLITE_CORRUPT:
            return StoreError(
                f"{path} is damaged: {error}.",
                hint="Restore it from a backup, or start anew.",
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
            # Python itself found a text that is none: it gives no code.
            strange = not hasattr(error, "sqlite_errorcode")
            return StoreError(f"{path}: {error}.", hint="Nothing was changed.", damaged=strange)
