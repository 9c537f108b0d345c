"""
Find texts by the terms of a query, with an inverted index in a database.

The index records only whether a text has a term; a repeated term is written as an additional
term, such as ``4*launch``. The index does no ranking, and would visit every text with any word of
a query: over a second at a million chunks. So the postings of its terms are read rarest first, up
to a budget (measured: 24 ms at the median with 50,000, for a million chunks).

In PostgreSQL the index is a row for every term of a text. The built-in full-text index visits the
row of every text with a term, and ranks by none of the scores used here. Rows of terms are read
from their index alone, as many as requested, the latest first; the number of texts with a term is
counted on writing.
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
"""The counts at which a repeated term gets an entry; others are rounded down."""

FILLER: Final = "*"
"""A placeholder for terms that are not in the query; it is never a term itself."""


def write_terms(counts: Mapping[str, int]) -> str:
    """Encode the terms of a text with their counts."""
    out = list[str]()
    for term, count in counts.items():
        out.append(term)
        out += [f"{level}*{term}" for level in LEVELS if count >= level]
    return " ".join(out)


def term_entries(term: str) -> Iterator[tuple[str, int]]:
    """Yield the index entries of a term, each with the count it stands for."""
    yield term, 1
    yield from ((f"{level}*{term}", level) for level in LEVELS)


def expand_terms(terms: str, query_terms: frozenset[str], length: int) -> tuple[str, ...]:
    """
    Return the terms of a text for scoring: query terms repeated by their counts.

    Args:
        terms: The result of `write_terms`.
        query_terms: The terms of the query.
        length: The number of terms of the text; other terms only add to the length.
    """
    entries = set(terms.split(" "))
    out = list[str]()
    for term in entries & query_terms:
        times = max((level for level in LEVELS if f"{level}*{term}" in entries), default=1)
        out += [term] * times
    return (*out, *(FILLER,) * max(0, length - len(out)))


MOST_TERMS: Final = 32
"""The maximum number of distinct query terms that are searched."""


@frozen
class PostingRead:
    """An index entry to read: its weight in the score, and the maximum number of texts."""

    entry: str
    weight: float
    most: int


def query_entries(terms: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the distinct terms of a query, and their index entries."""
    query_terms = list(dict.fromkeys(terms))[: 8 * MOST_TERMS]
    return query_terms, [entry for term in query_terms for entry, _ in term_entries(term)]


def plan_reads(
    terms: Iterable[str], frequency: Mapping[str, int], whole: int, most: int
) -> list[PostingRead]:
    """Choose the entries to read: the rarest first, at most ``most`` postings in total."""
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
    """Return the weight that an entry adds to the lower entries of its term."""
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
They require a view ``entries`` of the terms of texts, with ``space``, ``number``, ``happened`` and
``term``; each text also has the empty term, by which texts are counted. ``happened`` is in seconds
since 1970, and 0 if it is not used.
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
"""The default number of candidate texts."""

_READS: Final = (
    "unnest(:entries::text[], :weights::float8[], :most::bigint[]) AS reads (term, weight, most)"
)

_BEST_FIRST: Final = "ORDER BY score DESC, happened DESC, number DESC"
"""The latest first among texts of equal score, since the number of candidates is limited."""


@frozen
class TermTable:
    """
    The index in the tables of `TERM_TABLES`.

    Args:
        pool: The maximum number of texts to return.
        admitted: The searchable texts: a table with the columns ``number`` and ``happened`` and a
            condition, in SQL; empty for all.
        values: The parameters of ``admitted``.
        few: True if these are few: then each is looked up under each entry.
        first: The earliest ``happened`` of these, in seconds since 1970.
        last: The latest ``happened`` of these.
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
        """Return the number of texts of a space with each entry."""
        rows = connection.execute(
            "SELECT term, held FROM frequencies WHERE space = ? AND term = ANY(?)",
            (space, list(entries)),
        )
        return {str(term): int(held) for term, held in rows}

    def best(
        self, connection: Connection, space: int, readings: Sequence[PostingRead]
    ) -> dict[int, float]:
        """Return the admitted texts with the highest scores."""
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
        """Return the SQL that reads the latest postings and filters the best until enough pass."""
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
        Return the SQL that looks up each admitted text under each entry.

        LIMIT 1 forces the server to use lookups: it estimates all terms as equally rare, and
        would otherwise read the many postings of a common one.
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
    Index the terms of texts, some of which may be indexed already.

    Args:
        connection: A transaction that locks these spaces.
        which: A condition on ``number``, in SQL.
        values: The values of the condition.

    Returns:
        The newly indexed texts.
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
    """Remove the terms of texts; see `index_terms`. Return the texts that were indexed."""
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
