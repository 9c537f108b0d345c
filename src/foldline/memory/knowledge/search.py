"""A query against a namespace: candidates by words and by meaning, ranked by all signs at once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from foldline.memory.database import reading_rows
from foldline.memory.knowledge.schema import KnowledgeStore
from foldline.memory.knowledge.values import KnowledgeResult, Passage
from foldline.memory.knowledge.vector_search import marks, vectors_of
from foldline.memory.term_index import expand_terms, plan_readings, query_entries
from foldline.relevance.terms import terms
from foldline.retrieval import Document, Hit, Index, Statistics
from foldline.sql import Connection
from foldline.type_checks import check_fields

COLUMNS: Final = (
    "c.id, d.name, d.title, c.heading, d.unit, c.first, c.last, c.text, c.tokens, c.number,"
    " c.fresh"
)

POSTINGS: Final = 50_000
"""Postings that are read for one query."""

LONGEST_QUERY: Final = 8_000
"""Characters of a query that are read."""

OTHERS: Final = 100
"""
A store is taken to be a part of a larger one, with so many chunks more that hold none of its
words: in a store of three documents a word is not common because two of them have it.
"""

SPARE: Final = 3
"""So many times more than asked for are ranked, for some may repeat others."""


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace as a search needs it: its number and its sums."""

    id: int
    chunks: int
    terms: int
    removed: int


def find_namespace(connection: Connection, namespace: str) -> Namespace | None:
    """Return a namespace; None where there is none of this name."""
    row = connection.execute(
        "SELECT id, chunks, terms, removed FROM namespaces WHERE name = ?", (namespace,)
    ).fetchone()
    return None if row is None else Namespace(*row)


def search_namespace(
    store: KnowledgeStore,
    connection: Connection,
    space: Namespace,
    query: str,
    limit: int,
    threshold: float,
    vector: Sequence[float] | None = None,
) -> KnowledgeResult:
    """
    Find the passages that a query means.

    Args:
        store: The store.
        connection: What it holds at one moment.
        space: The namespace.
        query: A question or words.
        limit: The most that are returned.
        threshold: The strength that it takes, 0 to 1.
        vector: The meaning of the query; None goes by words alone.
    """
    query_text = query[:LONGEST_QUERY]
    cut = terms(query_text)
    query_terms, entries = query_entries(cut)
    frequency = store.terms.count(connection, space.id, entries, space.chunks)
    readings = plan_readings(query_terms, frequency, space.chunks, POSTINGS)
    found = store.terms.best(connection, space.id, readings) if readings else {}
    numbers = list(found)
    vectors: dict[int, bytes] = {}
    if vector is not None:
        vectors = vectors_of(connection, numbers)
        near = store.vectors.nearest(connection, space.id, space.removed, vector)
        numbers += [number for number in near if number not in found]
        vectors |= near
    statistics = Statistics(
        space.chunks + OTHERS,
        lambda term: frequency.get(term, 0),
        space.terms / max(space.chunks, 1),
    )
    index = Index(_documents(connection, numbers, frozenset(cut), vectors), statistics=statistics)
    hits = index.search(query_text, SPARE * limit, vector=vector if vectors else None)
    strong = [hit for hit in hits if hit.strength >= threshold]
    strongest = max((hit.strength for hit in hits), default=0.0)
    return KnowledgeResult(query, _passages(connection, strong, limit), threshold, strongest)


def _documents(
    connection: Connection,
    numbers: Sequence[int],
    query_terms: frozenset[str],
    vectors: Mapping[int, bytes],
) -> list[Document]:
    rows = connection.execute(
        f"SELECT id, length, terms FROM chunks WHERE id IN ({marks(numbers)})",  # noqa: S608  # marks
        numbers,
    )
    return [
        Document(
            str(id), "", terms=expand_terms(held, query_terms, length), vector=vectors.get(id)
        )
        for id, length, held in rows  # noqa: A001  # as the column is called
    ]


def _passages(connection: Connection, hits: Sequence[Hit], limit: int) -> tuple[Passage, ...]:
    numbers = [int(hit.id) for hit in hits]
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM chunks c JOIN documents d ON d.id = c.document"  # noqa: S608  # marks
        f" WHERE c.id IN ({marks(numbers)})",
        numbers,
    )
    stored = {int(row[0]): row for row in rows}
    out, seen = list[Passage](), set[str]()
    for hit in hits:
        passage = _passage(hit, stored[int(hit.id)])
        words = passage.text.strip()
        if words not in seen and len(out) < limit:
            seen.add(words)
            out.append(passage)
    return tuple(out)


def _passage(hit: Hit, row: Sequence[Any]) -> Passage:
    _, name, title, heading, unit, first, last, text, tokens, number, fresh = row
    with reading_rows():
        found = Passage(
            document=name,
            title=title,
            heading=tuple(json.loads(heading)),
            unit=unit,
            first=first,
            last=last,
            text=text,
            tokens=tokens,
            score=hit.score,
            strength=hit.strength,
            parts=dict(hit.parts),
            matched=hit.matched,
            number=number,
            fresh=fresh,
        )
        check_fields(found)
    return found
