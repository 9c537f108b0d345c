"""
The tables of a store of knowledge.

A namespace is a range of chunk numbers, so that the full-text index, which knows nothing but
numbers and terms, can be searched and cleared for one namespace alone.
"""

from __future__ import annotations

from typing import Final

from foldline.sqlite.schema import Schema

BITS: Final = 40
"""A namespace has numbers for so many chunks, as a power of two."""

_FIRST: Final = (
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

KNOWLEDGE: Final = Schema(0x464F4C4B, (_FIRST,), "store of knowledge")
"""The mark is "FOLK" in ASCII."""


def span(namespace: int) -> tuple[int, int]:
    """Return the first and the last number that a chunk of a namespace can have."""
    return namespace << BITS, ((namespace + 1) << BITS) - 1
