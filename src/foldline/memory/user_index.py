"""The memories of one user, indexed in memory and kept like the file by reading what changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import Any, Final

from foldline.memory.database import LIVE, reading_rows
from foldline.memory.item_rows import Filter, FilterFacts, UserRows
from foldline.memory.items import FoundMemory, MemoryTools
from foldline.memory.term_index import FILLER
from foldline.relevance.terms import terms
from foldline.retrieval import Document, Hit, Index
from foldline.sql import Connection, Database
from foldline.type_checks import check_fields


class UserIndex:
    """
    An index of what is live; built by the first search.

    Args:
        user: Whose memories.
        tools: What queries are understood with; the embedder made the vectors that are compared.
    """

    def __init__(self, user: str, tools: MemoryTools) -> None:
        self._user, self._tools = user, tools
        self._era, self._clock = -1, 0
        self._index = self._empty()
        self._facts: dict[str, FilterFacts] = {}
        self._lock = Lock()

    def _empty(self) -> Index:
        return Index(weights=self._tools.weights, words=self._tools.words)

    def refresh(self, connection: Connection) -> None:
        """Take in what was changed since the last time, by any process."""
        row = connection.execute(
            "SELECT era, clock FROM users WHERE name = ?", (self._user,)
        ).fetchone()
        era, clock = row or (0, 0)
        if era != self._era:
            self._index, self._facts = self._empty(), {}
            self._era, self._clock = era, 0
        if clock == self._clock:
            return
        self._drop_ended(connection)
        self._index.add(self._read_changed(connection))
        self._clock = clock

    def find(
        self, database: Database, query: str, count: int, criteria: Filter, least: float
    ) -> list[FoundMemory]:
        """
        Find memories that a filter admits; threads take turns.

        Args:
            database: The file; what changed in it since the last search is read first.
            query: A question or words.
            count: The most that are returned.
            criteria: Which memories.
            least: The least strength, 0 to 1.
        """
        vector = self._tools.embed(query)
        with self._lock, database.reading() as connection:
            self.refresh(connection)
            facts = self._facts
            hits = self._index.search(
                query,
                count,
                now=criteria.now,
                only=lambda name: criteria.admits(facts[name]),
                vector=vector,
                least=least,
            )
            return found_memories(connection, self._user, hits)

    def follow(self, connection: Connection) -> None:
        """Take in what a transaction changed; this index does so when it searches."""

    def _drop_ended(self, connection: Connection) -> None:
        if not self._clock:
            return
        for (name,) in connection.execute(
            'SELECT id FROM memories WHERE "user" = ? AND changed > ? AND state <> ?',
            (self._user, self._clock, LIVE),
        ):
            self._index.remove([name])
            self._facts.pop(name, None)

    def _read_changed(self, connection: Connection) -> Iterator[Document]:
        rows = connection.execute(
            f"SELECT {DOCUMENT_COLUMNS} FROM memories"  # noqa: S608  # a constant
            " WHERE memories.user = :user AND changed > :clock AND state = 'live' ORDER BY number",
            {"user": self._user, "clock": self._clock, "model": self._tools.model},
        )
        for document, facts in read_documents(rows, self._tools):
            self._facts[document.id] = facts
            yield document


DOCUMENT_COLUMNS: Final = (
    "id, kind, content, importance, happened, expires, session, author, terms, cut,"
    " CASE WHEN model = :model AND model <> '' THEN vector END"
)
"""What `read_documents` reads."""


def read_documents(
    rows: Iterable[Sequence[Any]], tools: MemoryTools, query_terms: frozenset[str] | None = None
) -> Iterator[tuple[Document, FilterFacts]]:
    """
    Read memories as what an index takes, each with what filters ask about it.

    Args:
        rows: The `DOCUMENT_COLUMNS` of memories.
        tools: What is cut anew is cut with them.
        query_terms: The terms that are asked for; of others only their number is kept.
    """
    today = tools.cut
    for name, kind, content, weight, happened, expires, session, author, text, cut, vector in rows:
        facts = FilterFacts(kind, weight, happened, expires, session)
        with reading_rows():
            check_fields(facts)
            kept = str.split(text)
        if cut != today:
            kept = terms(content, words=tools.words)
        if query_terms is not None:
            held = [term for term in kept if term in query_terms]
            kept = [*held, *[FILLER] * (len(kept) - len(held))]
        document = Document(
            name,
            content,
            author=author,
            group=session,
            place=happened,
            time=happened,
            terms=tuple(kept),
            vector=vector,
        )
        yield document, facts


def found_memories(connection: Connection, user: str, hits: Sequence[Hit]) -> list[FoundMemory]:
    """Return the memories that an index led to."""
    items = {
        item.id: item for item in UserRows(connection, user).find_all([hit.id for hit in hits])
    }
    return [
        FoundMemory(items[hit.id], hit.score, hit.parts, hit.matched, hit.strength)
        for hit in hits
        if hit.id in items
    ]
