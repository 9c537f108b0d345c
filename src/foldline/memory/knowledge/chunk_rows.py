"""What a search of knowledge in PostgreSQL goes by: rows of terms, and vectors of pgvector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.memory.directions import Directions, literal, open_directions
from foldline.memory.knowledge.full_text import span
from foldline.memory.knowledge.vector_search import NEAREST, ChunkVector, vectors_of
from foldline.memory.term_rows import TermRows, clear_terms, drop_terms, index_terms
from foldline.retrieval.embedding import Embedder
from foldline.sql import Connection, Database

NEAR_TABLES: Final = (
    """
    CREATE TABLE IF NOT EXISTS near (
        number bigint PRIMARY KEY REFERENCES vectors (chunk) ON DELETE CASCADE,
        embedder bigint NOT NULL,
        direction halfvec NOT NULL
    )
    """,
)

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


class ChunkDirections:
    """The vectors of chunks, as far as an embedder was given."""

    def __init__(self, directions: Directions | None) -> None:
        self._directions = directions

    @classmethod
    def open(cls, database: Database, embedder: Embedder | None) -> ChunkDirections:
        """
        Open the vectors of an embedder.

        Raises:
            StoreError: The database lacks the extension pgvector.
        """
        if embedder is None:
            return cls(None)
        return cls(open_directions(database, embedder, NEAR_TABLES))

    def write(self, connection: Connection, embedder: int, rows: Sequence[ChunkVector]) -> None:
        """Take in vectors that are in their table."""
        connection.execute(
            "INSERT INTO near (number, embedder, direction) SELECT number, ?, direction::halfvec"
            " FROM unnest(?::bigint[], ?::text[]) AS given (number, direction)",
            (embedder, [row.chunk for row in rows], [literal(row.data) for row in rows]),
        )

    def drop(self, connection: Connection, first: int, last: int) -> None:
        """Let go of the vectors of some chunks: they go with those in their table."""

    def nearest(
        self,
        connection: Connection,
        space: int,
        removed: int,  # noqa: ARG002  # nothing is remembered here
        vector: Sequence[float],
    ) -> dict[int, bytes]:
        """Return the vectors of the chunks of a namespace that are nearest to one."""
        if self._directions is None:
            return {}
        first, last = span(space)
        numbers = self._directions.nearest(
            connection,
            vector,
            NEAREST,
            "number BETWEEN :first AND :last",
            {"first": first, "last": last},
        )
        return vectors_of(connection, numbers)
