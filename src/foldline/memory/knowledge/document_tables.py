"""
The tables of a store of knowledge, and documents put into them and taken out.

A namespace is a range of chunk numbers, so that the full-text index, which knows nothing but
numbers and terms, can be searched and cleared for one namespace alone.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from foldline.memory.chunk import ChunkSettings, split
from foldline.memory.documents import DocumentText
from foldline.memory.knowledge.term_index import write_terms
from foldline.memory.knowledge.values import Outcome
from foldline.relevance.terms import TERMS_VERSION, terms
from foldline.sqlite.schema import Schema

BITS: Final = 40
"""A namespace has numbers for so many chunks, as a power of two."""

_TABLES: Final = (
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

KNOWLEDGE: Final = Schema(0x464F4C4B, (_TABLES,), "store of knowledge")
"""The mark is "FOLK" in ASCII."""


def span(namespace: int) -> tuple[int, int]:
    """Return the first and the last number that a chunk of a namespace can have."""
    return namespace << BITS, ((namespace + 1) << BITS) - 1


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk as it is stored."""

    first: int
    last: int
    fresh: int
    tokens: int
    length: int
    heading: str
    terms: str = field(repr=False)
    text: str = field(repr=False)

    @property
    def values(self) -> tuple[int | str, ...]:
        """All of it, in the order of the columns."""
        head = (self.first, self.last, self.fresh, self.tokens, self.length)
        return (*head, self.heading, self.terms, self.text)


@dataclass(frozen=True, slots=True)
class Vectors:
    """The meanings of chunks, by their positions: the signs of the numbers, and the numbers."""

    embedder: str
    rows: Sequence[tuple[int, bytes, bytes]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """A document ready to be stored."""

    name: str
    reading: DocumentText = field(repr=False)
    version: bytes
    rows: Sequence[ChunkRow] = field(repr=False)
    vectors: Vectors | None = field(default=None, repr=False)

    @property
    def terms(self) -> int:
        """How many terms it has."""
        return sum(row.length for row in self.rows)

    @property
    def tokens(self) -> int:
        """How many tokens its chunks take."""
        return sum(row.tokens for row in self.rows)


def document_version(reading: DocumentText, chunks: ChunkSettings, embedder: str) -> bytes:
    """Return a hash of all that decides what is stored of a document."""
    head = (reading.kind, reading.title, reading.unit, reading.places, chunks.target)
    rules = json.dumps([*head, chunks.overlap, TERMS_VERSION, embedder])
    content = reading.text.encode("utf-8", "surrogatepass")
    return blake2b(rules.encode() + b"\0" + content, digest_size=20).digest()


def make_chunk_rows(reading: DocumentText, settings: ChunkSettings) -> list[ChunkRow]:
    """Cut a document into rows; blank chunks are left out."""
    out = list[ChunkRow]()
    for chunk in split(reading.text, reading.kind, settings):
        if not chunk.text.strip():
            continue
        counts = _terms(reading.title, chunk.heading, chunk.text)
        row = ChunkRow(
            reading.place(chunk.first_line),
            reading.place(chunk.last_line),
            chunk.fresh - chunk.start,
            chunk.tokens,
            counts.total(),
            json.dumps(chunk.heading, ensure_ascii=False),
            write_terms(counts),
            chunk.text.encode("utf-8", "replace").decode(),
        )
        out.append(row)
    return out


def _terms(title: str, heading: Sequence[str], text: str) -> Counter[str]:
    return Counter(terms("\n".join((title, *heading, text))))


def ensure_namespace(connection: sqlite3.Connection, name: str) -> int:
    """Return the number of a namespace; it is made when there is none."""
    row = connection.execute("SELECT id FROM namespaces WHERE name = ?", (name,)).fetchone()
    if row is None:
        row = connection.execute(
            "INSERT INTO namespaces (name, next) VALUES (?, 0) RETURNING id", (name,)
        ).fetchone()
    return int(row[0])


def find_document(
    connection: sqlite3.Connection, namespace: int, name: str
) -> tuple[int, bytes] | None:
    """Return the number and the version of a document."""
    row = connection.execute(
        "SELECT id, version FROM documents WHERE namespace = ? AND name = ?", (namespace, name)
    ).fetchone()
    return None if row is None else (int(row[0]), bytes(row[1]))


def replace_document(
    connection: sqlite3.Connection, namespace: int, draft: DocumentRows, moment: float
) -> Outcome:
    """Store a document in the place of its former version."""
    former = find_document(connection, namespace, draft.name)
    if former is not None and former[1] == draft.version:
        return "unchanged"
    if former is not None:
        remove_document(connection, namespace, former[0])
    reading = draft.reading
    head = (draft.name, reading.title, reading.kind, reading.unit, draft.version, TERMS_VERSION)
    sums = (len(reading.text), len(draft.rows), draft.terms, draft.tokens)
    (document,) = connection.execute(
        "INSERT INTO documents (namespace, name, title, kind, unit, version, cut, chars, chunks,"
        " terms, tokens, added) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (namespace, *head, *sums, moment),
    ).fetchone()
    first = _take_numbers(connection, namespace, draft)
    connection.executemany(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((first + at, document, at, *row.values) for at, row in enumerate(draft.rows)),
    )
    connection.executemany(
        "INSERT INTO found (rowid, terms) VALUES (?, ?)",
        ((first + at, row.terms) for at, row in enumerate(draft.rows)),
    )
    if draft.vectors is not None:
        _embed(connection, first, draft.vectors)
    return "added" if former is None else "replaced"


def _take_numbers(connection: sqlite3.Connection, namespace: int, draft: DocumentRows) -> int:
    """Take numbers for the chunks of a document, and add it to the sums of its namespace."""
    (after,) = connection.execute(
        "UPDATE namespaces SET next = next + ?, documents = documents + 1, chunks = chunks + ?,"
        " terms = terms + ?, tokens = tokens + ? WHERE id = ? RETURNING next",
        (len(draft.rows), len(draft.rows), draft.terms, draft.tokens, namespace),
    ).fetchone()
    return span(namespace)[0] + int(after) - len(draft.rows)


def _embed(connection: sqlite3.Connection, first: int, vectors: Vectors) -> None:
    connection.execute("INSERT OR IGNORE INTO embedders (name) VALUES (?)", (vectors.embedder,))
    (embedder,) = connection.execute(
        "SELECT id FROM embedders WHERE name = ?", (vectors.embedder,)
    ).fetchone()
    connection.executemany(
        "INSERT INTO signs VALUES (?, ?, ?)",
        ((embedder, first + at, bits) for at, bits, _ in vectors.rows),
    )
    connection.executemany(
        "INSERT INTO vectors VALUES (?, ?, ?)",
        ((first + at, embedder, data) for at, _, data in vectors.rows),
    )


def remove_document(connection: sqlite3.Connection, namespace: int, document: int) -> None:
    """Take a document out with all that was made of it."""
    _drop_terms(connection, "document = ?", (document,))
    chunks = "(SELECT id FROM chunks WHERE document = ?)"
    connection.execute(
        f"DELETE FROM signs WHERE (embedder, chunk) IN (SELECT embedder, chunk FROM vectors"  # noqa: S608  # constant
        f" WHERE chunk IN {chunks})",
        (document,),
    )
    connection.execute(f"DELETE FROM vectors WHERE chunk IN {chunks}", (document,))  # noqa: S608  # constant
    connection.execute("DELETE FROM chunks WHERE document = ?", (document,))
    connection.execute(
        "UPDATE namespaces SET documents = documents - 1,"
        " chunks = namespaces.chunks - d.chunks,"
        " terms = namespaces.terms - d.terms, tokens = namespaces.tokens - d.tokens,"
        " removed = removed + d.chunks FROM documents d WHERE d.id = ? AND namespaces.id = ?",
        (document, namespace),
    )
    connection.execute("DELETE FROM documents WHERE id = ?", (document,))


def clear_namespace(connection: sqlite3.Connection, namespace: int) -> int:
    """Take all documents of a namespace out, and none of another; return how many there were."""
    first, last = span(namespace)
    _drop_terms(connection, "id BETWEEN ? AND ?", (first, last))
    connection.execute("DELETE FROM chunks WHERE id BETWEEN ? AND ?", (first, last))
    connection.execute("DELETE FROM vectors WHERE chunk BETWEEN ? AND ?", (first, last))
    connection.execute(
        "DELETE FROM signs WHERE embedder IN (SELECT id FROM embedders) AND chunk BETWEEN ? AND ?",
        (first, last),
    )
    count = connection.execute("DELETE FROM documents WHERE namespace = ?", (namespace,)).rowcount
    connection.execute(
        "UPDATE namespaces SET removed = removed + chunks, documents = 0, chunks = 0, terms = 0,"
        " tokens = 0 WHERE id = ?",
        (namespace,),
    )
    return count


def _drop_terms(connection: sqlite3.Connection, which: str, values: tuple[int, ...]) -> None:
    """Remove chunks from the full-text index, which needs to know what they held."""
    connection.execute(
        f"INSERT INTO found (found, rowid, terms) SELECT 'delete', id, terms FROM chunks"  # noqa: S608  # constant
        f" WHERE {which}",
        values,
    )


def recut_document(connection: sqlite3.Connection, document: int, title: str) -> None:
    """Cut the chunks of a document into terms again, by the rules of today."""
    _drop_terms(connection, "document = ?", (document,))
    rows = connection.execute(
        "SELECT id, heading, text FROM chunks WHERE document = ?", (document,)
    ).fetchall()
    total = 0
    for number, heading, text in rows:
        counts = _terms(title, json.loads(heading), text)
        total += counts.total()
        connection.execute(
            "UPDATE chunks SET terms = ?, length = ? WHERE id = ?",
            (write_terms(counts), counts.total(), number),
        )
    connection.execute(
        "INSERT INTO found (rowid, terms) SELECT id, terms FROM chunks WHERE document = ?",
        (document,),
    )
    connection.execute(
        "UPDATE namespaces SET terms = namespaces.terms - d.terms + ? FROM documents d"
        " WHERE d.id = ? AND namespaces.id = d.namespace",
        (total, document),
    )
    connection.execute(
        "UPDATE documents SET terms = ?, cut = ? WHERE id = ?", (total, TERMS_VERSION, document)
    )
