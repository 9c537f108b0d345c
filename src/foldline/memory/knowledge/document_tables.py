"""
Insert documents into the tables of a knowledge store, and remove them.

A namespace is a range of chunk numbers, so that the full-text index, which stores only numbers
and terms, can be searched and cleared for a single namespace.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, TypeAlias

from foldline.frozen import field, frozen
from foldline.memory.chunk import ChunkSettings, split
from foldline.memory.database import as_bytes
from foldline.memory.documents import DocumentText
from foldline.memory.knowledge.schema import KnowledgeStore
from foldline.memory.knowledge.search_index import BITS, span
from foldline.memory.term_index import write_terms
from foldline.relevance.terms import TERMS_VERSION, terms
from foldline.sql import Connection

Outcome: TypeAlias = Literal["added", "replaced", "unchanged"]


@frozen
class DocumentInfo:
    """A document in a store; ``added`` in seconds since 1970, ``chars`` is its length."""

    name: str
    title: str
    kind: str
    chunks: int
    tokens: int
    chars: int
    added: float


@frozen
class KnowledgeStats:
    """Statistics of a namespace; ``bytes`` is the size of the whole file."""

    namespace: str
    documents: int
    chunks: int
    tokens: int
    embedded: int
    embedder: str
    namespaces: tuple[str, ...]
    bytes: int


class ChunkRow(NamedTuple):
    """A row of the table of chunks, in the order of the columns."""

    first: int
    last: int
    fresh: int
    tokens: int
    length: int
    heading: str
    terms: str
    text: str


@frozen
class DocumentRows:
    """A document ready to be stored; the vectors of its chunks are numbered from 0."""

    name: str
    reading: DocumentText = field(repr=False)
    version: bytes
    rows: Sequence[ChunkRow] = field(repr=False)
    embedder: str = ""
    vectors: Mapping[int, bytes] = field(default_factory=dict, repr=False)

    @property
    def terms(self) -> int:
        """The number of terms."""
        return sum(row.length for row in self.rows)

    @property
    def tokens(self) -> int:
        """The total tokens of its chunks."""
        return sum(row.tokens for row in self.rows)


def document_version(reading: DocumentText, chunks: ChunkSettings, embedder: str) -> bytes:
    """Return a hash of everything that affects how a document is stored."""
    head = (reading.kind, reading.title, reading.unit, reading.places, chunks.target)
    rules = json.dumps([*head, chunks.overlap, TERMS_VERSION, embedder])
    content = reading.text.encode("utf-8", "surrogatepass")
    return blake2b(rules.encode() + b"\0" + content, digest_size=20).digest()


def make_chunk_rows(reading: DocumentText, settings: ChunkSettings) -> list[ChunkRow]:
    """Split a document into rows; blank chunks are skipped."""
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
            storable(chunk.text),
        )
        out.append(row)
    return out


def storable(text: str) -> str:
    """Return a text that every database can store: valid Unicode, without NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _terms(title: str, heading: Sequence[str], text: str) -> Counter[str]:
    return Counter(terms("\n".join((title, *heading, text))))


def _ensure_namespace(connection: Connection, name: str) -> int:
    """Lock a namespace, creating it if it is missing, and return its number."""
    (number,) = connection.execute(
        "INSERT INTO namespaces (name, next) VALUES (?, 0)"
        " ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
        (name,),
    ).fetchone()
    return int(number)


def lock_namespace(connection: Connection, name: str) -> int | None:
    """Lock a namespace and return its number; None if it does not exist."""
    row = connection.execute(
        "UPDATE namespaces SET name = name WHERE name = ? RETURNING id", (name,)
    ).fetchone()
    return None if row is None else int(row[0])


@frozen
class StoredDocument:
    """A stored document: its number, its version, and its totals."""

    id: int
    version: bytes
    chunks: int
    tokens: int


def find_document(connection: Connection, namespace: str, name: str) -> StoredDocument | None:
    """Return a document of a namespace; None if it does not exist."""
    row = connection.execute(
        "SELECT d.id, d.version, d.chunks, d.tokens FROM documents d"
        " JOIN namespaces n ON n.id = d.namespace WHERE n.name = ? AND d.name = ?",
        (namespace, name),
    ).fetchone()
    if row is None:
        return None
    number, version, chunks, tokens = row
    return StoredDocument(number, as_bytes(version), chunks, tokens)


def replace_document(
    store: KnowledgeStore, connection: Connection, name: str, draft: DocumentRows, now: float
) -> Outcome:
    """
    Store a document, replacing its previous version.

    Args:
        store: The store.
        connection: A write transaction of the store.
        name: The name of the namespace, which is created if it is missing.
        draft: The document.
        now: The time, in seconds since 1970.
    """
    namespace = _ensure_namespace(connection, name)
    former = find_document(connection, name, draft.name)
    if former is not None and former.version == draft.version:
        return "unchanged"
    if former is not None:
        remove_document(store, connection, namespace, former.id)
    reading = draft.reading
    head = (draft.name, storable(reading.title), reading.kind, reading.unit, draft.version)
    sums = (len(reading.text), len(draft.rows), draft.terms, draft.tokens)
    (document,) = connection.execute(
        "INSERT INTO documents (namespace, name, title, kind, unit, version, cut, chars, chunks,"
        " terms, tokens, added) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (namespace, *head, TERMS_VERSION, *sums, now),
    ).fetchone()
    first = _take_numbers(connection, namespace, draft)
    connection.executemany(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((first + at, document, at, *row) for at, row in enumerate(draft.rows)),
    )
    store.index.add_terms(connection, document)
    if draft.vectors:
        _embed(store, connection, first, draft)
    return "added" if former is None else "replaced"


def _take_numbers(connection: Connection, namespace: int, draft: DocumentRows) -> int:
    """Reserve numbers for the chunks of a document, and add it to the totals of its namespace."""
    (after,) = connection.execute(
        "UPDATE namespaces SET next = next + ?, documents = documents + 1, chunks = chunks + ?,"
        " terms = terms + ?, tokens = tokens + ? WHERE id = ? RETURNING next",
        (len(draft.rows), len(draft.rows), draft.terms, draft.tokens, namespace),
    ).fetchone()
    return span(namespace)[0] + int(after) - len(draft.rows)


def _embed(store: KnowledgeStore, connection: Connection, first: int, draft: DocumentRows) -> None:
    connection.execute(
        "INSERT INTO embedders (name) VALUES (?) ON CONFLICT (name) DO NOTHING", (draft.embedder,)
    )
    (embedder,) = connection.execute(
        "SELECT id FROM embedders WHERE name = ?", (draft.embedder,)
    ).fetchone()
    vectors = {first + at: data for at, data in draft.vectors.items()}
    connection.executemany(
        "INSERT INTO vectors VALUES (?, ?, ?)",
        [(number, embedder, data) for number, data in vectors.items()],
    )
    store.index.add_vectors(connection, embedder, vectors)


def remove_document(
    store: KnowledgeStore, connection: Connection, namespace: int, document: int
) -> None:
    """Remove a document with its chunks, terms and vectors."""
    store.index.drop_terms(connection, document)
    first, last = connection.execute(
        "SELECT coalesce(min(id), 0), coalesce(max(id), -1) FROM chunks WHERE document = ?",
        (document,),
    ).fetchone()
    _remove_vectors(store, connection, first, last)
    connection.execute("DELETE FROM chunks WHERE document = ?", (document,))
    connection.execute(
        "UPDATE namespaces SET documents = documents - 1,"
        " chunks = namespaces.chunks - d.chunks,"
        " terms = namespaces.terms - d.terms, tokens = namespaces.tokens - d.tokens,"
        " removed = removed + d.chunks FROM documents d WHERE d.id = ? AND namespaces.id = ?",
        (document, namespace),
    )
    connection.execute("DELETE FROM documents WHERE id = ?", (document,))


def clear_namespace(store: KnowledgeStore, connection: Connection, namespace: int) -> int:
    """Remove all documents of a namespace; return their number."""
    first, last = span(namespace)
    store.index.clear_terms(connection, namespace)
    _remove_vectors(store, connection, first, last)
    connection.execute("DELETE FROM chunks WHERE id BETWEEN ? AND ?", (first, last))
    count = connection.execute("DELETE FROM documents WHERE namespace = ?", (namespace,)).rowcount
    connection.execute(
        "UPDATE namespaces SET removed = removed + chunks, documents = 0, chunks = 0, terms = 0,"
        " tokens = 0 WHERE id = ?",
        (namespace,),
    )
    return count


def _remove_vectors(store: KnowledgeStore, connection: Connection, first: int, last: int) -> None:
    store.index.drop_vectors(connection, first, last)
    connection.execute("DELETE FROM vectors WHERE chunk BETWEEN ? AND ?", (first, last))


def list_documents(connection: Connection, namespace: str) -> tuple[DocumentInfo, ...]:
    """Return the documents of a namespace, by name."""
    rows = connection.execute(
        "SELECT d.name, d.title, d.kind, d.chunks, d.tokens, d.chars, d.added"
        " FROM documents d JOIN namespaces n ON n.id = d.namespace"
        " WHERE n.name = ? ORDER BY d.name",
        (namespace,),
    ).fetchall()
    return tuple(DocumentInfo(*row) for row in rows)


def count_documents(connection: Connection, namespace: str) -> dict[str, Any]:
    """Return the fields of `KnowledgeStats` that come from tables."""
    names = connection.execute("SELECT name FROM namespaces ORDER BY name").fetchall()
    documents, chunks, tokens, vectors = connection.execute(
        "SELECT documents, chunks, tokens, (SELECT count(*) FROM vectors"
        " WHERE chunk BETWEEN namespaces.id << ? AND ((namespaces.id + 1) << ?) - 1)"
        " FROM namespaces WHERE name = ?",
        (BITS, BITS, namespace),
    ).fetchone() or (0, 0, 0, 0)
    return {
        "namespace": namespace,
        "documents": documents,
        "chunks": chunks,
        "tokens": tokens,
        "embedded": vectors,
        "namespaces": tuple(name for (name,) in names),
    }


def cut_document_again(
    store: KnowledgeStore, connection: Connection, document: int, title: str
) -> None:
    """Tokenize the chunks of a document again, by the current rules."""
    store.index.drop_terms(connection, document)
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
    store.index.add_terms(connection, document)
    connection.execute(
        "UPDATE namespaces SET terms = namespaces.terms - d.terms + ? FROM documents d"
        " WHERE d.id = ? AND namespaces.id = d.namespace",
        (total, document),
    )
    connection.execute(
        "UPDATE documents SET terms = ?, cut = ? WHERE id = ?", (total, TERMS_VERSION, document)
    )
