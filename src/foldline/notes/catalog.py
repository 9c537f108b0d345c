"""
The catalog of a folder: every note without its content, kept in sync with the files.

The files are the source of truth. A refresh compares the stamps of files with those at the last
read, and reads files that differ; a digest tells real changes. A file so recent that it could
change again within the same stamp is read once more. A replaced file has a new inode, and changes
the stamp of the folder; both are cheap to check. A file edited in place changes only its own
stamp: in a small folder all of them are compared at each refresh, in a large one a rotating part
of them, and all of them after a pause.

The catalog is cached for the next process, in a file that may be deleted at any time. The cache
never overrides a note: a row is valid only while its file has the stamp in the row. A cache file
that is invalid or unusable is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from foldline.errors import UNREADABLE, StoreError
from foldline.frozen import field, frozen, replace
from foldline.notes.folder import Folder, Stamp
from foldline.notes.markdown_file import parse_file
from foldline.notes.note import BrokenNote, NoteMetadata, SkippedFile
from foldline.notes.note_fields import to_metadata
from foldline.relevance.terms import TERMS_VERSION, terms
from foldline.sqlite import Schema, SqliteDatabase

PATIENCE: Final = 2.0
"""The timeout for another process in seconds; without the cache, loading is only slower."""

_FILES: Final = """
CREATE TABLE files (name TEXT PRIMARY KEY, inode INTEGER, size INTEGER, modified INTEGER,
                    changed INTEGER, digest TEXT, fields TEXT, terms TEXT) WITHOUT ROWID
"""

# The mark depends on the version of terms, so that a cache with other terms is created again.
_MARK: Final = crc32(f"foldline notes {TERMS_VERSION}".encode()) & 0x7FFFFFFF
SCHEMA: Final = Schema(_MARK, ((_FILES,),), "cache of notes")


@frozen
class CatalogEntry:
    """
    A note as it was last read.

    ``fields`` is the front matter of its file, ``terms`` its text, tokenized for searching.
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
        """Return all cached rows by file name; empty if the cache is unusable."""
        try:
            with contextlib.closing(self._open()) as database, database.reading() as connection:
                found = connection.execute(
                    "SELECT name, inode, size, modified, changed, digest, fields, terms FROM files"
                )
                return {one.name: one for one in map(_entry, found) if one is not None}
        except (StoreError, *UNREADABLE) as error:
            if getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                self._discard()
            return {}

    def keep(self, rows: Iterable[CatalogEntry], removed: Iterable[str]) -> None:
        """Write rows, and delete those of removed files; errors are ignored."""
        # A name that is not valid Unicode, or an inode beyond 63 bits, is read again each time.
        with (
            contextlib.suppress(StoreError),
            contextlib.closing(self._open()) as database,
            database.writing() as connection,
        ):
            connection.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (row.name, *row.stamp, row.digest, json.dumps(row.fields), row.terms)
                    for row in rows
                ),
            )
            connection.executemany(
                "DELETE FROM files WHERE name = ?", ((name,) for name in removed)
            )

    def _open(self) -> SqliteDatabase:
        if self._path.is_symlink():
            raise StoreError(f"{self._path} is a link.")
        return SqliteDatabase(self._path, SCHEMA, patience=PATIENCE)

    def _discard(self) -> None:
        """Remove an invalid cache file; one that is only busy stays."""
        for end in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                self._path.with_name(self._path.name + end).unlink()


def _entry(row: Sequence[Any]) -> CatalogEntry | None:
    """Convert a row; None if it is not a valid note, so that its file is read."""
    name, *stamp, digest, head, terms = row
    fields = dict(json.loads(head))
    read = Stamp(*map(int, stamp))
    try:
        metadata = to_metadata(fields)
    except BrokenNote:  # another version with other fields may share the cache
        return None
    return CatalogEntry(str(name), read, str(digest), fields, str(terms), metadata)


COMPARE_ALL: Final = 2_000
"""The number of files up to which all stamps are compared; comparing one costs 2 to 4 µs."""

TURN: Final = 1_000
"""The number of files of a larger folder whose stamps are compared at each refresh."""

FULL_AFTER: Final = 2.0
"""The seconds without a refresh after which all are compared."""

YOUNG: Final = 50_000_000
"""The nanoseconds within which some file systems give two changes the same time."""


def is_young(changed: int, read_at: int) -> bool:
    """Return True if a file may have changed again since, with the same stamp."""
    return changed > read_at - YOUNG


class FolderWatch:
    """
    Watches the files of a folder.

    Args:
        folder: The folder.
        ending: The suffix of the file names.
        most: The maximum number of files.
    """

    def __init__(self, folder: Folder, ending: str, most: int) -> None:
        self._folder, self._ending, self._most = folder, ending, most
        self._checked_at = float("-inf")
        self._folder_stamp: Stamp | None = None
        self._queue: list[str] = []
        self._stamps: dict[str, Stamp] = {}
        self.young: set[str] = set()
        self.full = False

    def remember(self, name: str, stamp: Stamp, read_at: int) -> None:
        """Record the stamp at which a file was read, and the time."""
        self._stamps[name] = stamp
        if is_young(stamp.changed, read_at):
            self.young.add(name)
        else:
            self.young.discard(name)

    def forget(self, name: str) -> None:
        """Forget a file."""
        self._stamps.pop(name, None)
        self.young.discard(name)

    def changes(self) -> tuple[dict[str, Stamp], set[str]]:
        """Return the stamps of changed, new or recent files, and the names of removed files."""
        now, before = time.monotonic(), self._checked_at
        self._checked_at = now
        moved, known = self._has_moved(), self._stamps
        if now - before > FULL_AFTER or len(known) <= COMPARE_ALL:
            present = dict(islice(self._folder.stamps(self._ending), self._most))
            self.full = len(present) >= self._most
            return self._differing(present), known.keys() - present.keys()
        suspects = {*self.young, *self._turn()}
        if moved:
            inodes = dict(islice(self._folder.inodes(self._ending), self._most))
            self.full = len(inodes) >= self._most
            suspects |= {
                name
                for name, inode in inodes.items()
                if name not in known or known[name].inode != inode
            }
            suspects |= known.keys() - inodes.keys()
        stamps = {name: self._folder.stamp(name) for name in suspects}
        present = {name: stamp for name, stamp in stamps.items() if stamp is not None}
        removed = {name for name, stamp in stamps.items() if stamp is None and name in known}
        return self._differing(present), removed

    def _has_moved(self) -> bool:
        """Return True if the folder itself changed, or may have, since the last refresh."""
        stamp, read_at = self._folder.own_stamp(), time.time_ns()
        same = stamp == self._folder_stamp
        self._folder_stamp = None if is_young(stamp.changed, read_at) else stamp
        return not same

    def _turn(self) -> Iterator[str]:
        """Yield the next files of the rotation."""
        if not self._queue:
            self._queue = list(self._stamps)
        turn, self._queue = self._queue[:TURN], self._queue[TURN:]
        return (name for name in turn if name in self._stamps)

    def _differing(self, present: Mapping[str, Stamp]) -> dict[str, Stamp]:
        known, young = self._stamps, self.young
        return {n: stamp for n, stamp in present.items() if known.get(n) != stamp or n in young}


ENDING: Final = ".md"

KEPT_AT: Final = 200
"""The number of files read again after which the cache is written."""


class Catalog:
    """
    The notes of a folder; not for several threads at once.

    Args:
        folder: The folder of the files.
        cache: The cache.
        largest: The maximum size of a note in bytes.
        most: The maximum number of files.
    """

    def __init__(self, folder: Folder, cache: CatalogCache, largest: int, most: int) -> None:
        self._folder, self._cache = folder, cache
        self._largest = largest
        self._watch = FolderWatch(folder, ENDING, most)
        # The entry of each file, or the reason why it is not a note.
        self._seen: dict[str, CatalogEntry | str] = {}
        self._unkept: set[str] = set()
        self._loaded = self._was_full = False
        self.entries: Mapping[str, CatalogEntry] = {}
        self.troubles: tuple[SkippedFile, ...] = ()

    def refresh(self) -> Mapping[str, CatalogEntry]:
        """Synchronize the catalog with the files; return the notes by their ids."""
        first = not self._loaded
        if first:
            self._load()
        changed, removed = self._watch.changes()
        touched = sum([self._read(name) for name in changed]) + len(removed)
        for name in removed:
            self._forget(name)
        if touched or first or self._watch.full != self._was_full:
            self._resolve_ids()
        if len(self._unkept) >= KEPT_AT:
            self.keep()
        return self.entries

    def keep(self) -> None:
        """Write new entries to the cache."""
        old_enough = (self._seen.get(name) for name in self._unkept - self._watch.young)
        rows = [row for row in old_enough if isinstance(row, CatalogEntry)]
        removed = [name for name in self._unkept if name not in self._seen]
        if rows or removed:
            self._cache.keep(rows, removed)
        self._unkept -= {*removed, *(row.name for row in rows)}

    def _load(self) -> None:
        for name, row in self._cache.rows().items():
            self._see(name, row.stamp, row.stamp.changed + YOUNG + 1, row)
        self._loaded = True

    def _see(self, name: str, stamp: Stamp, read_at: int, seen: CatalogEntry | str) -> None:
        self._seen[name] = seen
        self._watch.remember(name, stamp, read_at)

    def _forget(self, name: str) -> bool:
        self._watch.forget(name)
        self._unkept.add(name)
        return self._seen.pop(name, None) is not None

    def _read(self, name: str) -> bool:
        """Read a file; return True if its content changed."""
        before, read_at = self._seen.get(name), time.time_ns()
        try:
            data, stamp = self._folder.read(name, self._largest)
        except FileNotFoundError:
            return self._forget(name)
        except BrokenNote as error:
            self._see(name, Stamp(0, 0, 0, 0), read_at, error.message)
            return before != error.message
        digest = hashlib.sha256(data).hexdigest()
        same = before if isinstance(before, CatalogEntry) and before.digest == digest else None
        seen = replace(same, stamp=stamp) if same else _parse(name, data, stamp, digest)
        self._see(name, stamp, read_at, seen)
        self._unkept.add(name)
        return same is None

    def _resolve_ids(self) -> None:
        """Update entries and troubles from the files; the older of two files keeps an id."""
        entries: dict[str, CatalogEntry] = {}
        troubles: list[SkippedFile] = []
        for name, seen in sorted(self._seen.items()):
            if isinstance(seen, str):
                troubles.append(SkippedFile(name, seen))
                continue
            first = entries.setdefault(seen.metadata.id, seen)
            if first is not seen:
                kept, other = _choose_note(first, seen)
                entries[seen.metadata.id] = kept
                troubles.append(SkippedFile(other.name, f"it has the same id as {kept.name}"))
        self._was_full = self._watch.full
        if self._was_full:
            troubles.append(SkippedFile(".", "it has more files than the limit"))
        self.entries, self.troubles = entries, tuple(troubles)


def _parse(name: str, data: bytes, stamp: Stamp, digest: str) -> CatalogEntry | str:
    """Parse a file; return the reason if it is not a note."""
    try:
        page = parse_file(data)
        metadata = to_metadata(page.fields)
    except BrokenNote as error:
        return error.message
    words = " ".join(_words(metadata, page.body))
    return CatalogEntry(name, stamp, digest, page.fields, words, metadata)


def _words(metadata: NoteMetadata, body: str) -> Iterator[str]:
    """Tokenize a note; its title counts twice, its tags once."""
    title = terms(metadata.title)
    yield from title
    yield from title
    yield from terms(" ".join(metadata.tags))
    yield from terms(body)


def _choose_note(first: CatalogEntry, second: CatalogEntry) -> tuple[CatalogEntry, CatalogEntry]:
    """Order two files with one id: the file named after the id is the note."""
    named = first.metadata.id in first.name or second.metadata.id not in second.name
    return (first, second) if named else (second, first)
