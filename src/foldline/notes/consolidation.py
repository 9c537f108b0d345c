"""
Carry out consolidation plans so that each can be undone.

A record of the plan is written first. A merged note gets its missing lines, with their origin,
before its sources move to the trash: a crash in between leaves both.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from foldline.errors import InputError, StoreError
from foldline.frozen import field, frozen, replace
from foldline.notes.catalog import CatalogEntry
from foldline.notes.consolidation_plan import (
    ConsolidationPlan,
    LevelSettings,
    Merge,
    NoteTerms,
    Promotion,
    plan_levels,
)
from foldline.notes.note import BrokenNote, Note, NoteConflict, NoteMetadata, UnknownNote
from foldline.notes.note_fields import UlidMaker, ulid_milliseconds
from foldline.notes.note_store import NoteStore

ENDING: Final = ".json"
LARGEST_RECORD: Final = 8 << 20
_WORD: Final = re.compile(r"[0-9A-Za-z_-]{8,64}")


@frozen
class Consolidation:
    """
    A consolidation that was carried out, with the id to undo it.

    ``versions`` holds the earlier version number of every changed note.
    """

    id: str
    time: datetime
    plan: ConsolidationPlan
    versions: Mapping[str, int] = field(repr=False, default_factory=dict)
    undone: bool = False

    def now(self, id: str) -> str:  # noqa: A002  # of a note
        """Return the id of a note after this: its own, or that of the note it was merged into."""
        return next((merge.into for merge in self.plan.merges if id in merge.sources), id)


@frozen
class UndoReport:
    """
    The result of an undo: reverted notes, and notes restored from the trash.

    ``kept`` are notes that changed since; they stay, and their history has the old text.
    """

    reverted: tuple[str, ...]
    restored: tuple[str, ...]
    kept: tuple[str, ...]


class Consolidator:
    """
    Consolidates the notes of a store.

    Args:
        store: The store of the notes.
        settings: The thresholds.
    """

    def __init__(self, store: NoteStore, settings: LevelSettings) -> None:
        self._store, self.settings = store, settings
        self._records = store.data.subfolder("consolidations")
        self._new_id = UlidMaker(lambda: store.now().timestamp())

    @property
    def due(self) -> bool:
        """Return True if enough temporary notes were created since the last time."""
        last = next((name for name in reversed(self._names())), "")
        since = ulid_milliseconds(last.removesuffix(ENDING)) or 0
        made = (
            entry.metadata.created_at.timestamp() * 1000
            for entry in self._store.refresh().values()
            if entry.metadata.level == "temporary"
        )
        return sum(at > since for at in made) >= self.settings.threshold

    def plan(self) -> ConsolidationPlan:
        """Return the current plan; nothing is changed."""
        entries = self._store.refresh()
        terms = [NoteTerms(one.metadata, frozenset(one.terms.split())) for one in entries.values()]
        return plan_levels(terms, self._count_citations(entries), self.settings, self._store.now())

    def carry_out(self) -> Consolidation:
        """Plan and consolidate; this is recorded even if there is nothing to do."""
        with self._store.locked():
            plan, entries = self.plan(), self._store.refresh()
            changed = [*(m.into for m in plan.merges), *(p.id for p in plan.promotions)]
            versions = {one: entries[one].metadata.version for one in changed}
            done = Consolidation(self._new_id(), self._store.now(), plan, versions)
            self._records.create(f"{done.id}{ENDING}", _to_json(done))
            promoted = {promotion.id: promotion for promotion in plan.promotions}
            made = tuple(one for one in plan.merges if self._merge(one, promoted.get(one.into)))
            for merge in made:
                promoted.pop(merge.into, None)
            for promotion in promoted.values():
                self._promote(promotion)
            for one in plan.expired:
                self._store.move_to_trash(one)
            if made != plan.merges:
                done = replace(done, plan=replace(plan, merges=made))
                self._records.replace(f"{done.id}{ENDING}", _to_json(done))
            return done

    def past(self) -> tuple[Consolidation, ...]:
        """Return past consolidations, the newest first."""
        return tuple(self._record(name) for name in reversed(self._names()))

    def undo(self, id: str) -> UndoReport:  # noqa: A002  # of the consolidation
        """
        Undo a consolidation, even one that a crash interrupted.

        Raises:
            InputError: There is no consolidation with this id.
            StoreError: Its record is damaged.
        """
        with self._store.locked():
            name = f"{id}{ENDING}"
            if not _WORD.fullmatch(id) or not self._records.has(name):
                raise InputError(f"there is no consolidation {id[:80]!r}", field="id")
            done = self._record(name)
            sources = (*(s for m in done.plan.merges for s in m.sources), *done.plan.expired)
            restored = tuple(one for one in sources if self._restore(one))
            how = {one: self._revert(one, number) for one, number in done.versions.items()}
            self._records.replace(name, _to_json(replace(done, undone=True)))
            return UndoReport(
                tuple(one for one, reverted in how.items() if reverted),
                restored,
                tuple(one for one, reverted in how.items() if reverted is False),
            )

    # --- steps ----------------------------------------------------------------------------

    def _merge(self, merge: Merge, promotion: Promotion | None) -> bool:
        """Merge notes; return False if that is impossible, as when they are too large for one."""

        def change(note: Note) -> Note:
            return replace(
                note,
                content=merged_content(note, sources),
                merged=tuple(dict.fromkeys((*note.merged, *merge.sources))),
                tags=tuple(dict.fromkeys((*note.tags, *(t for s in sources for t in s.tags)))),
                level=promotion.after if promotion else note.level,
            )

        try:
            sources = [self._store.read(one) for one in merge.sources]
            self._store.rewrite(merge.into, change)
        except InputError:
            return False
        for source in sources:
            self._store.move_to_trash(source.id)
        return True

    def _promote(self, promotion: Promotion) -> None:
        self._store.rewrite(promotion.id, lambda note: replace(note, level=promotion.after))

    def _restore(self, one: str) -> bool:
        try:
            self._store.restore_from_trash(one)
        except (UnknownNote, NoteConflict):
            return False
        return True

    def _revert(self, one: str, number: int) -> bool | None:
        """Restore a version; return False if the note changed since, None if it is unchanged."""
        before = next((v.note for v in self._store.versions(one) if v.number == number), None)
        try:
            now = self._store.read(one)
        except (UnknownNote, BrokenNote):
            return False
        if before is None or now.version == number:
            return None
        if now.version != number + 1:
            return False
        self._store.rewrite(one, lambda note: as_before(note, before))
        return True

    # --- records --------------------------------------------------------------------------

    def _names(self) -> list[str]:
        return [name for name in self._records.names() if name.endswith(ENDING)]

    def _record(self, name: str) -> Consolidation:
        try:
            return _from_json(json.loads(self._records.read(name, LARGEST_RECORD)[0]))
        except (ValueError, KeyError, TypeError, RecursionError, BrokenNote, OSError) as error:
            raise StoreError(
                f"The record {name} of a consolidation is damaged.",
                hint="The notes themselves are intact; merged notes are in the trash.",
            ) from error

    def _count_citations(self, entries: Mapping[str, CatalogEntry]) -> Counter[str]:
        """Count the other notes that cite each note; ids are terms of their text."""
        by_term = {one.lower(): one for one in entries}
        cited: Counter[str] = Counter()
        for entry in entries.values():
            named = {by_term[term] for term in set(entry.terms.split()) & by_term.keys()}
            cited.update((named | {*entry.metadata.needs}) - {entry.metadata.id})
        return cited


def merged_content(note: Note, sources: Iterable[Note]) -> str:
    """Return the content of a note plus the missing lines of its sources, with their origin."""
    content = note.content
    for source in sources:
        there = {line.strip() for line in content.splitlines()}
        more = [line for line in source.content.splitlines() if line.strip() not in there]
        if source.title != note.title and source.title not in there:
            more = more or [source.title]
        if more:
            origin = f"{source.title} ({source.updated_at:%Y-%m-%d}, {source.id})"
            content = f"{content.rstrip()}\n\n## Also noted: {origin}\n\n" + "\n".join(more)
    return content


def as_before(now: NoteMetadata, before: Note) -> Note:
    """Return an earlier version of a note, to be written as the next version."""
    return replace(before, id=now.id, version=now.version, created_at=now.created_at)


def _to_json(done: Consolidation) -> bytes:
    value = {
        "schema": "foldline.consolidation/1",
        "id": done.id,
        "time": done.time.isoformat(timespec="milliseconds"),
        "undone": done.undone,
        "versions": dict(done.versions),
        **asdict(done.plan),
    }
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def _from_json(value: Any) -> Consolidation:
    plan = ConsolidationPlan(
        tuple(
            Merge(str(m["into"]), tuple(map(str, m["sources"])), float(m["likeness"]))
            for m in value["merges"]
        ),
        tuple(
            Promotion(str(p["id"]), p["before"], p["after"], str(p["why"]))
            for p in value["promotions"]
        ),
        tuple(map(str, value["expired"])),
    )
    versions = {str(one): int(number) for one, number in value["versions"].items()}
    time = datetime.fromisoformat(value["time"])
    return Consolidation(str(value["id"]), time, plan, versions, bool(value["undone"]))
