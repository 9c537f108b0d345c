"""
The search index of the memories of one user: in memory for SQLite, in tables in PostgreSQL.

Both are kept up to date by reading the changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import Any, Final

from foldline.frozen import frozen
from foldline.memory.database import LIVE, reading_rows
from foldline.memory.item_rows import Filter, FilterFacts, UserRows
from foldline.memory.items import FoundMemory, MemoryOptions
from foldline.memory.term_index import FILLER, clear_terms, drop_terms, index_terms
from foldline.memory.vector_index import literal
from foldline.relevance.terms import terms
from foldline.retrieval import Document, Hit, Index
from foldline.retrieval.embedding import embed_text
from foldline.sql import Connection, Database
from foldline.type_checks import check_fields


class UserIndex:
    """
    An index of live memories; built by the first search.

    Args:
        user: The owner of the memories.
        options: The search options; only vectors of their embedder are compared.
    """

    def __init__(self, user: str, options: MemoryOptions) -> None:
        self._user, self._options = user, options
        self._era, self._clock = -1, 0
        self._index = self._empty()
        self._facts: dict[str, FilterFacts] = {}
        self._lock = Lock()

    def _empty(self) -> Index:
        return Index(weights=self._options.weights, words=self._options.words)

    def refresh(self, connection: Connection) -> None:
        """Index the changes since the last call, by any process."""
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
        Find memories that a filter admits; calls from several threads are serialized.

        Args:
            database: The database; changes since the last search are read first.
            query: A question or words.
            count: The maximum number of results.
            criteria: The filter.
            least: The minimum strength, 0 to 1.
        """
        vector = embed_text(self._options.embedder, query)
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
        """Do nothing after a transaction: this index is refreshed by the next search."""

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
            {"user": self._user, "clock": self._clock, "model": self._options.model},
        )
        for document, facts in read_documents(rows, self._options):
            self._facts[document.id] = facts
            yield document


DOCUMENT_COLUMNS: Final = (
    "id, kind, content, importance, happened, expires, session, author, terms, cut,"
    " CASE WHEN model = :model AND model <> '' THEN vector END"
)
"""The columns that `read_documents` expects."""


def read_documents(
    rows: Iterable[Sequence[Any]],
    options: MemoryOptions,
    query_terms: frozenset[str] | None = None,
) -> Iterator[tuple[Document, FilterFacts]]:
    """
    Convert rows of memories to documents of an index, each with the fields for filters.

    Args:
        rows: The `DOCUMENT_COLUMNS` of memories.
        options: The tokenizer for outdated terms.
        query_terms: The terms of the query; only the number of other terms is kept.
    """
    today = options.cut
    for name, kind, content, weight, happened, expires, session, author, text, cut, vector in rows:
        facts = FilterFacts(kind, weight, happened, expires, session)
        with reading_rows():
            check_fields(facts)
            kept = str.split(text)
        if cut != today:
            kept = terms(content, words=options.words)
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
    """Return the memories of search hits."""
    items = {
        item.id: item for item in UserRows(connection, user).find_all([hit.id for hit in hits])
    }
    return [
        FoundMemory(items[hit.id], hit.score, hit.parts, hit.matched, hit.strength)
        for hit in hits
        if hit.id in items
    ]


# --- in PostgreSQL ------------------------------------------------------------------------------

CHANGES: Final = 2_000
"""The maximum number of changes that are indexed in one transaction."""


@frozen
class UserState:
    """
    The state of the index of a user.

    Args:
        id: The number of the user.
        era: How often everything was erased.
        clock: The number of the latest change.
        indexed_era: The era that is indexed.
        indexed_clock: The latest change that is indexed.
        memories: The number of live indexed memories.
        terms: The total number of their terms, with repetitions.
        vectors: True if there is a table of vectors.
    """

    id: int
    era: int
    clock: int
    indexed_era: int
    indexed_clock: int
    memories: int
    terms: int
    vectors: bool

    @property
    def behind(self) -> bool:
        """Return True if there are changes that are not indexed."""
        return (self.era, self.clock) != (self.indexed_era, self.indexed_clock)


def read_state(connection: Connection, user: str, *, lock: bool = False) -> UserState | None:
    """Return the state of the index of a user; None if there are no memories."""
    locked = " FOR UPDATE" if lock else ""
    row = connection.execute(
        "SELECT id, era, clock, indexed_era, indexed_clock, indexed_memories, indexed_terms,"  # noqa: S608
        f" to_regclass('near') IS NOT NULL FROM users WHERE name = ?{locked}",
        (user,),
    ).fetchone()
    return None if row is None else UserState(*row)


def catch_up(database: Database, user: str) -> None:
    """Index all pending changes, made by an older version or loaded by other means."""
    behind = True
    while behind:
        with database.writing() as connection:
            behind = follow(connection, user)


def follow(connection: Connection, user: str) -> bool:
    """
    Index pending changes; return True if more remain than fit into one transaction.

    Args:
        connection: A write transaction; the user is locked until it ends.
        user: The owner of the memories.
    """
    state = read_state(connection, user, lock=True)
    if state is None or not state.behind:
        return False
    after = state.indexed_clock
    if state.era != state.indexed_era:
        _clear(connection, state)
        after = 0
    until = min(state.clock, after + CHANGES)
    rows = connection.execute(
        "SELECT number, state = 'live' FROM memories"
        " WHERE memories.user = ? AND changed > ? AND changed <= ?",
        (user, after, until),
    ).fetchall()
    ended = [number for number, live in rows if not live]
    removed = drop_terms(connection, "number = ANY(?)", (ended,))
    fresh = index_terms(connection, "number = ANY(?)", ([n for n, live in rows if live],))
    if state.vectors:
        connection.execute("DELETE FROM near WHERE number = ANY(?)", (ended,))
        add_vectors(connection, fresh)
    _count(connection, user, until, fresh, removed)
    return until < state.clock


def add_vectors(connection: Connection, numbers: Sequence[int]) -> None:
    """Add the vectors of memories that have one to the vector index."""
    rows = connection.execute(
        "SELECT number, vector FROM memories JOIN embedders ON embedders.name = model"
        " WHERE number = ANY(?) AND vector IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM near WHERE near.number = memories.number)",
        (list(numbers),),
    ).fetchall()
    if not rows:
        return
    connection.execute(
        "INSERT INTO near (number, owner, embedder, importance, happened, expires, kind, session,"
        " direction) SELECT number, users.id, embedders.id, importance, happened, expires, kind,"
        " session, given.direction::halfvec FROM unnest(?::bigint[], ?::text[])"
        " AS given (number, direction) JOIN memories USING (number)"
        " JOIN users ON users.name = memories.user JOIN embedders ON embedders.name = model"
        " ON CONFLICT DO NOTHING",
        ([number for number, _ in rows], [literal(vector) for _, vector in rows]),
    )


def fill_vectors(connection: Connection, model: str) -> None:
    """Add all vectors of a model that are older than the vector index."""
    connection.execute("LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE")  # blocks writers
    last = 0
    while True:
        rows = connection.execute(
            "SELECT number FROM memories WHERE number > ? AND model = ? AND state = 'live'"
            " ORDER BY number LIMIT ?",
            (last, model, CHANGES),
        ).fetchall()
        if not rows:
            return
        add_vectors(connection, [number for (number,) in rows])
        last = rows[-1][0]


def _clear(connection: Connection, state: UserState) -> None:
    clear_terms(connection, state.id)
    if state.vectors:
        connection.execute("DELETE FROM near WHERE owner = ?", (state.id,))
    connection.execute(
        "UPDATE users SET indexed_clock = 0, indexed_memories = 0, indexed_terms = 0 WHERE id = ?",
        (state.id,),
    )


def _count(
    connection: Connection, user: str, until: int, fresh: list[int], removed: list[int]
) -> None:
    more = len(fresh) - len(removed)
    connection.execute(
        "UPDATE users SET indexed_era = era, indexed_clock = :until,"
        " indexed_memories = indexed_memories + :more, indexed_terms = indexed_terms + (SELECT"
        " coalesce(sum(CASE WHEN number = ANY(:fresh) THEN 1 ELSE -1 END"
        " * cardinality(string_to_array(terms, ' '))), 0)::bigint"
        " FROM memories WHERE number = ANY(:fresh) OR number = ANY(:removed)) WHERE name = :user",
        {"until": until, "more": more, "fresh": fresh, "removed": removed, "user": user},
    )
