"""The terms of chunks: SQLite's full-text index, read term by term, and rows in PostgreSQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
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

MOST_KNOWN: Final = 100_000
"""Terms that are remembered, as long as the store has not changed by a twentieth."""


def span(namespace: int) -> tuple[int, int]:
    """Return the first and the last number that a chunk of a namespace can have."""
    return namespace << BITS, ((namespace + 1) << BITS) - 1


class FullText:
    """The virtual table ``found`` beside the table of chunks."""

    def __init__(self) -> None:
        # In how many chunks common terms are, by namespace, and how many chunks there were then.
        self._known = defaultdict[int, dict[str, int]](dict)
        self._chunks = dict[int, int]()

    def count(
        self, connection: Connection, space: int, entries: Sequence[str], whole: int
    ) -> Mapping[str, int]:
        """Return in how many chunks of a namespace each entry is."""
        common, before = self._known[space], self._chunks.get(space, 0)
        if abs(whole - before) * 20 > before or len(common) > MOST_KNOWN:
            common.clear()
            self._chunks[space] = whole
        out = dict[str, int]()
        for entry in entries:
            out[entry] = common.get(entry) or _count_entry(connection, space, entry)
            if out[entry] >= COMMON:
                common[entry] = out[entry]
        return out

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
