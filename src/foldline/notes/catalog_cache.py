"""
What was read of the files, kept for the next process: a cache that may be lost at any time.

It never says what a note is: a row counts only as long as the stamp of its file is the one in the
row. A file that is no such cache, or cannot be used, is as good as none.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from foldline.errors import StoreError
from foldline.notes.folder import Stamp
from foldline.relevance.terms import TERMS_VERSION
from foldline.sqlite.database import SqliteDatabase
from foldline.sqlite.schema import Schema

PATIENCE: Final = 2.0
"""Seconds to wait for another process; without the cache things are slower, not wrong."""

_FILES: Final = """
CREATE TABLE files (name TEXT PRIMARY KEY, inode INTEGER, size INTEGER, modified INTEGER,
                    changed INTEGER, digest TEXT, fields TEXT, terms TEXT) WITHOUT ROWID
"""

# A file with other terms has another mark: it is no such cache, and made anew.
_MARK: Final = crc32(f"foldline notes {TERMS_VERSION}".encode()) & 0x7FFFFFFF
SCHEMA: Final = Schema(_MARK, ((_FILES,),), "cache of notes")


@dataclass(frozen=True, slots=True)
class CachedFile:
    """What was read of one file: its stamp, its digest, its front matter, its text as terms."""

    name: str
    stamp: Stamp
    digest: str
    fields: Mapping[str, Any]
    terms: str


class CatalogCache:
    """
    The cache of one folder.

    Args:
        path: Its SQLite file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self) -> dict[str, CachedFile]:
        """Return everything that is kept, by the names of the files; nothing if it is unusable."""
        try:
            with self._open() as database, database.reading() as connection:
                found = connection.execute(
                    "SELECT name, inode, size, modified, changed, digest, fields, terms FROM files"
                )
                return {one.name: one for one in map(_cached_file, found)}
        except (StoreError, ValueError, TypeError, OverflowError, RecursionError) as error:
            if getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                self._discard()
            return {}

    def keep(self, rows: Iterable[CachedFile], gone: Iterable[str]) -> None:
        """Keep rows, and forget files that are gone; if it fails, nothing is lost."""
        # A name that is no Unicode, or an inode beyond 63 bits, is read anew each time.
        with (
            contextlib.suppress(StoreError),
            self._open() as database,
            database.writing() as connection,
        ):
            connection.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (row.name, *row.stamp, row.digest, json.dumps(row.fields), row.terms)
                    for row in rows
                ),
            )
            connection.executemany("DELETE FROM files WHERE name = ?", ((name,) for name in gone))

    @contextlib.contextmanager
    def _open(self) -> Iterator[SqliteDatabase]:
        if self._path.is_symlink():
            raise StoreError(f"{self._path} is a link.")
        database = SqliteDatabase(self._path, SCHEMA, patience=PATIENCE)
        try:
            yield database
        finally:
            database.close()

    def _discard(self) -> None:
        """Remove a file that is no cache; one that is only busy stays."""
        for end in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                self._path.with_name(self._path.name + end).unlink()


def _cached_file(row: Sequence[Any]) -> CachedFile:
    name, *stamp, digest, head, terms = row
    fields = dict(json.loads(head))
    return CachedFile(str(name), Stamp(*map(int, stamp)), str(digest), fields, str(terms))
