"""
What chunks are searched by: their terms, and their vectors.

Beside a SQLite file the signs of all vectors are kept in memory, 48 bytes for 384 numbers, and
compared with those of the query; the exact vectors of the nearest are then read from the file.
Measured before: 27 ms for a million vectors, and 99.3 % (at 100,000) to 91 % (at a million) of the
exact ten nearest. In PostgreSQL terms are rows, and pgvector compares vectors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any, Final, TypeAlias

from foldline.errors import InputError
from foldline.frozen import frozen
from foldline.memory.knowledge.embedding import read_vectors
from foldline.memory.term_index import PostingRead, TermTable, clear_terms, drop_terms, index_terms
from foldline.memory.vector_index import VectorIndex, apply_search_settings, literal
from foldline.retrieval.embedding import arrays, unpack
from foldline.sql import Connection

Vectors: TypeAlias = Mapping[int, bytes]
"""Vectors by the numbers of their chunks, as `pack` writes them."""

BITS: Final = 40
"""A namespace has numbers for so many chunks, as a power of two."""

POOL: Final = 200
"""Chunks that are looked at closely for their words."""

MOST_COUNTED: Final = 2_500_000
"""Chunks up to which those are counted that hold a term."""

COMMON: Final = 1_000
"""Chunks from which on it is remembered that a term is in so many; fewer are quickly counted."""

MOST_KNOWN: Final = 100_000
"""Terms that are remembered, as long as the store has not changed by a twentieth."""

LOOKED_AT: Final = 800
"""Vectors that are compared exactly: those whose signs are nearest."""

NEAREST: Final = 100
"""Chunks that are looked at closely for their meaning."""

SLICE: Final = 65_536
"""Vectors whose signs are compared at once; it bounds the memory that this takes."""

STALE: Final = 0.05
"""The share of removed chunks from which on the signs are read again."""


def span(namespace: int) -> tuple[int, int]:
    """Return the first and the last number that a chunk of a namespace can have."""
    return namespace << BITS, ((namespace + 1) << BITS) - 1


@dataclass(slots=True)
class Signs:
    """
    The signs of the vectors of one namespace, as far as they were read.

    ``removed`` is how many chunks were ever removed from it by then, ``last`` the last one's
    number, ``size`` how many there are in the slices ``numbers`` and ``bits``.
    """

    removed: int = 0
    last: int = -1
    size: int = 0
    numbers: list[Any] = field(default_factory=list, repr=False)
    bits: list[Any] = field(default_factory=list, repr=False)


class SqliteIndex:
    """
    The full-text table ``found`` and the table ``signs`` of a SQLite file.

    Args:
        embedder: The name of the embedder that made what is compared; empty for none.
    """

    def __init__(self, embedder: str) -> None:
        self._embedder = embedder
        self._signs = defaultdict[int, Signs](Signs)
        # In how many chunks common terms are, by namespace, and how many chunks there were then.
        self._known = defaultdict[int, dict[str, int]](dict)
        self._chunks = dict[int, int]()

    def prepare(self, connection: Connection) -> None:
        """Prepare a transaction that searches; here nothing is to be done."""

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
        self, connection: Connection, space: int, readings: Sequence[PostingRead]
    ) -> dict[int, float]:
        """Return the chunks that score most."""
        scores = dict[int, float]()
        for one in readings:
            for number in _postings(connection, space, one.entry, one.most):
                scores[number] = scores.get(number, 0.0) + one.weight
        return dict(nlargest(POOL, scores.items(), key=lambda pair: pair[1]))

    def add_terms(self, connection: Connection, document: int) -> None:
        """Index the terms of a document."""
        connection.execute(
            "INSERT INTO found (rowid, terms) SELECT id, terms FROM chunks WHERE document = ?",
            (document,),
        )

    def drop_terms(self, connection: Connection, document: int) -> None:
        """Remove the terms of a document, whose chunks are still there."""
        connection.execute(f"{_DELETE} WHERE document = ?", (document,))

    def clear_terms(self, connection: Connection, space: int) -> None:
        """Remove all terms of a namespace, whose chunks are still there."""
        connection.execute(f"{_DELETE} WHERE id BETWEEN ? AND ?", span(space))

    def add_vectors(self, connection: Connection, embedder: int, vectors: Vectors) -> None:
        """Index vectors that were written to their table."""
        connection.executemany(
            "INSERT INTO signs VALUES (?, ?, ?)",
            [(embedder, one, _signs_of(unpack(data)).tobytes()) for one, data in vectors.items()],
        )

    def drop_vectors(self, connection: Connection, first: int, last: int) -> None:
        """Remove the vectors of some chunks."""
        connection.execute(
            "DELETE FROM signs WHERE embedder IN (SELECT id FROM embedders)"
            " AND chunk BETWEEN ? AND ?",
            (first, last),
        )

    def nearest(
        self, connection: Connection, space: int, removed: int, vector: Sequence[float]
    ) -> dict[int, bytes]:
        """
        Return the vectors of the chunks of a namespace that are nearest to one.

        Args:
            connection: The store, at one moment.
            space: The namespace.
            removed: How many chunks were ever removed from it.
            vector: What to compare them with.
        """
        if not self._embedder:
            return {}
        signs = self._read(connection, space, removed)
        if not signs.size:
            return {}
        numpy = arrays()
        query = numpy.asarray(vector, dtype="f4")
        mine = _signs_of(query).view("u8")
        if signs.bits[0].shape[1] != len(mine):
            raise InputError(
                f"The query has {len(query)} dimensions, and the store was embedded with others",
                hint="Add the documents again with this embedder.",
            )
        far = numpy.concatenate([_distances(rows, mine) for rows in signs.bits])
        numbers = numpy.concatenate(signs.numbers)
        count = min(LOOKED_AT, len(far))
        near = numbers[numpy.argpartition(far, count - 1)[:count]]
        found = read_vectors(connection, [int(number) for number in near])
        exact = {number: float(unpack(data) @ query) for number, data in found.items()}
        best = sorted(exact, key=exact.__getitem__, reverse=True)[:NEAREST]
        return {number: found[number] for number in best}

    def _read(self, connection: Connection, space: int, removed: int) -> Signs:
        """Read the signs that were added since; all of them where many were removed."""
        first, last = span(space)
        signs = self._signs[space]
        if removed - signs.removed > STALE * signs.size:
            signs = self._signs[space] = Signs(removed)
        rows = connection.execute(
            "SELECT chunk, bits FROM signs WHERE embedder ="
            " (SELECT id FROM embedders WHERE name = ?) AND chunk BETWEEN ? AND ? ORDER BY chunk",
            (self._embedder, max(first, signs.last + 1), last),
        )
        numpy = arrays()
        while part := rows.fetchmany(SLICE):
            signs.numbers.append(numpy.array([number for number, _ in part], dtype="i8"))
            bits = numpy.frombuffer(b"".join(data for _, data in part), dtype="u8")
            signs.bits.append(bits.reshape(len(part), -1))
            signs.size += len(part)
            signs.last = int(part[-1][0])
        return signs


_DELETE: Final = "INSERT INTO found (found, rowid, terms) SELECT 'delete', id, terms FROM chunks"
"""Removes chunks from the full-text table, which needs to know what they held."""


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


def _signs_of(vector: Any) -> Any:
    """Return the signs of a vector, eight to a byte, filled up to words of eight bytes."""
    numpy = arrays()
    bits = numpy.packbits(vector > 0)
    return numpy.pad(bits, (0, -len(bits) % 8))


def _distances(rows: Any, mine: Any) -> Any:
    """Count in how many signs vectors differ from one."""
    return arrays().bitwise_count(rows ^ mine).sum(axis=1, dtype="u2")


# --- in PostgreSQL -----------------------------------------------------------------------------

_OF_DOCUMENT: Final = "number IN (SELECT id FROM chunks WHERE document = ?)"

NEAR_TABLES: Final = (
    """
    CREATE TABLE IF NOT EXISTS near (
        number bigint PRIMARY KEY REFERENCES vectors (chunk) ON DELETE CASCADE,
        embedder bigint NOT NULL,
        direction halfvec NOT NULL
    )
    """,
)


@frozen
class PostgresIndex(TermTable):
    """
    The rows of terms and the table ``near`` of a PostgreSQL database.

    Args:
        vectors: The vectors of an embedder; None where none was given.
    """

    vectors: VectorIndex | None = None

    def prepare(self, connection: Connection) -> None:
        """Prepare a transaction that searches."""
        apply_search_settings(connection)

    def add_terms(self, connection: Connection, document: int) -> None:
        """Index the terms of a document."""
        index_terms(connection, _OF_DOCUMENT, (document,))

    def drop_terms(self, connection: Connection, document: int) -> None:
        """Remove the terms of a document, whose chunks are still there."""
        drop_terms(connection, _OF_DOCUMENT, (document,))

    def clear_terms(self, connection: Connection, space: int) -> None:
        """Remove all terms of a namespace."""
        clear_terms(connection, space)

    def add_vectors(self, connection: Connection, embedder: int, vectors: Vectors) -> None:
        """Index vectors that were written to their table."""
        connection.execute(
            "INSERT INTO near (number, embedder, direction) SELECT number, ?, direction::halfvec"
            " FROM unnest(?::bigint[], ?::text[]) AS given (number, direction)",
            (embedder, list(vectors), list(map(literal, vectors.values()))),
        )

    def drop_vectors(self, connection: Connection, first: int, last: int) -> None:
        """Remove the vectors of some chunks: they go with those in their table."""

    def nearest(
        self,
        connection: Connection,
        space: int,
        removed: int,  # noqa: ARG002  # nothing is remembered here
        vector: Sequence[float],
    ) -> dict[int, bytes]:
        """Return the vectors of the chunks of a namespace that are nearest to one."""
        if self.vectors is None:
            return {}
        first, last = span(space)
        within, values = "number BETWEEN :first AND :last", {"first": first, "last": last}
        numbers = self.vectors.nearest(connection, vector, NEAREST, within, values)
        return read_vectors(connection, numbers)
