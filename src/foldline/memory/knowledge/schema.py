"""The tables of a knowledge store in SQLite and PostgreSQL, and a function to open it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from foldline.frozen import frozen
from foldline.memory.database import open_database
from foldline.memory.knowledge.search_index import (
    BITS,
    NEAR_TABLES,
    PostgresIndex,
    SqliteIndex,
)
from foldline.memory.term_index import TERM_TABLES
from foldline.memory.vector_index import EMBEDDERS, open_vector_index
from foldline.postgres.schema import PostgresSchema
from foldline.retrieval.embedding import Embedder
from foldline.sql import Connection, Database, is_url, postgres_tables, sqlite_tables
from foldline.sqlite import Schema

_TABLES: Final = (
    # ``next`` numbers chunks; numbers are never reused, since other processes may cache them.
    """
    CREATE TABLE namespaces (
        id {key},
        name {label} NOT NULL UNIQUE,
        next {whole} NOT NULL,
        documents {whole} NOT NULL DEFAULT 0,
        chunks {whole} NOT NULL DEFAULT 0,
        terms {whole} NOT NULL DEFAULT 0,
        tokens {whole} NOT NULL DEFAULT 0,
        removed {whole} NOT NULL DEFAULT 0
    )
    """,
    # ``version`` is a hash of the content and of everything that affects splitting and embedding.
    """
    CREATE TABLE documents (
        id {key},
        namespace {whole} NOT NULL REFERENCES namespaces (id),
        name {label} NOT NULL,
        title {text} NOT NULL,
        kind {text} NOT NULL,
        unit {text} NOT NULL,
        version {bytes} NOT NULL,
        cut {text} NOT NULL,
        chars {whole} NOT NULL,
        chunks {whole} NOT NULL,
        terms {whole} NOT NULL,
        tokens {whole} NOT NULL,
        added {real} NOT NULL,
        UNIQUE (namespace, name)
    )
    """,
    # ``terms``: every term once, and again with a prefix if it is repeated; see `write_terms`.
    """
    CREATE TABLE chunks (
        id {given_key},
        document {whole} NOT NULL REFERENCES documents (id),
        number {whole} NOT NULL,
        first {whole} NOT NULL,
        last {whole} NOT NULL,
        fresh {whole} NOT NULL,
        tokens {whole} NOT NULL,
        length {whole} NOT NULL,
        heading {text} NOT NULL,
        terms {text} NOT NULL,
        text {text} NOT NULL
    )
    """,
    "CREATE INDEX chunks_of_documents ON chunks (document)",
    EMBEDDERS,
    """
    CREATE TABLE vectors (
        chunk {given_key},
        embedder {whole} NOT NULL,
        data {bytes} NOT NULL
    )
    """,
)

_SQLITE: Final = (
    *sqlite_tables(_TABLES),
    # Non-ASCII characters are part of a term, and so are the characters of terms and prefixes.
    """
    CREATE VIRTUAL TABLE found USING fts5 (
        terms, content='chunks', content_rowid='id', detail=none, columnsize=0,
        tokenize="ascii tokenchars '_*'"
    )
    """,
    # The signs of vectors have their own table: it is read as a whole, vectors one by one.
    """
    CREATE TABLE signs (
        embedder INTEGER NOT NULL,
        chunk INTEGER NOT NULL,
        bits BLOB NOT NULL,
        PRIMARY KEY (embedder, chunk)
    ) WITHOUT ROWID
    """,
)

KNOWLEDGE: Final = Schema(0x464F4C4B, (_SQLITE,), "store of knowledge")
"""The mark is "FOLK" in ASCII."""

_POSTGRES: Final = (
    *postgres_tables(_TABLES),
    *TERM_TABLES,
    f"""
    CREATE VIEW entries AS
        SELECT id >> {BITS} AS space, id AS number, 0.0::float8 AS happened, entry.term FROM chunks
        CROSS JOIN LATERAL unnest(array_append(string_to_array(terms, ' '), '')) AS entry (term)
    """,  # noqa: S608  # a number
)

POSTGRES: Final = PostgresSchema("foldline_knowledge", (_POSTGRES,), "store of knowledge")

CACHE: Final = 64_000
"""The page cache of a file in kilobytes."""


@frozen
class KnowledgeStore:
    """A store: its database and its search index."""

    database: Database
    index: SqliteIndex | PostgresIndex

    @contextmanager
    def searching(self) -> Iterator[Connection]:
        """Open a consistent read transaction for searching."""
        with self.database.reading() as connection:
            self.index.prepare(connection)
            yield connection


def open_store(place: str | os.PathLike[str], embedder: Embedder | None) -> KnowledgeStore:
    """
    Open the store at a path or a URL, and create it if it is missing.

    Args:
        place: The file, or the URL of a PostgreSQL database.
        embedder: The embedder of the vectors.

    Raises:
        StoreError: It cannot be opened, or is not a knowledge store.
        MissingExtra: The extra ``postgres`` is not installed.
    """
    database = open_database(place, KNOWLEDGE, POSTGRES)
    try:
        if is_url(place):
            vectors = (
                None if embedder is None else open_vector_index(database, embedder, NEAR_TABLES)
            )
            return KnowledgeStore(database, PostgresIndex(vectors=vectors))
        with database.reading() as connection:
            connection.execute(f"PRAGMA cache_size = -{CACHE}")
    except BaseException:
        database.close()
        raise
    return KnowledgeStore(database, SqliteIndex("" if embedder is None else embedder.name))
