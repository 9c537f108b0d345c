"""
Documents put into the tables of a store of knowledge, and taken out.

A namespace is a range of chunk numbers, so that the full-text index, which knows nothing but
numbers and terms, can be searched and cleared for one namespace alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

from foldline.memory.chunk import ChunkSettings, split
from foldline.memory.damage import as_bytes
from foldline.memory.documents import DocumentText
from foldline.memory.knowledge.full_text import span
from foldline.memory.knowledge.schema import KnowledgeStore
from foldline.memory.knowledge.values import Outcome
from foldline.memory.knowledge.vector_search import ChunkVector
from foldline.memory.term_index import write_terms
from foldline.relevance.terms import TERMS_VERSION, terms
from foldline.sql import Connection


class ChunkRow(NamedTuple):
    """A chunk as it is stored, in the order of the columns."""

    first: int
    last: int
    fresh: int
    tokens: int
    length: int
    heading: str
    terms: str
    text: str


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """A document ready to be stored; the vectors of its chunks are numbered from 0."""

    name: str
    reading: DocumentText = field(repr=False)
    version: bytes
    rows: Sequence[ChunkRow] = field(repr=False)
    embedder: str = ""
    vectors: Sequence[ChunkVector] = field(default=(), repr=False)

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
            reading.place(chunk.shorten),
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
    """Return a text as every database holds it: valid Unicode, without NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _terms(title: str, heading: Sequence[str], text: str) -> Counter[str]:
    return Counter(terms("\n".join((title, *heading, text))))


def ensure_namespace(connection: Connection, name: str) -> int:
    """Return the number of a namespace, which others now wait for; it is made if it is missing."""
    (number,) = connection.execute(
        "INSERT INTO namespaces (name, next) VALUES (?, 0)"
        " ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
        (name,),
    ).fetchone()
    return int(number)


def lock_namespace(connection: Connection, name: str) -> int | None:
    """Return the number of a namespace, which others now wait for; None where there is none."""
    row = connection.execute(
        "UPDATE namespaces SET name = name WHERE name = ? RETURNING id", (name,)
    ).fetchone()
    return None if row is None else int(row[0])


def find_document(connection: Connection, namespace: int, name: str) -> tuple[int, bytes] | None:
    """Return the number and the version of a document."""
    row = connection.execute(
        "SELECT id, version FROM documents WHERE namespace = ? AND name = ?", (namespace, name)
    ).fetchone()
    return None if row is None else (int(row[0]), as_bytes(row[1]))


def replace_document(
    store: KnowledgeStore, connection: Connection, namespace: int, draft: DocumentRows, now: float
) -> Outcome:
    """
    Store a document in the place of its former version.

    Args:
        store: The store.
        connection: A change of it.
        namespace: A namespace, which others wait for.
        draft: The document.
        now: Seconds since 1970.
    """
    former = find_document(connection, namespace, draft.name)
    if former is not None and former[1] == draft.version:
        return "unchanged"
    if former is not None:
        remove_document(store, connection, namespace, former[0])
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
    store.terms.add(connection, document)
    if draft.vectors:
        _embed(store, connection, first, draft)
    return "added" if former is None else "replaced"


def _take_numbers(connection: Connection, namespace: int, draft: DocumentRows) -> int:
    """Take numbers for the chunks of a document, and add it to the sums of its namespace."""
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
    rows = [replace(row, chunk=first + row.chunk) for row in draft.vectors]
    connection.executemany(
        "INSERT INTO vectors VALUES (?, ?, ?)", ((row.chunk, embedder, row.data) for row in rows)
    )
    store.vectors.write(connection, embedder, rows)


def remove_document(
    store: KnowledgeStore, connection: Connection, namespace: int, document: int
) -> None:
    """Take a document out with all that was made of it."""
    store.terms.drop(connection, document)
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
    """Take all documents of a namespace out, and none of another; return how many there were."""
    first, last = span(namespace)
    store.terms.clear(connection, namespace)
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
    store.vectors.drop(connection, first, last)
    connection.execute("DELETE FROM vectors WHERE chunk BETWEEN ? AND ?", (first, last))


def recut_document(
    store: KnowledgeStore, connection: Connection, document: int, title: str
) -> None:
    """Cut the chunks of a document into terms again, by the rules of today."""
    store.terms.drop(connection, document)
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
    store.terms.add(connection, document)
    connection.execute(
        "UPDATE namespaces SET terms = namespaces.terms - d.terms + ? FROM documents d"
        " WHERE d.id = ? AND namespaces.id = d.namespace",
        (total, document),
    )
    connection.execute(
        "UPDATE documents SET terms = ?, cut = ? WHERE id = ?", (total, TERMS_VERSION, document)
    )
