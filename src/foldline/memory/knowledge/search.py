"""Search a namespace: find candidates by words and by meaning, and rank them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from foldline.frozen import field, frozen
from foldline.memory.database import reading_rows
from foldline.memory.knowledge.embedding import marks, read_vectors
from foldline.memory.knowledge.schema import KnowledgeStore
from foldline.memory.term_index import expand_terms, plan_reads, query_entries
from foldline.relevance.terms import terms
from foldline.retrieval import Document, Hit, Index, Statistics
from foldline.sql import Connection
from foldline.type_checks import check_fields


@frozen
class Passage:
    """
    A passage of a document in a search result.

    ``first`` and ``last`` are line numbers, or page numbers of a PDF file. ``score`` ranks it
    within one result, ``parts`` are the components of the score; ``strength``, 0 to 1, is
    comparable between searches. ``fresh`` is the offset in the text at which its overlap ends.
    """

    document: str
    title: str
    heading: tuple[str, ...]
    unit: str
    first: int
    last: int
    text: str = field(repr=False)
    tokens: int
    score: float
    strength: float
    parts: Mapping[str, float]
    matched: tuple[str, ...] = ()
    number: int = 0
    fresh: int = field(default=0, repr=False)

    @property
    def place(self) -> str:
        """The location in its document, such as ``lines 3-9`` or ``page 2``."""
        if self.first == self.last:
            return f"{self.unit} {self.first}"
        return f"{self.unit}s {self.first}-{self.last}"

    @property
    def source(self) -> str:
        """The citation: document, location, headings."""
        under = f" ({' > '.join(self.heading)})" if self.heading else ""
        return f"{self.document}, {self.place}{under}"

    def to_dict(self) -> dict[str, Any]:
        """Return the passage as JSON values."""
        return {
            "document": self.document,
            "title": self.title,
            "heading": list(self.heading),
            "unit": self.unit,
            "first": self.first,
            "last": self.last,
            "source": self.source,
            "text": self.text,
            "tokens": self.tokens,
            "score": round(self.score, 4),
            "strength": round(self.strength, 4),
            "parts": {name: round(part, 4) for name, part in self.parts.items()},
            "matched": list(self.matched),
        }


@frozen
class KnowledgeResult:
    """
    The result of a search: passages, the best first, or none if there is no evidence.

    ``strongest`` is the strength of the best candidate, ``threshold`` the minimum of a passage.
    """

    query: str
    passages: tuple[Passage, ...]
    threshold: float
    strongest: float = 0.0

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.passages)

    def __len__(self) -> int:
        return len(self.passages)

    @property
    def evidence(self) -> bool:
        """Return True if a passage reached the threshold."""
        return bool(self.passages)

    @property
    def message(self) -> str:
        """The result in one sentence."""
        if self.passages:
            count = len(self.passages)
            return f"{count} passage{'' if count == 1 else 's'} found."
        if self.strongest <= 0:
            return "No evidence: no document matches the query."
        return (
            f"No evidence: the nearest passage has strength {self.strongest:.2f}, "
            f"and {self.threshold:.2f} is the threshold."
        )


COLUMNS: Final = (
    "c.id, d.name, d.title, c.heading, d.unit, c.first, c.last, c.text, c.tokens, c.number,"
    " c.fresh"
)

POSTINGS: Final = 50_000
"""The maximum number of postings read for one query."""

LONGEST_QUERY: Final = 8_000
"""The maximum length of a query in characters."""

OTHERS: Final = 100
"""
Smoothing: term rarity is computed as if the store had this many more chunks without its words,
since in a store of three documents a word is not common because two of them have it.
"""

CANDIDATE_FACTOR: Final = 3
"""The number of ranked candidates per requested passage, since some may be duplicates."""


@frozen
class Namespace:
    """The number and totals of a namespace, as a search needs them."""

    id: int
    chunks: int
    terms: int
    removed: int


def find_namespace(connection: Connection, namespace: str) -> Namespace | None:
    """Return a namespace; None if it does not exist."""
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
    Find the passages relevant to a query.

    Args:
        store: The store.
        connection: A read transaction of the store.
        space: The namespace.
        query: A question or words.
        limit: The maximum number of passages.
        threshold: The minimum strength, 0 to 1.
        vector: The vector of the query; None searches by words alone.
    """
    query_text = query[:LONGEST_QUERY]
    cut = terms(query_text)
    query_terms, entries = query_entries(cut)
    frequency = store.index.count(connection, space.id, entries, space.chunks)
    readings = plan_reads(query_terms, frequency, space.chunks, POSTINGS)
    found = store.index.best(connection, space.id, readings) if readings else {}
    numbers = list(found)
    vectors: dict[int, bytes] = {}
    if vector is not None:
        vectors = read_vectors(connection, numbers)
        near = store.index.nearest(connection, space.id, space.removed, vector)
        numbers += [number for number in near if number not in found]
        vectors |= near
    statistics = Statistics(
        space.chunks + OTHERS,
        lambda term: frequency.get(term, 0),
        space.terms / max(space.chunks, 1),
    )
    index = Index(_documents(connection, numbers, frozenset(cut), vectors), statistics=statistics)
    hits = index.search(query_text, CANDIDATE_FACTOR * limit, vector=vector if vectors else None)
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
        for id, length, held in rows  # noqa: A001  # the name of the column
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
