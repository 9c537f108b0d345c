"""
An index of terms in PostgreSQL: a row for every term of a text.

An index of PostgreSQL's own for full text visits the row of every text that holds a term, and
ranks by nothing that is scored here. Rows of terms are read from their index alone, as many as are
asked for, the latest first; how many texts hold a term is counted as they are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from foldline.memory.term_index import LEVELS, Reading
from foldline.sql import Connection, Parameters

TERM_TABLES: Final = (
    """
    CREATE TABLE words (
        space bigint NOT NULL,
        number bigint NOT NULL,
        term text COLLATE "C" NOT NULL,
        PRIMARY KEY (space, term, number)
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
Beside them stands a view ``entries`` of what texts hold, with ``space``, ``number`` and ``term``;
each text has the term of no letters besides, by which texts are counted.
"""

LEVELLED: Final = f"""
    (SELECT term, count(*) AS times FROM unnest(string_to_array(terms, ' ')) AS term
        GROUP BY term) AS held
    CROSS JOIN LATERAL (SELECT held.term UNION ALL SELECT level || '*' || held.term
        FROM unnest(ARRAY[{", ".join(map(str, LEVELS))}]) AS level WHERE level <= held.times
    ) AS entry (term)
"""  # noqa: S608  # numbers
"""The entries of a column ``terms`` in which terms are repeated, in SQL."""

POOL: Final = 200
"""Texts that are looked at closely."""


@dataclass(frozen=True, slots=True)
class TermRows:
    """
    The index that the tables of `TERM_TABLES` are.

    Args:
        pool: The most texts that are found.
        admitted: Which texts may be found: a table with a column ``number`` and a condition, in
            SQL; empty for all.
        values: The values that it names.
        few: Whether those are few: then each of them is looked up under each entry.
    """

    pool: int = POOL
    admitted: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    few: bool = False

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
        self, connection: Connection, space: int, readings: Sequence[Reading]
    ) -> dict[int, float]:
        """Return the texts that score most, among those that are admitted."""
        rows = connection.execute(
            "SELECT read.number, sum(says) AS score"  # noqa: S608  # constants
            " FROM unnest(:entries::text[], :says::float8[], :most::bigint[])"
            f" AS asked (term, says, most) CROSS JOIN {self._read()}"
            " GROUP BY read.number ORDER BY score DESC LIMIT :pool",
            {
                "space": space,
                "pool": self.pool,
                "entries": [one.entry for one in readings],
                "says": [one.says for one in readings],
                "most": [one.most for one in readings],
                **self.values,
            },
        )
        return {int(number): float(score) for number, score in rows}

    def _read(self) -> str:
        """
        Return how the postings of an entry are read, in SQL: only those that are admitted.

        A limit of one row keeps the server to lookups: it takes all terms for equally rare, and
        would rather read the many postings of a common one.
        """
        if self.few:
            return (
                f"(SELECT number FROM {self.admitted} OFFSET 0) AS read CROSS JOIN LATERAL"  # noqa: S608  # constants
                " (SELECT FROM words WHERE space = :space AND words.term = asked.term"
                " AND words.number = read.number LIMIT 1) AS held"
            )
        kept = ""
        if self.admitted:
            kept = (
                f" CROSS JOIN LATERAL (SELECT FROM {self.admitted}"
                " AND number = words.number LIMIT 1) AS kept"
            )
        return (
            f"LATERAL (SELECT words.number FROM words{kept}"  # noqa: S608  # constants
            " WHERE words.space = :space AND words.term = asked.term"
            " ORDER BY words.number DESC LIMIT asked.most) AS read"
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
        "WITH fresh AS (INSERT INTO words (space, term, number)"  # noqa: S608  # constants
        f" SELECT space, term, number FROM entries WHERE {which}"
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
        "WITH gone AS (DELETE FROM words USING (SELECT space, term, number FROM entries"  # noqa: S608  # constants
        f" WHERE {which}) AS old WHERE words.space = old.space AND words.term = old.term"
        " AND words.number = old.number RETURNING words.space, words.term, words.number),"
        " counted AS (UPDATE frequencies SET held = held - lost.count FROM"
        " (SELECT space, term, count(*) FROM gone GROUP BY space, term) AS lost"
        " WHERE frequencies.space = lost.space AND frequencies.term = lost.term)"
        " SELECT number FROM gone WHERE term = ''",
        values,
    )
    return [int(number) for (number,) in rows]


def clear_terms(connection: Connection, space: int) -> None:
    """Remove everything of a space."""
    connection.execute("DELETE FROM words WHERE space = ?", (space,))
    connection.execute("DELETE FROM frequencies WHERE space = ?", (space,))
