"""
Notes as files: create, read, change, delete and restore; no version is ever lost.

    FOLDER/2025-01-19-title-ID.md       the notes, the source of truth
    FOLDER/INDEX.md                     a readable list of them, never read back
    FOLDER/.notes/history/ID/0001.md    earlier versions of a note
    FOLDER/.notes/trash/                deleted notes
    FOLDER/.notes/consolidations/       records of consolidations, for undo
    FOLDER/.notes/lock, index.db        local to a machine; may be deleted
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Final

from foldline.core.validation import positive, whole
from foldline.errors import InputError, StoreError
from foldline.frozen import frozen, replace
from foldline.notes.catalog import ENDING, Catalog, CatalogCache, CatalogEntry
from foldline.notes.folder import LISTING, Folder, FolderLock
from foldline.notes.index_page import IndexPage
from foldline.notes.markdown_file import format_file, parse_file, patch_file
from foldline.notes.note import (
    BrokenNote,
    Note,
    NoteConflict,
    NoteMetadata,
    SkippedFile,
    UnknownNote,
)
from foldline.notes.note_fields import UlidMaker, changed_fields, file_name, to_fields, to_note

INSIDE: Final = ".notes"
SLACK: Final = 1_000
"""The tolerance above the limit for notes created by several processes at once."""

LISTING_PATIENCE: Final = 1.0
"""The timeout in seconds for another process when only the index page is to be written."""

IGNORED: Final = (
    b"# Of this machine only; the rest is worth keeping.\n/lock\n/running\n/index.db*\n"
)


@frozen
class NoteLimits:
    """
    Limits of a folder of notes.

    Args:
        largest: The maximum size of a file in bytes.
        most: The maximum number of files.
        patience: The timeout in seconds while another process writes.
        listed: The maximum number of notes in INDEX.md; 0 for no such file.

    Raises:
        BudgetError: A limit is out of range.
    """

    largest: int = 1 << 20
    most: int = 100_000
    patience: float = 10.0
    listed: int = 1_000

    def __post_init__(self) -> None:
        whole("largest", self.largest, 1_024)
        whole("most", self.most, 1)
        positive("patience", self.patience)
        whole("listed", self.listed)


@frozen
class Version:
    """An earlier version of a note, by its number in the history."""

    number: int
    note: Note


class NoteStore:
    """
    The files of a folder of notes.

    Args:
        path: The folder; it is created if it is missing.
        limits: The limits of the folder.
        clock: Returns the time, in seconds since 1970.

    Raises:
        StoreError: The folder cannot be used.
    """

    def __init__(
        self, path: Path, limits: NoteLimits, clock: Callable[[], float] = time.time
    ) -> None:
        self.limits, self._clock = limits, clock
        self.folder = Folder(path)
        self.data = self.folder.subfolder(INSIDE)
        self._trash = self.data.subfolder("trash")
        if not self.data.has(".gitignore"):
            self.data.replace(".gitignore", IGNORED)
        self.folder.sweep()
        cache = CatalogCache(self.data.path / "index.db")
        self._catalog = Catalog(self.folder, cache, limits.largest, limits.most + SLACK)
        busy = f"Another process has been writing notes to {path} for {limits.patience:g} seconds."
        self._file_lock = FolderLock(self.data.path / "lock", limits.patience, busy)
        self._threads = RLock()
        self._new_id = UlidMaker(clock)
        self._made: int | None = None
        self._index_page = IndexPage(self.folder, limits.listed)
        self._holders = 0

    # --- reading --------------------------------------------------------------------------

    def now(self) -> datetime:
        """Return the time, in UTC, to the millisecond as in files."""
        return datetime.fromtimestamp(int(self._clock() * 1000) / 1000, UTC)

    def reading(self) -> AbstractContextManager[bool]:
        """Lock out other threads that read."""
        return self._threads

    def knows(self, id: str) -> bool:  # noqa: A002  # the name of the field
        """Return True if the last refresh had a note with this id."""
        return id in self._catalog.entries

    def refresh(self) -> Mapping[str, CatalogEntry]:
        """Return the current notes, by id."""
        with self._threads:
            self._made = 0
            return self._catalog.refresh()

    def troubles(self) -> tuple[SkippedFile, ...]:
        """Return the files that are not notes, with the reasons."""
        with self._threads:
            self._catalog.refresh()
            foreign = SkippedFile(LISTING, "the index page needs this name; rename the file")
            return (*self._catalog.troubles, *([foreign] if self._index_page.is_foreign else []))

    def read(self, id: str) -> Note:  # noqa: A002  # the name of the field
        """
        Read a note from its file.

        Raises:
            UnknownNote: There is no note with this id.
            BrokenNote: Its file can no longer be read.
        """
        return self._find(id)[2]

    def versions(self, id: str) -> tuple[Version, ...]:  # noqa: A002
        """Return the earlier versions of a note, oldest first, without broken ones."""
        kept, out = self.data.subfolder("history"), list[Version]()
        if not kept.has(id):
            return ()
        folder = kept.subfolder(id)
        for name in folder.names():
            number = name.removesuffix(ENDING)
            with suppress(BrokenNote, FileNotFoundError):
                if number.isdecimal():
                    data, _ = folder.read(name, self.limits.largest)
                    out.append(Version(int(number), to_note(parse_file(data))))
        return tuple(sorted(out, key=lambda version: version.number))

    def trashed(self) -> Iterator[tuple[str, Note]]:
        """Yield the notes in the trash, with their file names."""
        for name in self._trash.names():
            try:
                yield name, to_note(parse_file(self._trash.read(name, self.limits.largest)[0]))
            except (BrokenNote, FileNotFoundError):
                continue

    # --- changing -------------------------------------------------------------------------

    @contextmanager
    def locked(self, patience: float | None = None) -> Iterator[None]:
        """
        Lock out other threads and processes that write; then update the index page.

        Args:
            patience: The timeout in seconds, if not the default.
        """
        with self._threads, self._file_lock.held(patience):
            self._holders += 1
            try:
                yield
            finally:
                self._holders -= 1
                if not self._holders and self._index_page.is_due(len(self._catalog.entries)):
                    self._write_index_page()

    def create(self, make: Callable[[str, datetime], Note]) -> Note:
        """
        Write a new note.

        Args:
            make: Creates it from its id and the time.

        Raises:
            InputError: It is too large.
            StoreError: It cannot be written, or there are too many.
        """
        with self._threads:
            if self._made is None:
                self.refresh()
            self._made = (self._made or 0) + 1
            if len(self._catalog.entries) + self._made > self.limits.most:
                raise StoreError(
                    f"{self.folder.path} has reached the limit of {self.limits.most:,} notes.",
                    hint="Delete or consolidate some.",
                )
        note = make(self._new_id(), self.now())
        data = format_file(to_fields(note), note.content)
        kept = self._check(data)
        try:
            self.folder.create(file_name(note.created_at, note.title, note.id), data)
        except FileExistsError as error:
            raise NoteConflict(f"The id {note.id} exists already.", hint="Retry.") from error
        with suppress(StoreError), self.locked(LISTING_PATIENCE):
            pass  # only the index page is pending; the holder of the lock writes it
        return kept

    def rewrite(self, id: str, change: Callable[[Note], Note]) -> Note:  # noqa: A002
        """
        Change a note; the earlier version is kept in its history.

        Args:
            id: The id of the note.
            change: Returns the new version; an exception aborts the change.

        Raises:
            UnknownNote: There is no note with this id.
            InputError: It is broken, or would be too large.
            StoreError: It cannot be written; the note is unchanged.
        """
        with self.locked():
            name, data, before = self._find(id)
            page, after = parse_file(data), change(before)
            if not changed_fields(before, after) and after.content == before.content:
                return before
            number = self._keep_version(id, before.version, data)
            later = max(self.now(), before.updated_at)
            after = replace(after, version=number + 1, updated_at=later)
            new = patch_file(page, changed_fields(before, after), after.content)
            kept = self._check(new)
            self.folder.replace(name, new)
            return kept

    def move_to_trash(self, id: str) -> NoteMetadata:  # noqa: A002
        """
        Move a note to the trash.

        Raises:
            UnknownNote: There is no note with this id.
        """
        with self.locked():
            entry = self._entry(id)
            stem, number = entry.name.removesuffix(ENDING), 1
            name = entry.name
            while self._trash.has(name):
                number += 1
                name = f"{stem}.{number}{ENDING}"
            try:
                self.folder.move(entry.name, self._trash, name)
            except FileNotFoundError as error:
                raise UnknownNote(id) from error
            return entry.metadata

    def restore_from_trash(self, id: str) -> Note:  # noqa: A002
        """
        Restore a note from the trash, the version deleted last.

        Raises:
            UnknownNote: There is no note with this id in the trash.
            NoteConflict: The note is not deleted.
        """
        with self.locked():
            if id in self.refresh():
                raise NoteConflict(f"The note {id[:64]} is not deleted.")
            found = [(name, note) for name, note in self.trashed() if note.id == id]
            if not found:
                raise UnknownNote(id)
            name, note = max(found, key=lambda pair: (pair[1].newest_first, pair[0]))
            place = file_name(note.created_at, note.title, note.id)
            self._trash.move(name, self.folder, place)
            return note

    def close(self) -> None:
        """Write the cache for the next process, and update the index page."""
        if not self.folder.path.is_dir():  # it was moved away: do not create it again
            return
        with suppress(StoreError), self._threads, self._file_lock.held(LISTING_PATIENCE):
            self._write_index_page()
        with self._threads:
            self._catalog.keep()

    # --- inside ---------------------------------------------------------------------------

    def _write_index_page(self) -> None:
        with suppress(OSError):  # the folder no longer exists
            self._index_page.write(self.refresh().values())

    def _find(self, id: str) -> tuple[str, bytes, Note]:  # noqa: A002
        """Find the file of a note at its last path, else by a refresh of the folder."""
        with self._threads:
            known = self._catalog.entries.get(id)
            for entry in (known, None):
                name = entry.name if entry else self._entry(id).name
                try:
                    data, _ = self.folder.read(name, self.limits.largest)
                    note = to_note(parse_file(data))
                except FileNotFoundError:
                    continue
                except BrokenNote as error:
                    raise BrokenNote(
                        f"{name} cannot be read as a note: {error.message}",
                        hint="Repair it by hand; it was not changed.",
                    ) from error
                if note.id == id:
                    return name, data, note
        raise UnknownNote(id)

    def _entry(self, id: str) -> CatalogEntry:  # noqa: A002
        entry = self.refresh().get(id)
        if entry is None:
            raise UnknownNote(id)
        return entry

    def _keep_version(self, id: str, version: int, data: bytes) -> int:  # noqa: A002
        """Write the old content of a note to its history; return the version number."""
        folder = self.data.subfolder("history").subfolder(id)
        number = version
        while True:
            name = f"{number:04d}{ENDING}"
            try:
                folder.create(name, data)
            except FileExistsError:
                # A crash between this step and the change leaves the same bytes there.
                if folder.read(name, self.limits.largest)[0] != data:
                    number += 1
                    continue
            return number

    def _check(self, data: bytes) -> Note:
        """Parse new content before it is written; raise if it could not be read again."""
        if len(data) > self.limits.largest:
            raise InputError(
                f"the note would have {len(data):,} bytes; the limit is {self.limits.largest:,}",
                field="content",
                hint="Put the text into a file, and link to it from the note.",
            )
        try:
            return to_note(parse_file(data))
        except BrokenNote as error:
            raise InputError(
                f"The note could not be read again: {error.message}",
                hint="Shorten its title, tags and other fields.",
            ) from error
