"""
What is in the folder now: every note without its content, kept in step with the files.

The files are the truth. A look compares the stamps of files with those they were read at, and
reads those that differ; a digest tells whether they really do. A file so young that it could
change again without a new stamp is read once more.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from foldline.notes.fields import card_of
from foldline.notes.folder import Folder, Stamp
from foldline.notes.front_matter import parsed
from foldline.notes.note import Card
from foldline.notes.problems import BrokenNote, Trouble
from foldline.notes.sidecar import Row, Sidecar
from foldline.notes.watching import YOUNG, Watch, is_young
from foldline.relevance.terms import terms

ENDING: Final = ".md"

KEPT_AT: Final = 200
"""So many files that were read anew are worth writing to the cache."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A note in the folder; ``terms`` is all that it says, cut for searching."""

    name: str
    card: Card
    digest: str
    terms: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Seen:
    """How a file was found; ``row`` is None for one that is no note, and ``why`` says why."""

    stamp: Stamp
    read_at: int
    row: Row | None
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

    def __init__(self, folder: Folder, sidecar: Sidecar, largest: int, most: int) -> None:
        self._folder, self._sidecar = folder, sidecar
        self._largest = largest
        self._watch = Watch(folder, ENDING, most)
        self._seen: dict[str, _Seen] = {}
        self._stamps: dict[str, Stamp] = {}
        self._young: set[str] = set()
        self._unkept: set[str] = set()
        self._loaded = self._was_full = False
        self.entries: Mapping[str, Entry] = {}
        self.troubles: tuple[Trouble, ...] = ()

    def look(self) -> Mapping[str, Entry]:
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
        """Read a file; tell whether it says something else than before."""
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
            row = Row(name, stamp, digest, row.fields, row.terms)
            self._see(name, _Seen(stamp, read_at, row))
            self._unkept.add(name)
            return False
        self._see(name, _understood(name, data, stamp, digest, read_at))
        self._unkept.add(name)
        return True

    def _sort_out(self) -> None:
        """Make entries and troubles of what was seen; the older of two files keeps an id."""
        entries: dict[str, Entry] = {}
        troubles: list[Trouble] = []
        for name, seen in sorted(self._seen.items()):
            if seen.row is None:
                troubles.append(Trouble(name, seen.why))
                continue
            entry = self._entry(seen.row)
            if isinstance(entry, Trouble):
                troubles.append(entry)
                continue
            first = entries.setdefault(entry.card.id, entry)
            if first is not entry:
                kept, other = _kept(first, entry)
                entries[entry.card.id] = kept
                troubles.append(Trouble(other.name, f"it has the same id as {kept.name}"))
        self._was_full = self._watch.full
        if self._was_full:
            troubles.append(Trouble(".", "it has more files than are looked at"))
        self.entries, self.troubles = entries, tuple(troubles)

    def _entry(self, row: Row) -> Entry | Trouble:
        known = self.entries.get(str(row.fields.get("id", "")))
        if known is not None and (known.name, known.digest) == (row.name, row.digest):
            return known
        try:
            return Entry(row.name, card_of(row.fields), row.digest, row.terms)
        except BrokenNote as error:
            return Trouble(row.name, error.message)

    def _old_enough(self, name: str) -> Row | None:
        seen = self._seen.get(name)
        return None if seen is None or name in self._young else seen.row


def _understood(name: str, data: bytes, stamp: Stamp, digest: str, read_at: int) -> _Seen:
    try:
        page = parsed(data)
        card = card_of(page.fields)
    except BrokenNote as error:
        return _Seen(stamp, read_at, None, error.message)
    said = " ".join(_words(card, page.body))
    return _Seen(stamp, read_at, Row(name, stamp, digest, page.fields, said))


def _words(card: Card, body: str) -> Iterator[str]:
    """Cut what a note says; its title counts twice, its tags once."""
    title = terms(card.title)
    yield from title
    yield from title
    yield from terms(" ".join(card.tags))
    yield from terms(body)


def _kept(first: Entry, second: Entry) -> tuple[Entry, Entry]:
    """Of two files with one id, the one that is named after it is the note."""
    named = first.card.id in first.name or second.card.id not in second.name
    return (first, second) if named else (second, first)
