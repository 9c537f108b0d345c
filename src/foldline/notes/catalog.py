"""
What is in the folder now: every note without its content, kept in step with the files.

The files are the truth. A look compares the stamps of files with those they were read at, and
reads those that differ; a digest shows whether they really do. A file so young that it could
change again without a new stamp is read once more. A file that is put in the place of another has
a new inode, and changes the stamp of the folder; both are cheap to see. A file that is edited in
place shows it only in its own stamp: in a small folder all of them are compared at each look, in a
large one a part of them in turn, and all of them after a pause.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from foldline.notes.catalog_cache import CachedFile, CatalogCache
from foldline.notes.folder import Folder, Stamp
from foldline.notes.markdown_file import parse_file
from foldline.notes.note import BrokenNote, NoteMetadata, SkippedFile
from foldline.notes.note_fields import to_metadata
from foldline.relevance.terms import terms

COMPARE_ALL: Final = 2_000
"""Files whose stamps are all compared at each look; comparing one costs 2 to 4 µs."""

TURN: Final = 1_000
"""Files of a larger folder whose stamps are compared at each look."""

FULL_AFTER: Final = 2.0
"""Seconds without a look, after which all are compared."""

YOUNG: Final = 50_000_000
"""Nanoseconds in which some systems give two changes the same time."""


def is_young(changed: int, read_at: int) -> bool:
    """Return True if what changed at a time may have changed again since, unseen by its stamp."""
    return changed > read_at - YOUNG


class FolderWatch:
    """
    Watches the files of a folder.

    Args:
        folder: Which folder.
        ending: How the names of the files end.
        most: Files that are looked at.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        folder: Folder,
        ending: str,
        most: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder, self._ending, self._most, self._clock = folder, ending, most, clock
        self._looked_at = float("-inf")
        self._folder_stamp: Stamp | None = None
        self._queue: list[str] = []
        self.full = False

    def changes(
        self, known: Mapping[str, Stamp], doubtful: Collection[str]
    ) -> tuple[dict[str, Stamp], set[str]]:
        """
        Say what may have changed.

        Args:
            known: The stamps with which files were read.
            doubtful: Files to look at in any case.

        Returns:
            The stamps of files that changed, are new or doubtful; and the names of those gone.
        """
        now, before = self._clock(), self._looked_at
        self._looked_at = now
        moved = self._has_moved()
        if now - before > FULL_AFTER or len(known) <= COMPARE_ALL:
            present = dict(islice(self._folder.stamps(self._ending), self._most))
            self.full = len(present) >= self._most
            return _differing(present, known, doubtful), set(known.keys() - present.keys())
        suspects = {*doubtful, *self._turn(known)}
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
        gone = {name for name, stamp in stamps.items() if stamp is None and name in known}
        return _differing(present, known, doubtful), gone

    def _has_moved(self) -> bool:
        """Return True if the folder itself changed since the last look, or may have."""
        stamp, read_at = self._folder.own_stamp(), time.time_ns()
        same = stamp == self._folder_stamp
        self._folder_stamp = None if is_young(stamp.changed, read_at) else stamp
        return not same

    def _turn(self, known: Mapping[str, Stamp]) -> Iterator[str]:
        """Take the files whose turn it is."""
        if not self._queue:
            self._queue = list(known)
        turn, self._queue = self._queue[:TURN], self._queue[TURN:]
        return (name for name in turn if name in known)


def _differing(
    present: Mapping[str, Stamp], known: Mapping[str, Stamp], doubtful: Collection[str]
) -> dict[str, Stamp]:
    return {
        name: stamp
        for name, stamp in present.items()
        if known.get(name) != stamp or name in doubtful
    }


ENDING: Final = ".md"

KEPT_AT: Final = 200
"""So many files that were read anew are worth writing to the cache."""


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A note in the folder; ``terms`` is all that it says, cut for searching."""

    name: str
    metadata: NoteMetadata
    digest: str
    terms: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Seen:
    """How a file was found; ``row`` is None for one that is no note, and ``why`` says why."""

    stamp: Stamp
    read_at: int
    row: CachedFile | None
    why: str = ""


class Catalog:
    """
    The notes of a folder; not for several threads at once.

    Args:
        folder: Where the files are.
        sidecar: Where to keep what was read.
        largest: Bytes that a note may have.
        most: Files that are looked at.
    """

    def __init__(self, folder: Folder, sidecar: CatalogCache, largest: int, most: int) -> None:
        self._folder, self._sidecar = folder, sidecar
        self._largest = largest
        self._watch = FolderWatch(folder, ENDING, most)
        self._seen: dict[str, _Seen] = {}
        self._stamps: dict[str, Stamp] = {}
        self._young: set[str] = set()
        self._unkept: set[str] = set()
        self._loaded = self._was_full = False
        self.entries: Mapping[str, CatalogEntry] = {}
        self.troubles: tuple[SkippedFile, ...] = ()

    def look(self) -> Mapping[str, CatalogEntry]:
        """Bring the catalog in step with the files; return the notes by their ids."""
        first = not self._loaded
        if first:
            self._load()
        young = {name for name in self._young if name in self._seen}
        changed, gone = self._watch.changes(self._stamps, young)
        touched = sum([self._read(name) for name in changed]) + len(gone)
        for name in gone:
            self._forget(name)
        if touched or first or self._watch.full != self._was_full:
            self._sort_out()
        if len(self._unkept) >= KEPT_AT:
            self.keep()
        return self.entries

    def keep(self) -> None:
        """Write to the cache what is not there yet."""
        rows = [row for name in self._unkept if (row := self._old_enough(name)) is not None]
        gone = [name for name in self._unkept if name not in self._seen]
        if rows or gone:
            self._sidecar.keep(rows, gone)
        self._unkept -= {*gone, *(row.name for row in rows)}

    def _load(self) -> None:
        for name, row in self._sidecar.rows().items():
            self._see(name, _Seen(row.stamp, row.stamp.changed + YOUNG + 1, row))
        self._loaded = True

    def _see(self, name: str, seen: _Seen) -> None:
        self._seen[name] = seen
        self._stamps[name] = seen.stamp
        if is_young(seen.stamp.changed, seen.read_at):
            self._young.add(name)
        else:
            self._young.discard(name)

    def _forget(self, name: str) -> bool:
        self._young.discard(name)
        self._unkept.add(name)
        self._stamps.pop(name, None)
        return self._seen.pop(name, None) is not None

    def _read(self, name: str) -> bool:
        """Read a file; return True if it says something else than before."""
        before, read_at = self._seen.get(name), time.time_ns()
        try:
            data, stamp = self._folder.read(name, self._largest)
        except FileNotFoundError:
            return self._forget(name)
        except BrokenNote as error:
            self._see(name, _Seen(Stamp(0, 0, 0, 0), read_at, None, error.message))
            return before is None or before.why != error.message
        digest = hashlib.sha256(data).hexdigest()
        row = before.row if before else None
        if row is not None and row.digest == digest:
            row = CachedFile(name, stamp, digest, row.fields, row.terms)
            self._see(name, _Seen(stamp, read_at, row))
            self._unkept.add(name)
            return False
        self._see(name, _parse(name, data, stamp, digest, read_at))
        self._unkept.add(name)
        return True

    def _sort_out(self) -> None:
        """Make entries and troubles of what was seen; the older of two files keeps an id."""
        entries: dict[str, CatalogEntry] = {}
        troubles: list[SkippedFile] = []
        for name, seen in sorted(self._seen.items()):
            if seen.row is None:
                troubles.append(SkippedFile(name, seen.why))
                continue
            entry = self._entry(seen.row)
            if isinstance(entry, SkippedFile):
                troubles.append(entry)
                continue
            first = entries.setdefault(entry.metadata.id, entry)
            if first is not entry:
                kept, other = _choose_note(first, entry)
                entries[entry.metadata.id] = kept
                troubles.append(SkippedFile(other.name, f"it has the same id as {kept.name}"))
        self._was_full = self._watch.full
        if self._was_full:
            troubles.append(SkippedFile(".", "it has more files than are looked at"))
        self.entries, self.troubles = entries, tuple(troubles)

    def _entry(self, row: CachedFile) -> CatalogEntry | SkippedFile:
        known = self.entries.get(str(row.fields.get("id", "")))
        if known is not None and (known.name, known.digest) == (row.name, row.digest):
            return known
        try:
            return CatalogEntry(row.name, to_metadata(row.fields), row.digest, row.terms)
        except BrokenNote as error:
            return SkippedFile(row.name, error.message)

    def _old_enough(self, name: str) -> CachedFile | None:
        seen = self._seen.get(name)
        return None if seen is None or name in self._young else seen.row


def _parse(name: str, data: bytes, stamp: Stamp, digest: str, read_at: int) -> _Seen:
    try:
        page = parse_file(data)
        metadata = to_metadata(page.fields)
    except BrokenNote as error:
        return _Seen(stamp, read_at, None, error.message)
    words = " ".join(_words(metadata, page.body))
    return _Seen(stamp, read_at, CachedFile(name, stamp, digest, page.fields, words))


def _words(metadata: NoteMetadata, body: str) -> Iterator[str]:
    """Cut what a note says; its title counts twice, its tags once."""
    title = terms(metadata.title)
    yield from title
    yield from title
    yield from terms(" ".join(metadata.tags))
    yield from terms(body)


def _choose_note(first: CatalogEntry, second: CatalogEntry) -> tuple[CatalogEntry, CatalogEntry]:
    """Of two files with one id, the one that is named after it is the note."""
    named = first.metadata.id in first.name or second.metadata.id not in second.name
    return (first, second) if named else (second, first)
