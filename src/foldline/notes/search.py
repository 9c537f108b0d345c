"""Search notes by metadata and by words, and pack them for a context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, TypeVar

from foldline.frozen import field, frozen
from foldline.notes.catalog import CatalogEntry
from foldline.notes.note import (
    RELEVANCE,
    Kind,
    Level,
    Note,
    NoteMetadata,
    SkippedFile,
    Status,
    UnknownNote,
)
from foldline.notes.note_fields import check_fields, parse_tags
from foldline.relevance.language import CHINESE, language
from foldline.retrieval.documents import Document, Hit
from foldline.retrieval.index import Index
from foldline.tokens.estimate import estimate

Known = TypeVar("Known", bound=NoteMetadata)

SHORTEST_PART: Final = 4
"""The minimum length of a suffix of an id; ids created together share a prefix."""

RECENT: Final = 5


@frozen
class NoteSummary:
    """The number of notes by type, level and status, and the notes changed last."""

    total: int
    by_type: Mapping[str, int]
    by_level: Mapping[str, int]
    by_status: Mapping[str, int]
    recent: tuple[NoteMetadata, ...]
    troubles: tuple[SkippedFile, ...]


def summarize(entries: Iterable[NoteMetadata], troubles: tuple[SkippedFile, ...]) -> NoteSummary:
    """Count notes, and the files that are not notes."""
    ordered = newest_first(entries)
    return NoteSummary(
        len(ordered),
        dict(Counter(metadata.type for metadata in ordered)),
        dict(Counter(metadata.level for metadata in ordered)),
        dict(Counter(metadata.status for metadata in ordered if metadata.status)),
        ordered[:RECENT],
        troubles,
    )


def newest_first(entries: Iterable[Known]) -> tuple[Known, ...]:
    """Sort notes, the last changed first."""
    return tuple(sorted(entries, key=lambda metadata: metadata.newest_first, reverse=True))


def make_filter(
    type: Kind | None,  # noqa: A002  # the name of the field
    level: Level | None,
    tags: Iterable[str],
    status: Status | None = None,
) -> Callable[[NoteMetadata], bool]:
    """
    Return a predicate: does a note have this type, level and status, and one of the tags?

    Raises:
        InputError: The type or level is unknown.
    """
    check_fields(type=type, level=level)
    tag_filter = set(parse_tags(tags))
    return lambda metadata: (
        type in (None, metadata.type)
        and level in (None, metadata.level)
        and status in (None, metadata.status)
        and (not tag_filter or not tag_filter.isdisjoint(metadata.tags))
    )


def resolve_id(part: str, ids: Iterable[str]) -> str:
    """
    Return the id that equals a text, or the only one that ends with it.

    Raises:
        UnknownNote: No id matches, or several do.
    """
    known, suffix = list(ids), part.strip().upper()
    if part in known:
        return part
    found = {one for one in known if one.upper().endswith(suffix)}
    if len(found) != 1 or len(suffix) < SHORTEST_PART:
        raise UnknownNote(part)
    return found.pop()


@frozen
class FoundNote:
    """
    A note in a search result.

    ``score`` is comparable within one result. ``strength``, 0 to 1, is comparable between
    searches: the share of the query that the note contains. ``matched`` are the words.
    """

    note: Note = field(repr=False)
    score: float
    strength: float
    matched: tuple[str, ...]


class NoteSearch:
    """The search index of the notes of a catalog; built on first use."""

    def __init__(self) -> None:
        self._index = Index()
        self._known: dict[str, str] = {}
        self._entries: Mapping[str, CatalogEntry] = {}

    def search(
        self,
        entries: Mapping[str, CatalogEntry],
        query: str,
        k: int,
        fits: Callable[[NoteMetadata], bool] | None,
        now: float,
    ) -> list[Hit]:
        """
        Search notes.

        Args:
            entries: The current notes, by id.
            query: A query in any language.
            k: The maximum number of results.
            fits: A filter of notes; None for all.
            now: The time, in seconds since 1970, for dates such as "last week".
        """
        self._follow(entries)
        only = None if fits is None else (lambda one: fits(entries[one].metadata))
        hits = self._index.search(query, k, now=now, only=only)
        return hits or list(self._containing(query, k, fits))

    def _follow(self, entries: Mapping[str, CatalogEntry]) -> None:
        if entries is self._entries:
            return
        removed = self._known.keys() - entries.keys()
        new = [one for one in entries.values() if self._known.get(one.metadata.id) != one.digest]
        self._index.remove(removed)
        self._index.add(_document(entry) for entry in new)
        for one in removed:
            del self._known[one]
        self._known.update((entry.metadata.id, entry.digest) for entry in new)
        self._entries = entries

    def _containing(
        self, query: str, k: int, fits: Callable[[NoteMetadata], bool] | None
    ) -> Iterator[Hit]:
        """Find substrings that are not words, such as parts of names, the newest first."""
        part = " ".join(query.lower().split())
        newest = sorted(
            self._entries.values(), key=lambda e: e.metadata.newest_first, reverse=True
        )
        for entry in newest if part else ():
            inside = part in entry.metadata.title.lower() or part in entry.terms
            if inside and k > 0 and (fits is None or fits(entry.metadata)):
                k -= 1
                yield Hit(entry.metadata.id, 0.1, {"words": 0.1}, (part,), 0.1)


def _document(entry: CatalogEntry) -> Document:
    words = tuple(entry.terms.split(" ")) if entry.terms else ()
    made = entry.metadata.created_at.timestamp()
    return Document(entry.metadata.id, entry.metadata.title, time=made, terms=words)


WORDS: Final = {True: ("笔记", "类型"), False: ("Note", "Type")}
"""The words for a note and its type, in Chinese and in English."""


@frozen
class NotePacket:
    """
    A note as a piece of context.

    ``timestamp`` is the time of its last change, ``token_count`` an estimate for ``content``,
    ``relevance_score`` from 0 to 1. ``metadata`` describes the note: ``type`` is "note",
    ``note_type``, ``note_id``, ``title``, ``level``, ``tags``, and ``strength`` if it is a search
    result.
    """

    content: str = field(repr=False)
    timestamp: datetime
    token_count: int
    relevance_score: float
    metadata: Mapping[str, Any]


def make_packet(note: Note, strength: float | None = None) -> NotePacket:
    """
    Return a note as a piece of context.

    Args:
        note: The note.
        strength: The strength of a search result, 0 to 1; None if it is none.
    """
    named, typed = WORDS[language((note.title, note.content)) == CHINESE]
    content = f"[{named}: {note.title}]\n{typed}: {note.type}\n\n{note.content}"
    metadata: dict[str, Any] = {
        "type": "note",
        "note_type": note.type,
        "note_id": note.id,
        "title": note.title,
        "level": note.level,
        "tags": note.tags,
    }
    if note.status is not None:
        metadata["status"] = note.status
    if strength is not None:
        metadata["strength"] = strength
    return NotePacket(content, note.updated_at, estimate(content), RELEVANCE[note.type], metadata)
