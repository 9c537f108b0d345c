"""Search the memories of one user inside PostgreSQL, with the ranking of SQLite files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, TypeAlias

from foldline.frozen import frozen
from foldline.memory.database import NEAR_TABLES
from foldline.memory.item_rows import ALL, Filter
from foldline.memory.items import FoundMemory, MemoryOptions
from foldline.memory.term_index import TermTable, plan_reads, query_entries
from foldline.memory.user_index import (
    DOCUMENT_COLUMNS,
    UserIndex,
    UserState,
    catch_up,
    fill_vectors,
    follow,
    found_memories,
    read_documents,
    read_state,
)
from foldline.memory.vector_index import (
    NARROW,
    VectorIndex,
    apply_search_settings,
    estimate_rows,
    open_vector_index,
)
from foldline.relevance.terms import terms
from foldline.retrieval import Document, Hit, Index, Statistics
from foldline.retrieval.embedding import Matrix, embed_text
from foldline.retrieval.index import LONGEST_QUERY
from foldline.retrieval.lexical import AFTER, BEFORE
from foldline.retrieval.query_mentions import (
    DAY,
    LATER,
    MOST_AUTHORS,
    AuthorNames,
    date_windows,
)
from foldline.sql import Connection, Database
from foldline.sqlite import SqliteDatabase

POSTINGS: Final = 3_000
"""The default number of postings read for one query."""

ADMITTED: Final = 500
MOST_POSTINGS: Final = 10_000
"""
More are read if a filter is expected to admit fewer than `ADMITTED` of them, up to
`MOST_POSTINGS`; if that yields fewer memories than requested, `LAST_POSTINGS`.
"""

LAST_POSTINGS: Final = 500_000
"""About 0.25 s, extrapolated from a measured median of 24 ms for 50,000 among a million."""

LOOKUPS: Final = 10_000
"""The product of admitted memories and query entries up to which all pairs are looked up."""

FEWEST: Final = 40
MOST: Final = 120
"""Bounds of the candidates per relevance feature; between them, twice the requested number."""

SAMPLE: Final = 500
"""The number of sampled vectors from which the typical similarity is estimated."""


@dataclass(slots=True)
class Sample:
    """A random sample of the vectors of a user, drawn at this number of memories."""

    memories: int = 0
    era: int = -1
    vectors: Matrix = field(default_factory=Matrix)

    def refresh(self, connection: Connection, user: str, model: str, state: UserState) -> Matrix:
        """Return the vectors; drawn again after 5 % of the memories changed."""
        changed = abs(state.memories - self.memories) * 20 > self.memories
        if changed or state.era != self.era:
            rows = connection.execute(
                "SELECT vector FROM memories WHERE memories.user = ? AND state = 'live'"
                " AND model = ? ORDER BY id LIMIT ?",  # ids are random
                (user, model, SAMPLE),
            )
            self.vectors = Matrix()
            self.vectors.add({number: bytes(one) for number, (one,) in enumerate(rows)})
            self.memories, self.era = state.memories, state.era
        return self.vectors


class PostgresSearch:
    """
    Searches live memories with an index in the database.

    Args:
        database: The database of the memories.
        user: The owner of the memories.
        options: The search options; only vectors of their embedder are compared.

    Raises:
        StoreError: There is an embedder, but the database lacks the extension pgvector.
    """

    def __init__(self, database: Database, user: str, options: MemoryOptions) -> None:
        self._user, self._options, embedder = user, options, options.embedder
        self._vectors: VectorIndex | None = None
        if embedder is not None:
            self._vectors = open_vector_index(
                database, embedder, NEAR_TABLES, lambda it: fill_vectors(it, embedder.name)
            )
        self._sample, self._lock = Sample(), Lock()

    def follow(self, connection: Connection) -> None:
        """Index the changes of a transaction."""
        follow(connection, self._user)

    def find(
        self, database: Database, query: str, count: int, criteria: Filter, least: float
    ) -> list[FoundMemory]:
        """
        Find memories that a filter admits; see `foldline.memory.user_index.UserIndex.find`.

        Args:
            database: The database; pending changes are indexed first.
            query: A question or words.
            count: The maximum number of results.
            criteria: The filter.
            least: The minimum strength, 0 to 1.
        """
        text = query[:LONGEST_QUERY]
        vector = embed_text(self._options.embedder, text)
        while True:
            with database.reading() as connection:
                state = read_state(connection, self._user)
                if state is None:
                    return []
                if not state.behind:
                    search = _Search(
                        connection, self._user, self._options, state, text, count, criteria
                    )
                    hits = self._search(search, least, vector)
                    return found_memories(connection, self._user, hits)
            catch_up(database, self._user)

    def _search(self, search: _Search, least: float, vector: Sequence[float] | None) -> list[Hit]:
        connection, state, criteria = search.connection, search.state, search.criteria
        apply_search_settings(connection)
        authors = search.authors()
        cut = search.cut(authors)
        found, frequency = search.find_by_words(cut)
        numbers = {*found, *search.find_by_date()}
        sample = None
        if self._vectors is not None and vector is not None:
            with self._lock:
                sample = self._sample.refresh(connection, self._user, self._options.model, state)
            owned = f"owner = :owner AND {criteria.condition}"
            values = {"owner": state.id, **criteria.values}
            near = self._vectors.nearest(connection, vector, search.pool, owned, values)
            numbers.update(near)
        documents, allowed = search.load(sorted(numbers), frozenset(cut))
        length = state.terms / max(state.memories, 1)
        statistics = Statistics(
            state.memories, lambda term: frequency.get(term, 0), length, authors, sample
        )
        index = Index(
            documents,
            weights=self._options.weights,
            words=self._options.words,
            statistics=statistics,
        )
        only = allowed.__contains__
        return index.search(
            search.query, search.count, now=criteria.now, only=only, vector=vector, least=least
        )


@frozen
class _Search:
    """One search of the memories of a user, in one read transaction."""

    connection: Connection
    user: str
    options: MemoryOptions
    state: UserState
    query: str
    count: int
    criteria: Filter

    @property
    def pool(self) -> int:
        """The number of candidates per relevance feature."""
        return min(max(2 * self.count, FEWEST), MOST)

    @property
    def admitted(self) -> str:
        """The memories that the filter admits: a table and a condition, in SQL."""
        mine = "memories WHERE memories.user = :user AND state = 'live'"
        return f"{mine} AND {self.criteria.condition}"

    @property
    def values(self) -> dict[str, Any]:
        """The values of `admitted`."""
        return {"user": self.user, **self.criteria.values}

    def authors(self) -> list[str]:
        """Return the authors of memories, by a loose index scan."""
        rows = self.connection.execute(
            f"WITH RECURSIVE known (author) AS (SELECT {_NEXT_AUTHOR} FROM (SELECT '' AS author)"  # noqa: S608  # constants
            f" AS known UNION ALL SELECT {_NEXT_AUTHOR} FROM known WHERE author IS NOT NULL)"
            " SELECT author FROM known WHERE author IS NOT NULL LIMIT :most",
            {"user": self.user, "most": MOST_AUTHORS},
        )
        return [str(author) for (author,) in rows]

    def cut(self, authors: Iterable[str]) -> list[str]:
        """Tokenize the query, without the names of authors."""
        names = AuthorNames()
        for author in authors:
            names.add(author)
        rest, words = names.named(self.query).rest, self.options.words
        return terms(rest, words=words) or terms(self.query, words=words)

    def find_by_words(self, cut: Iterable[str]) -> tuple[Mapping[int, float], Mapping[str, int]]:
        """
        Find memories by words, the latest first, and the number of memories with each term.

        All postings are read if the latest ones yield too few.
        """
        criteria, space, whole = self.criteria, self.state.id, self.state.memories
        first = -math.inf if criteria.since is None else criteria.since
        last = math.inf if criteria.until is None else criteria.until
        few = TermTable(self.pool, self.admitted, self.values, few=True)
        latest = TermTable(self.pool, self.admitted, self.values, first=first, last=last)
        query_terms, entries = query_entries(cut)
        frequency = few.count(self.connection, space, entries, whole)
        everything = plan_reads(query_terms, frequency, whole, ALL)

        def best(index: TermTable, most: int) -> Mapping[int, float]:
            readings = plan_reads(query_terms, frequency, whole, most)
            return index.best(self.connection, space, readings)

        if not everything:
            return {}, frequency
        expected = float(whole)
        if not criteria.is_open:
            expected = estimate_rows(self.connection, self.admitted, self.values)
            if expected * len(everything) <= LOOKUPS:
                return best(few, ALL), frequency
        share = max(expected, 1.0) / max(whole, 1)
        most = min(max(POSTINGS, int(ADMITTED / share)), MOST_POSTINGS)
        found = best(latest, most)
        if len(found) >= self.count or sum(one.most for one in everything) <= most:
            return found, frequency
        if estimate_rows(self.connection, self.admitted, self.values) <= NARROW:
            return best(few, ALL), frequency
        return best(latest, LAST_POSTINGS), frequency

    def find_by_date(self) -> list[int]:
        """Find memories within or shortly after the time windows named in the query."""
        found = list[int]()
        for start, end in date_windows(self.query, self.criteria.now):
            window = {"start": start, "end": end + LATER * DAY, "most": self.pool}
            rows = self.connection.execute(
                f"SELECT number FROM {self.admitted} AND happened >= :start AND happened < :end"  # noqa: S608  # constants
                " ORDER BY happened LIMIT :most",
                {**self.values, **window},
            )
            found += [number for (number,) in rows]
        return found

    def load(
        self, numbers: Sequence[int], query_terms: frozenset[str]
    ) -> tuple[list[Document], set[str]]:
        """Read memories with their neighbours; return the ids of those the filter admits, too."""
        rows = self.connection.execute(
            f"SELECT {self.criteria.condition}, {DOCUMENT_COLUMNS} FROM memories WHERE number IN"  # noqa: S608  # constants
            f" (SELECT unnest(:numbers::bigint[]) UNION {_BESIDE}) ORDER BY number",
            {"numbers": list(numbers), "model": self.options.model, **self.criteria.values},
        ).fetchall()
        read = read_documents((row[1:] for row in rows), self.options, query_terms)
        return [document for document, _ in read], {row[1] for row in rows if row[0]}


MemorySearch: TypeAlias = UserIndex | PostgresSearch


def open_search(database: Database, user: str, options: MemoryOptions) -> MemorySearch:
    """Return the search of a user's memories: inside PostgreSQL, in memory for a file."""
    if isinstance(database, SqliteDatabase):
        return UserIndex(user, options)
    try:
        return PostgresSearch(database, user, options)
    except BaseException:
        database.close()
        raise


def _beside(comparison: str, order: str, count: int) -> str:
    return (
        "(SELECT seat.number FROM memories AS seat"  # noqa: S608  # constants
        ' WHERE seat."user" = mid."user" AND seat.session = mid.session AND seat.state = \'live\''
        f" AND (seat.happened, seat.number) {comparison} (mid.happened, mid.number)"
        f" ORDER BY seat.happened {order}, seat.number {order} LIMIT {count})"
    )


_BESIDE: Final = (
    "SELECT beside.number FROM memories AS mid CROSS JOIN LATERAL"  # noqa: S608  # constants
    f" ({_beside('<', 'DESC', BEFORE)} UNION ALL {_beside('>', 'ASC', AFTER)}) AS beside"
    " WHERE mid.number = ANY(:numbers) AND mid.session <> ''"
)
"""The neighbours of memories in their conversations, in SQL."""


_NEXT_AUTHOR: Final = (
    "(SELECT next.author FROM memories AS next WHERE next.user = :user AND next.state = 'live'"
    " AND next.author > known.author ORDER BY next.author LIMIT 1)"
)
