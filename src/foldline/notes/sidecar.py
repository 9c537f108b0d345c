"""
What was read of the files, kept for the next process: a cache that may be lost at any time.

It never says what a note is: a row counts only as long as the stamp of its file is the one in the
row. A file that is no such cache, or cannot be used, is as good as none.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from foldline.notes.folder import Stamp
from foldline.relevance.terms import TERMS_VERSION

SCHEMA: Final = f"1/{TERMS_VERSION}"
"""Changes when the rows would mean something else; the cache is then made anew."""

PATIENCE: Final = 2.0
"""Seconds to wait for another process; without the cache things are slower, not wrong."""

_TABLES: Final = """
DROP TABLE IF EXISTS meta; DROP TABLE IF EXISTS files;
CREATE TABLE meta (schema TEXT NOT NULL);
CREATE TABLE files (name TEXT PRIMARY KEY, inode INTEGER, size INTEGER, modified INTEGER,
                    changed INTEGER, digest TEXT, fields TEXT, terms TEXT) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Row:
    """What was read of one file: its stamp, its digest, its front matter, its text as terms."""

    name: str
    stamp: Stamp
    digest: str
    fields: Mapping[str, Any]
    terms: str


class Sidecar:
    """
    The cache of one folder.

    Args:
        path: Its SQLite file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self) -> dict[str, Row]:
        """Return everything that is kept, by the names of the files; nothing if it is unusable."""
        try:
            with self._opened() as connection:
                found = connection.execute(
                    "SELECT name, inode, size, modified, changed, digest, fields, terms FROM files"
                )
                return {
                    str(name): Row(
                        str(name),
                        Stamp(*map(int, stamp)),
                        str(digest),
                        dict(json.loads(fields)),
                        str(terms),
                    )
                    for name, *stamp, digest, fields, terms in found
                }
        except (sqlite3.Error, ValueError, TypeError, OverflowError, RecursionError) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                self._discard()
            return {}

    def keep(self, rows: Iterable[Row], gone: Iterable[str]) -> None:
        """Keep rows, and forget files that are gone; if it fails, nothing is lost."""
        # A name that is no Unicode, or an inode beyond 63 bits, is read anew each time.
        unkept = contextlib.suppress(sqlite3.Error, UnicodeEncodeError, OverflowError)
        with unkept, self._opened() as connection, connection:
            connection.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (row.name, *row.stamp, row.digest, json.dumps(row.fields), row.terms)
                    for row in rows
                ),
            )
            connection.executemany("DELETE FROM files WHERE name = ?", ((name,) for name in gone))

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        if self._path.is_symlink():
            raise sqlite3.OperationalError("a link")
        connection = sqlite3.connect(self._path, timeout=PATIENCE)
        try:
            connection.execute("PRAGMA synchronous = OFF")
            if not self._is_ours(connection):
                with connection:
                    connection.executescript(f"BEGIN IMMEDIATE; {_TABLES}")
                    connection.execute("INSERT INTO meta VALUES (?)", (SCHEMA,))
            yield connection
        finally:
            connection.close()

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        try:
            return connection.execute("SELECT schema FROM meta").fetchall() == [(SCHEMA,)]
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            return False

    def _discard(self) -> None:
        """Take away a file that is no cache; one that is only busy stays."""
        with contextlib.suppress(OSError):
            self._path.unlink()
