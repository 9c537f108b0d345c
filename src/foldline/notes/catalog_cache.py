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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from foldline.errors import StoreError
from foldline.notes.folder import Stamp
from foldline.notes.note import BrokenNote, NoteMetadata
from foldline.notes.note_fields import to_metadata
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
class CatalogEntry:
    """
    A note in the folder, as it was read.

    ``fields`` is the front matter of its file, ``terms`` all that it says, cut for searching.
    """

    name: str
    stamp: Stamp
    digest: str
    fields: Mapping[str, Any] = field(repr=False)
    terms: str = field(repr=False)
    metadata: NoteMetadata


class CatalogCache:
    """
    The cache of one folder.

    Args:
        path: Its SQLite file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self) -> dict[str, CatalogEntry]:
        """Return everything that is kept, by the names of the files; nothing if it is unusable."""
        try:
            with self._open() as database, database.reading() as connection:
                found = connection.execute(
                    "SELECT name, inode, size, modified, changed, digest, fields, terms FROM files"
                )
                return {one.name: one for one in map(_entry, found)}
        except (
            StoreError,
            BrokenNote,
            ValueError,
            TypeError,
            OverflowError,
            RecursionError,
        ) as error:
            if getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                self._discard()
            return {}

    def keep(self, rows: Iterable[CatalogEntry], gone: Iterable[str]) -> None:
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


def _entry(row: Sequence[Any]) -> CatalogEntry:
    name, *stamp, digest, head, terms = row
    fields = dict(json.loads(head))
    read = Stamp(*map(int, stamp))
    return CatalogEntry(str(name), read, str(digest), fields, str(terms), to_metadata(fields))
