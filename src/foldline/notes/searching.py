"""Finding notes by what they say: an index in memory, kept in step with the catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from foldline.notes.catalog import Entry
from foldline.notes.note import Card, Note
from foldline.retrieval.documents import Document, Hit
from foldline.retrieval.index import Index


@dataclass(frozen=True, slots=True)
class Found:
    """
    A note that was found.

    ``score`` compares notes of one answer. ``strength``, from 0 to 1, can be compared between
    answers: the share of what was asked for that the note holds. ``matched`` are the words.
    """

    note: Note = field(repr=False)
    score: float
    strength: float
    matched: tuple[str, ...]


class Searcher:
    """The index over the notes of a catalog; it is made when it is first used."""

    def __init__(self) -> None:
        self._index = Index()
        self._known: dict[str, str] = {}
        self._entries: Mapping[str, Entry] = {}

    def search(
        self,
        entries: Mapping[str, Entry],
        query: str,
        k: int,
        fits: Callable[[Card], bool] | None,
        now: float,
    ) -> list[Hit]:
        """
        Find notes.

        Args:
            entries: The notes there are now, by id.
            query: What to look for, in any language.
            k: The most to find.
            fits: Which notes may be found; None for all.
            now: Seconds since 1970, for "last week" and the like.
        """
        self._follow(entries)
        only = None if fits is None else (lambda one: fits(entries[one].card))
        hits = self._index.search(query, k, now=now, only=only)
        return hits or list(self._containing(query, k, fits))

    def _follow(self, entries: Mapping[str, Entry]) -> None:
        if entries is self._entries:
            return
        gone = self._known.keys() - entries.keys()
        new = [one for one in entries.values() if self._known.get(one.card.id) != one.digest]
        self._index.remove(gone)
        self._index.add(_document(entry) for entry in new)
        for one in gone:
            del self._known[one]
        self._known.update((entry.card.id, entry.digest) for entry in new)
        self._entries = entries

    def _containing(
        self, query: str, k: int, fits: Callable[[Card], bool] | None
    ) -> Iterator[Hit]:
        """Find what no word is, such as a part of a name, the newest first."""
        part = " ".join(query.lower().split())
        newest = sorted(self._entries.values(), key=lambda e: e.card.newest_first, reverse=True)
        for entry in newest if part else ():
            inside = part in entry.card.title.lower() or part in entry.terms
            if inside and k > 0 and (fits is None or fits(entry.card)):
                k -= 1
                yield Hit(entry.card.id, 0.1, {"words": 0.1}, (part,), 0.1)


def _document(entry: Entry) -> Document:
    said = tuple(entry.terms.split(" ")) if entry.terms else ()
    made = entry.card.created_at.timestamp()
    return Document(entry.card.id, entry.card.title, time=made, terms=said)
