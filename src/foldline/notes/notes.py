"""
Notes that outlive a session: Markdown files that people can edit and programs can rely on.

    with Notes.open("project_notes") as notes:
        note = notes.create("Login fails", "Since 1.4 …", type="blocker", tags=["auth"])
        notes.search("登录 login")
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, Self

from foldline.core.validation import whole
from foldline.errors import InputError, StoreError
from foldline.frozen import replace
from foldline.notes.consolidation import Consolidation, Consolidator, UndoReport, as_before
from foldline.notes.consolidation_plan import ConsolidationPlan, LevelSettings
from foldline.notes.note import (
    Kind,
    Level,
    Note,
    NoteConflict,
    NoteMetadata,
    SkippedFile,
    Status,
    UnknownNote,
)
from foldline.notes.note_fields import check_fields, draft_note
from foldline.notes.note_store import NoteLimits, NoteStore, Version
from foldline.notes.search import (
    FoundNote,
    NotePacket,
    NoteSearch,
    NoteSummary,
    make_filter,
    make_packet,
    newest_first,
    resolve_id,
    summarize,
)
from foldline.notes.tasks import NoteTasks, RunReport, Schedule, Work, run_tasks
from foldline.type_checks import typed_methods

URGENT: Final = 2
"""The number of newest blockers placed before search results."""


@typed_methods
class Notes:
    """
    The notes of a folder. Safe for several threads and processes.

    Args:
        store: The store of the notes.
        levels: Settings of the consolidation of temporary notes.
    """

    def __init__(self, store: NoteStore, levels: LevelSettings | None = None) -> None:
        self._store = store
        self._searcher = NoteSearch()
        self._consolidator = Consolidator(store, levels or LevelSettings())
        self.tasks = NoteTasks(store)

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        *,
        limits: NoteLimits | None = None,
        levels: LevelSettings | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """
        Open a folder of notes; it is created if it is missing.

        Args:
            folder: The folder of the files.
            limits: The limits of the folder.
            levels: Settings of the consolidation of temporary notes.
            clock: Returns the time, in seconds since 1970.

        Raises:
            StoreError: The folder cannot be used.
        """
        try:
            path = Path(os.path.realpath(folder))
        except ValueError as error:
            raise StoreError(f"{str(folder)[:80]!r} is not a folder: {error}.") from error
        return cls(NoteStore(path, limits or NoteLimits(), clock), levels)

    def close(self) -> None:
        """Write the cache for the next process; the notes stay usable."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def folder(self) -> Path:
        """The folder of the files."""
        return self._store.folder.path

    # --- writing --------------------------------------------------------------------------

    def create(
        self,
        title: str,
        content: str = "",
        *,
        type: Kind = "general",  # noqa: A002  # the name of the field
        tags: Iterable[str] = (),
        level: Level = "task",
        source: str = "",
    ) -> Note:
        """
        Create a note.

        A temporary note may trigger a consolidation (`LevelSettings`); the result is then the
        note it was merged into, if any.

        Args:
            title: The subject; several lines are joined into one.
            content: Markdown, kept as it is.
            type: "task_state", "conclusion", "blocker", "action", "reference" or "general".
            tags: Keywords for searching.
            level: The lifetime: "temporary", "task" or "project".
            source: The origin, such as a file and line.

        Raises:
            InputError: A field is invalid, or the note is too large.
            StoreError: It cannot be written.
        """
        draft = draft_note(
            title=title, content=content, type=type, tags=tags, level=level, source=source
        )
        note = self._store.create(draft)
        if level == "temporary" and self._consolidator.settings.automatic:
            done = self.consolidate_if_due()
            return note if done is None else self.read(done.now(note.id))
        return note

    def update(
        self,
        id: str,  # noqa: A002  # the name of the field
        *,
        title: str | None = None,
        content: str | None = None,
        type: Kind | None = None,  # noqa: A002
        tags: Iterable[str] | None = None,
        level: Level | None = None,
        source: str | None = None,
        version: int | None = None,
    ) -> Note:
        """
        Update a note; the earlier version is kept in its history.

        Args:
            id: The id of the note.
            title: A new title; None keeps the old one, as for the other fields.
            content: New Markdown, all of it.
            type: A new type.
            tags: New tags, all of them.
            level: A new level.
            source: A new origin.
            version: The version the update is based on.

        Raises:
            UnknownNote: There is no note with this id.
            NoteConflict: It has changed since ``version``.
            InputError: A field is invalid, or the file cannot be read; it is unchanged.
        """
        given = check_fields(
            title=title, content=content, type=type, tags=tags, level=level, source=source
        )

        def change(note: Note) -> Note:
            if version is not None and note.version != version:
                raise NoteConflict(
                    f"The note {note.id} has version {note.version}, not {version}.",
                    hint="Read it again, and repeat the change.",
                )
            return replace(note, **given)

        return self._store.rewrite(self.resolve(id), change)

    def delete(self, id: str) -> NoteMetadata:  # noqa: A002
        """Move a note to the trash; `restore` brings it back."""
        return self._store.move_to_trash(self.resolve(id))

    def restore(self, id: str) -> Note:  # noqa: A002
        """
        Restore a note from the trash.

        Raises:
            UnknownNote: There is no note with this id in the trash.
            NoteConflict: The note is not deleted.
        """
        if id in self._store.refresh():
            raise NoteConflict(f"The note {id} is not deleted.")
        return self._store.restore_from_trash(resolve_id(id, [note.id for note in self.deleted()]))

    def revert(self, id: str, version: int) -> Note:  # noqa: A002
        """
        Revert a note to an earlier version; the current one is kept in its history.

        Raises:
            UnknownNote: There is no note with this id.
            InputError: It has no such version.
        """
        full_id = self.resolve(id)
        known = {one.number: one.note for one in self.history(full_id)}
        if version not in known:
            listed = ", ".join(map(str, known)) or "none"
            raise InputError(f"there is no version {version}; known: {listed}", field="version")
        return self._store.rewrite(full_id, lambda note: as_before(note, known[version]))

    # --- reading --------------------------------------------------------------------------

    def read(self, id: str) -> Note:  # noqa: A002
        """Return a note, read from its file; a unique suffix of the id is enough."""
        try:
            return self._store.read(id)
        except UnknownNote:
            return self._store.read(self.resolve(id))

    def resolve(self, id: str) -> str:  # noqa: A002
        """
        Return the full id for a suffix of it.

        Raises:
            UnknownNote: No note matches, or several do.
        """
        if self._store.knows(id):
            return id
        notes = self._store.refresh()
        for entry in notes.values():
            if id in entry.metadata.merged and id not in notes:
                raise UnknownNote(id, hint=f"It was merged into {entry.metadata.id}.")
        return resolve_id(id, notes)

    def history(self, id: str) -> tuple[Version, ...]:  # noqa: A002
        """Return the earlier versions of a note, oldest first; also of a deleted one."""
        return self._store.versions(id)

    def deleted(self) -> tuple[Note, ...]:
        """Return the notes in the trash, the last changed first."""
        return newest_first(note for _, note in self._store.trashed())

    def list(
        self,
        *,
        type: Kind | None = None,  # noqa: A002
        level: Level | None = None,
        tags: Iterable[str] = (),
        status: Status | None = None,
        limit: int = 20,
        start: int = 0,
    ) -> tuple[Note, ...]:
        """
        Return notes, the last changed first.

        Args:
            type: Only notes of this type.
            level: Only notes of this level.
            tags: Only notes with one of these tags.
            status: Only tasks with this status.
            limit: The maximum number of notes.
            start: The number of notes to skip, for paging.
        """
        whole("limit", limit)
        whole("start", start)
        fits = make_filter(type, level, tags, status)
        entries = newest_first(
            one.metadata for one in self._store.refresh().values() if fits(one.metadata)
        )
        return tuple(self._still_there(metadata.id for metadata in entries[start : start + limit]))

    def search(
        self,
        query: str,
        *,
        type: Kind | None = None,  # noqa: A002
        level: Level | None = None,
        tags: Iterable[str] = (),
        limit: int = 10,
    ) -> tuple[FoundNote, ...]:
        """
        Search notes by their text, the best first; in English, Chinese or both.

        Args:
            query: A question, words, or a part of a name.
            type: Only notes of this type.
            level: Only notes of this level.
            tags: Only notes with one of these tags.
            limit: The maximum number of notes.
        """
        whole("limit", limit)
        fits = make_filter(type, level, tags) if type or level or tags else None
        with self._store.reading():
            entries, now = self._store.refresh(), self._store.now().timestamp()
            hits = self._searcher.search(entries, query, limit, fits, now)
        notes = {note.id: note for note in self._still_there(hit.id for hit in hits)}
        return tuple(
            FoundNote(notes[hit.id], hit.score, hit.strength, hit.matched)
            for hit in hits
            if hit.id in notes
        )

    def summary(self) -> NoteSummary:
        """Count the notes."""
        return summarize(
            (entry.metadata for entry in self._store.refresh().values()), self.troubles
        )

    @property
    def troubles(self) -> tuple[SkippedFile, ...]:
        """The files of the folder that are not notes, with the reasons; they are left alone."""
        return self._store.troubles()

    def packets(self, query: str = "", *, limit: int = 5) -> tuple[NotePacket, ...]:
        """
        Return notes for a context: the newest blockers, then the search results.

        Args:
            query: The query; without it, the notes changed last.
            limit: The maximum number of notes.
        """
        blockers = self.list(type="blocker", limit=min(URGENT, limit))
        out = {note.id: make_packet(note) for note in blockers}
        if query.strip():
            for found in self.search(query, limit=limit):
                out[found.note.id] = make_packet(found.note, found.strength)
        else:
            out |= {note.id: make_packet(note) for note in self.list(limit=limit)}
        return tuple(out.values())[:limit]

    # --- levels and tasks -----------------------------------------------------------------

    def plan(self) -> ConsolidationPlan:
        """Return the plan of `consolidate`; nothing is changed."""
        return self._consolidator.plan()

    def consolidate(self) -> Consolidation:
        """Merge, promote and expire temporary notes; `undo` reverts it."""
        return self._consolidator.carry_out()

    def consolidate_if_due(self) -> Consolidation | None:
        """Consolidate if enough temporary notes were created since the last time."""
        return self.consolidate() if self._consolidator.due else None

    def consolidations(self) -> tuple[Consolidation, ...]:
        """Return past consolidations, the newest first."""
        return self._consolidator.past()

    def undo(self, id: str) -> UndoReport:  # noqa: A002
        """Undo a consolidation; notes changed since stay as they are."""
        return self._consolidator.undo(id)

    async def run_tasks(self, work: Work, schedule: Schedule | None = None) -> RunReport:
        """Run all tasks that can be run; see `foldline.notes.tasks.run_tasks`."""
        return await run_tasks(self._store, self.tasks, work, schedule)

    # --- inside ---------------------------------------------------------------------------

    def _still_there(self, ids: Iterable[str]) -> Iterator[Note]:
        for one in ids:
            try:
                yield self._store.read(one)
            except InputError:
                continue  # deleted or broken since the search
