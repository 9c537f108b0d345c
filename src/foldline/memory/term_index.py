"""
The texts that the terms of a query lead to, by an index of a database.

The index knows only whether a text holds a term. That it holds it often is written as one more
term, such as ``4*launch``. The index knows no ranking either, and would visit every text that
holds any word of a query: over a second at a million chunks. So the postings of its terms are read
rarest first, and no more than a budget of them (measured before: 24 ms at the median with 50,000,
for a million chunks).

In PostgreSQL the index is a row for every term of a text. An index of its own for full text visits
the row of every text that holds a term, and ranks by nothing that is scored here. Rows of terms
are read from their index alone, as many as are asked for, the latest first; how many texts hold a
term is counted as they are written.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Any, Final

from foldline.frozen import field, frozen
from foldline.relevance.terms import rarity, worth
from foldline.sql import Connection, Parameters

LEVELS: Final = (2, 4, 8)
"""So often must a term occur to be marked; what lies between counts as the lower one."""

FILLER: Final = "*"
"""Stands for every term that was not asked for; no term is made of it."""


def write_terms(counts: Mapping[str, int]) -> str:
    """Write the terms of a text, each with how often it occurs."""
    out = list[str]()
    for term, count in counts.items():
        out.append(term)
        out += [f"{level}*{term}" for level in LEVELS if count >= level]
    return " ".join(out)


def term_entries(term: str) -> Iterator[tuple[str, int]]:
    """Name the entries of the index under which a term stands, and how often it occurs there."""
    yield term, 1
    yield from ((f"{level}*{term}", level) for level in LEVELS)


def expand_terms(terms: str, query_terms: frozenset[str], length: int) -> tuple[str, ...]:
    """
    Return the terms of a text for scoring: those of a query as often as they occur.

    Args:
        terms: What `write_terms` wrote.
        query_terms: The terms that a query asks for.
        length: How many terms the text has; the others count only as length.
    """
    entries = set(terms.split(" "))
    out = list[str]()
    for term in entries & query_terms:
        times = max((level for level in LEVELS if f"{level}*{term}" in entries), default=1)
        out += [term] * times
    return (*out, *(FILLER,) * max(0, length - len(out)))


MOST_TERMS: Final = 32
"""Different terms of a query that are looked for."""


@frozen
class PostingRead:
    """An entry of the index to read: what it adds to a score, and the most texts to read of it."""

    entry: str
    weight: float
    most: int


def query_entries(terms: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the different terms of a query, and the entries of an index that they have."""
    query_terms = list(dict.fromkeys(terms))[: 8 * MOST_TERMS]
    return query_terms, [entry for term in query_terms for entry, _ in term_entries(term)]


def plan_reads(
    terms: Iterable[str], frequency: Mapping[str, int], whole: int, most: int
) -> list[PostingRead]:
    """Choose what to read of an index: the rarest first, no more than ``most`` in all."""
    weights = {term: rarity(frequency[term], whole) for term in terms if frequency.get(term)}
    rarest = nlargest(MOST_TERMS, weights, key=weights.__getitem__)
    known = [
        (frequency[entry], entry, weights[term] * _step(level))
        for term in rarest
        for entry, level in term_entries(term)
        if frequency.get(entry)
    ]
    out = list[PostingRead]()
    for held, entry, part in sorted(known, key=lambda one: one[0]):
        if most <= 0:
            break
        out.append(PostingRead(entry, part, min(held, most)))
        most -= held
    return out


def _step(level: int) -> float:
    """Return what an entry adds to what a term is worth by those below it."""
    below = level // 2
    return worth(level) - (worth(below) if below else 0.0)


TERM_TABLES: Final = (
    """
    CREATE TABLE words (
        space bigint NOT NULL,
        number bigint NOT NULL,
        happened double precision NOT NULL,
        term text COLLATE "C" NOT NULL,
        PRIMARY KEY (space, term, happened, number)
    )
    """,
    """
    CREATE TABLE frequencies (
        space bigint NOT NULL,
        held bigint NOT NULL,
        term text COLLATE "C" NOT NULL,
        PRIMARY KEY (space, term)
    )
    """,
)
"""
Beside them stands a view ``entries`` of what texts hold, with ``space``, ``number``, ``happened``
and ``term``; each text has the term of no letters besides, by which texts are counted.
``happened`` is in seconds since 1970, and 0 where nobody asks for that.
"""

TERM_ENTRIES: Final = f"""
    (SELECT term, count(*) AS times FROM unnest(string_to_array(terms, ' ')) AS term
        GROUP BY term) AS held
    CROSS JOIN LATERAL (SELECT held.term UNION ALL SELECT level || '*' || held.term
        FROM unnest(ARRAY[{", ".join(map(str, LEVELS))}]) AS level WHERE level <= held.times
    ) AS entry (term)
"""  # noqa: S608  # numbers
"""The entries of a column ``terms`` in which terms are repeated, in SQL."""

POOL: Final = 200
"""Texts that are looked at closely."""

_READS: Final = (
    "unnest(:entries::text[], :weights::float8[], :most::bigint[]) AS reads (term, weight, most)"
)

_BEST_FIRST: Final = "ORDER BY score DESC, happened DESC, number DESC"
"""Of texts that score the same the latest come first: only so many are looked at closely."""


@frozen
class TermTable:
    """
    The index that the tables of `TERM_TABLES` are.

    Args:
        pool: The most texts that are found.
        admitted: Which texts may be found: a table with the columns ``number`` and ``happened``
            and a condition, in SQL; empty for all.
        values: The values that it names.
        few: Whether those are few: then each of them is looked up under each entry.
        first: None of them happened before, in seconds since 1970.
        last: None of them happened after.
    """

    pool: int = POOL
    admitted: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    few: bool = False
    first: float = -math.inf
    last: float = math.inf

    def count(
        self,
        connection: Connection,
        space: int,
        entries: Sequence[str],
        whole: int,  # noqa: ARG002  # here all frequencies are known
    ) -> Mapping[str, int]:
        """Return in how many texts of a space each entry is."""
        rows = connection.execute(
            "SELECT term, held FROM frequencies WHERE space = ? AND term = ANY(?)",
            (space, list(entries)),
        )
        return {str(term): int(held) for term, held in rows}

    def best(
        self, connection: Connection, space: int, readings: Sequence[PostingRead]
    ) -> dict[int, float]:
        """Return the texts that score most, among those that are admitted."""
        rows = connection.execute(
            self._lookups() if self.few else self._scan(),
            {
                "space": space,
                "pool": self.pool,
                "entries": [one.entry for one in readings],
                "weights": [one.weight for one in readings],
                "most": [one.most for one in readings],
                "first": self.first,
                "last": self.last,
                **self.values,
            },
        )
        return {int(number): float(score) for number, score in rows}

    def _scan(self) -> str:
        """Return how the latest postings are read, and the best checked until enough pass."""
        check = f"(SELECT FROM {self.admitted} AND number = scored.number LIMIT 1)"
        return (
            "SELECT number, score FROM (SELECT read.number, happened, sum(weight) AS score"  # noqa: S608  # constants
            f" FROM {_READS} CROSS JOIN LATERAL (SELECT words.number, words.happened FROM words"
            " WHERE space = :space AND words.term = reads.term"
            " AND words.happened BETWEEN :first AND :last"
            " ORDER BY words.happened DESC, words.number DESC LIMIT reads.most) AS read"
            f" GROUP BY read.number, happened {_BEST_FIRST}) AS scored"
            f"{f' CROSS JOIN LATERAL {check} AS kept' if self.admitted else ''}"
            f" {_BEST_FIRST} LIMIT :pool"
        )

    def _lookups(self) -> str:
        """
        Return how each text that is admitted is looked up under each entry.

        A limit of one row keeps the server to lookups: it takes all terms for equally rare, and
        would rather read the many postings of a common one.
        """
        return (
            f"SELECT read.number, sum(weight) AS score FROM {_READS}"  # noqa: S608  # constants
            f" CROSS JOIN (SELECT number, happened FROM {self.admitted} OFFSET 0) AS read"
            " CROSS JOIN LATERAL (SELECT FROM words WHERE space = :space"
            " AND words.term = reads.term AND words.happened = read.happened"
            " AND words.number = read.number LIMIT 1) AS held"
            f" GROUP BY read.number, read.happened {_BEST_FIRST} LIMIT :pool"
        )


def index_terms(connection: Connection, which: str, values: Parameters) -> list[int]:
    """
    Write the terms of texts, of which some may be there.

    Args:
        connection: In a transaction that keeps others from changing these spaces.
        which: A condition on ``number``, in SQL.
        values: The values of the condition.

    Returns:
        The texts that were not there.
    """
    rows = connection.execute(
        "WITH fresh AS (INSERT INTO words (space, term, happened, number)"  # noqa: S608  # constants
        f" SELECT space, term, happened, number FROM entries WHERE {which}"
        " ON CONFLICT DO NOTHING RETURNING space, term, number),"
        " counted AS (INSERT INTO frequencies AS known (space, term, held)"
        " SELECT space, term, count(*) FROM fresh GROUP BY space, term"
        " ON CONFLICT (space, term) DO UPDATE SET held = known.held + excluded.held)"
        " SELECT number FROM fresh WHERE term = ''",
        values,
    )
    return [int(number) for (number,) in rows]


def drop_terms(connection: Connection, which: str, values: Parameters) -> list[int]:
    """Remove the terms of texts; as `index_terms`, and return the texts that were there."""
    rows = connection.execute(
        "WITH ended AS (DELETE FROM words USING (SELECT space, term, happened, number FROM entries"  # noqa: S608  # constants
        f" WHERE {which}) AS old WHERE words.space = old.space AND words.term = old.term"
        " AND words.happened = old.happened AND words.number = old.number"
        " RETURNING words.space, words.term, words.number),"
        " counted AS (UPDATE frequencies SET held = held - lost.count FROM"
        " (SELECT space, term, count(*) FROM ended GROUP BY space, term) AS lost"
        " WHERE frequencies.space = lost.space AND frequencies.term = lost.term)"
        " SELECT number FROM ended WHERE term = ''",
        values,
    )
    return [int(number) for (number,) in rows]


def clear_terms(connection: Connection, space: int) -> None:
    """Remove everything of a space."""
    connection.execute("DELETE FROM words WHERE space = ?", (space,))
    connection.execute("DELETE FROM frequencies WHERE space = ?", (space,))
