"""The terms of chunks: SQLite's full-text index, read term by term, and rows in PostgreSQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Final

from foldline.memory.term_index import Reading, TermRows, clear_terms, drop_terms, index_terms
from foldline.sql import Connection, Parameters

BITS: Final = 40
"""A namespace has numbers for so many chunks, as a power of two."""

POOL: Final = 200
"""Chunks that are looked at closely."""

MOST_COUNTED: Final = 2_500_000
"""Chunks up to which those are counted that hold a term."""

COMMON: Final = 1_000
"""Chunks from which on it is remembered that a term is in so many; fewer are quickly counted."""


def span(namespace: int) -> tuple[int, int]:
    """Return the first and the last number that a chunk of a namespace can have."""
    return namespace << BITS, ((namespace + 1) << BITS) - 1


@dataclass(slots=True)
class Frequencies:
    """
    How many chunks hold a term; of common ones remembered while the store stays about as large.

    Args:
        most: Terms that are remembered.
    """

    most: int = 100_000
    _chunks: int = 0
    _known: dict[str, int] = field(default_factory=dict, repr=False)

    def fresh(self, chunks: int) -> None:
        """Forget all where the store has grown or shrunk by a twentieth."""
        if abs(chunks - self._chunks) * 20 > self._chunks or len(self._known) > self.most:
            self._known.clear()
            self._chunks = chunks

    def of(self, connection: Connection, space: int, term: str) -> int:
        """Return in how many chunks of a namespace an entry of the index is."""
        known = self._known.get(term)
        if known is None:
            known = _count_entry(connection, space, term)
            if known >= COMMON:
                self._known[term] = known
        return known


class FullText:
    """The virtual table ``found`` beside the table of chunks."""

    def __init__(self) -> None:
        self._frequencies: defaultdict[int, Frequencies] = defaultdict(Frequencies)

    def count(
        self, connection: Connection, space: int, entries: Sequence[str], whole: int
    ) -> Mapping[str, int]:
        """Return in how many chunks of a namespace each entry is."""
        known = self._frequencies[space]
        known.fresh(whole)
        return {entry: known.of(connection, space, entry) for entry in entries}

    def best(
        self, connection: Connection, space: int, readings: Sequence[Reading]
    ) -> dict[int, float]:
        """Return the chunks that score most."""
        scores = dict[int, float]()
        for one in readings:
            for number in _postings(connection, space, one.entry, one.most):
                scores[number] = scores.get(number, 0.0) + one.says
        return dict(nlargest(POOL, scores.items(), key=lambda pair: pair[1]))

    def add(self, connection: Connection, document: int) -> None:
        """Take in the chunks of a document."""
        connection.execute(
            "INSERT INTO found (rowid, terms) SELECT id, terms FROM chunks WHERE document = ?",
            (document,),
        )

    def drop(self, connection: Connection, document: int) -> None:
        """Let go of the chunks of a document, which are still there."""
        _drop(connection, "document = ?", (document,))

    def clear(self, connection: Connection, space: int) -> None:
        """Let go of all chunks of a namespace, which are still there."""
        _drop(connection, "id BETWEEN ? AND ?", span(space))


def _drop(connection: Connection, which: str, values: Parameters) -> None:
    """Remove chunks from the index, which needs to know what they held."""
    connection.execute(
        f"INSERT INTO found (found, rowid, terms) SELECT 'delete', id, terms FROM chunks"  # noqa: S608  # constant
        f" WHERE {which}",
        values,
    )


def _postings(connection: Connection, space: int, entry: str, most: int) -> Sequence[int]:
    rows = connection.execute(
        "SELECT rowid FROM found WHERE found MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?",
        (f'"{entry}"', *span(space), most),
    )
    return [number for (number,) in rows.fetchall()]


def _count_entry(connection: Connection, space: int, entry: str) -> int:
    (count,) = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM found WHERE found MATCH ?"
        " AND rowid BETWEEN ? AND ? LIMIT ?)",
        (f'"{entry}"', *span(space), MOST_COUNTED),
    ).fetchone()
    return int(count)


_OF_DOCUMENT: Final = "number IN (SELECT id FROM chunks WHERE document = ?)"


class ChunkTerms(TermRows):
    """The terms of chunks."""

    def add(self, connection: Connection, document: int) -> None:
        """Take in the chunks of a document."""
        index_terms(connection, _OF_DOCUMENT, (document,))

    def drop(self, connection: Connection, document: int) -> None:
        """Let go of the chunks of a document, which are still there."""
        drop_terms(connection, _OF_DOCUMENT, (document,))

    def clear(self, connection: Connection, space: int) -> None:
        """Let go of all chunks of a namespace."""
        clear_terms(connection, space)
