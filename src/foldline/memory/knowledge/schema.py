"""The tables of a store of knowledge, in SQLite and PostgreSQL, and opening them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from foldline.memory.directions import EMBEDDERS, set_searching
from foldline.memory.knowledge.chunk_rows import ChunkDirections, ChunkTerms
from foldline.memory.knowledge.full_text import BITS, FullText
from foldline.memory.knowledge.vector_search import ChunkVector, SignTable
from foldline.memory.term_index import TermIndex
from foldline.memory.term_rows import TERM_TABLES
from foldline.postgres.schema import PostgresSchema
from foldline.retrieval.embedding import Embedder
from foldline.sql import Connection, Database, is_url
from foldline.sqlite.schema import Schema

_SQLITE: Final = (
    # ``next`` numbers chunks; numbers are never used again, for others may remember them.
    """
    CREATE TABLE namespaces (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        next INTEGER NOT NULL,
        documents INTEGER NOT NULL DEFAULT 0,
        chunks INTEGER NOT NULL DEFAULT 0,
        terms INTEGER NOT NULL DEFAULT 0,
        tokens INTEGER NOT NULL DEFAULT 0,
        removed INTEGER NOT NULL DEFAULT 0
    )
    """,
    # ``version`` is a hash of the content and of all that decides how it is cut and embedded.
    """
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL REFERENCES namespaces (id),
        name TEXT NOT NULL,
        title TEXT NOT NULL,
        kind TEXT NOT NULL,
        unit TEXT NOT NULL,
        version BLOB NOT NULL,
        cut TEXT NOT NULL,
        chars INTEGER NOT NULL,
        chunks INTEGER NOT NULL,
        terms INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        added REAL NOT NULL,
        UNIQUE (namespace, name)
    )
    """,
    # ``terms``: every term once, and again with a mark where it is repeated; see `counted`.
    """
    CREATE TABLE chunks (
        id INTEGER PRIMARY KEY,
        document INTEGER NOT NULL REFERENCES documents (id),
        number INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        fresh INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        length INTEGER NOT NULL,
        heading TEXT NOT NULL,
        terms TEXT NOT NULL,
        text TEXT NOT NULL
    )
    """,
    "CREATE INDEX chunks_of_documents ON chunks (document)",
    # All that is not ASCII is part of a term, and the signs that terms and marks are made of.
    """
    CREATE VIRTUAL TABLE found USING fts5 (
        terms, content='chunks', content_rowid='id', detail=none, columnsize=0,
        tokenize="ascii tokenchars '_*'"
    )
    """,
    "CREATE TABLE embedders (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    # The signs of a vector's numbers stand apart: they are read whole, the vectors one by one.
    """
    CREATE TABLE signs (
        embedder INTEGER NOT NULL,
        chunk INTEGER NOT NULL,
        bits BLOB NOT NULL,
        PRIMARY KEY (embedder, chunk)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE vectors (
        chunk INTEGER PRIMARY KEY,
        embedder INTEGER NOT NULL,
        data BLOB NOT NULL
    )
    """,
)

KNOWLEDGE: Final = Schema(0x464F4C4B, (_SQLITE,), "store of knowledge")
"""The mark is "FOLK" in ASCII."""

_POSTGRES: Final = (
    """
    CREATE TABLE namespaces (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text COLLATE "C" NOT NULL UNIQUE,
        next bigint NOT NULL,
        documents bigint NOT NULL DEFAULT 0,
        chunks bigint NOT NULL DEFAULT 0,
        terms bigint NOT NULL DEFAULT 0,
        tokens bigint NOT NULL DEFAULT 0,
        removed bigint NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE documents (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        namespace bigint NOT NULL REFERENCES namespaces (id),
        name text COLLATE "C" NOT NULL,
        title text NOT NULL,
        kind text NOT NULL,
        unit text NOT NULL,
        version bytea NOT NULL,
        cut text NOT NULL,
        chars bigint NOT NULL,
        chunks bigint NOT NULL,
        terms bigint NOT NULL,
        tokens bigint NOT NULL,
        added double precision NOT NULL,
        UNIQUE (namespace, name)
    )
    """,
    """
    CREATE TABLE chunks (
        id bigint PRIMARY KEY,
        document bigint NOT NULL REFERENCES documents (id),
        number bigint NOT NULL,
        first bigint NOT NULL,
        last bigint NOT NULL,
        fresh bigint NOT NULL,
        tokens bigint NOT NULL,
        length bigint NOT NULL,
        heading text NOT NULL,
        terms text NOT NULL,
        text text NOT NULL
    )
    """,
    "CREATE INDEX chunks_of_documents ON chunks (document)",
    EMBEDDERS,
    """
    CREATE TABLE vectors (
        chunk bigint PRIMARY KEY,
        embedder bigint NOT NULL,
        data bytea NOT NULL
    )
    """,
    *TERM_TABLES,
    f"""
    CREATE VIEW entries AS
        SELECT id >> {BITS} AS space, id AS number, 0.0::float8 AS happened, entry.term FROM chunks
        CROSS JOIN LATERAL unnest(array_append(string_to_array(terms, ' '), '')) AS entry (term)
    """,  # noqa: S608  # a number
)

POSTGRES: Final = PostgresSchema("foldline_knowledge", (_POSTGRES,), "store of knowledge")

CACHE: Final = 64_000
"""Kilobytes of a file that are kept in memory."""


class ChunkTermIndex(TermIndex, Protocol):
    """The terms of chunks."""

    def add(self, connection: Connection, document: int) -> None:
        """Take in the chunks of a document."""
        ...

    def drop(self, connection: Connection, document: int) -> None:
        """Let go of the chunks of a document, which are still there."""
        ...

    def clear(self, connection: Connection, space: int) -> None:
        """Let go of all chunks of a namespace, which are still there."""
        ...


class ChunkVectorIndex(Protocol):
    """The vectors of chunks, as they are searched."""

    def write(self, connection: Connection, embedder: int, rows: Sequence[ChunkVector]) -> None:
        """Take in vectors that are in their table."""
        ...

    def drop(self, connection: Connection, first: int, last: int) -> None:
        """Let go of the vectors of some chunks."""
        ...

    def nearest(
        self,
        connection: Connection,
        space: int,
        removed: int,
        vector: Sequence[float],
    ) -> Mapping[int, bytes]:
        """
        Return the vectors of the chunks of a namespace that are nearest to one.

        Args:
            connection: The store, at one moment.
            space: The namespace.
            removed: How many were ever removed from it.
            vector: What to compare them with.
        """
        ...


@dataclass(frozen=True, slots=True)
class KnowledgeStore:
    """A store: its database, and what it is searched by."""

    database: Database
    terms: ChunkTermIndex
    vectors: ChunkVectorIndex

    @contextmanager
    def searching(self) -> Iterator[Connection]:
        """Look at one moment of the store, in order to search."""
        with self.database.reading() as connection:
            if isinstance(self.terms, ChunkTerms):
                set_searching(connection)
            yield connection


def open_store(place: str | os.PathLike[str], embedder: Embedder | None) -> KnowledgeStore:
    """
    Open the store at a path or a URL; it is made where it is missing.

    Args:
        place: The file, or the URL of a PostgreSQL database.
        embedder: Made the vectors that are searched.

    Raises:
        StoreError: It cannot be opened, or is no store of knowledge.
        MissingExtra: The extra ``postgres`` is not installed.
    """
    if isinstance(place, str) and is_url(place):
        from foldline.postgres.database import PostgresDatabase

        database = PostgresDatabase(place, POSTGRES)
        try:
            return KnowledgeStore(database, ChunkTerms(), ChunkDirections.open(database, embedder))
        except BaseException:
            database.close()
            raise
    from foldline.sqlite.database import SqliteDatabase

    file = SqliteDatabase(place, KNOWLEDGE)
    with file.reading() as connection:
        connection.execute(f"PRAGMA cache_size = -{CACHE}")
    return KnowledgeStore(file, FullText(), SignTable("" if embedder is None else embedder.name))
