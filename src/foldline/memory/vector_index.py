"""
Vectors in PostgreSQL: a table of the extension pgvector, with an index for each embedder (HNSW).

Beside the table ``near`` stands the table ``embedders``. The vectors themselves are kept with what
they belong to; here they stand once more, only to be found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from foldline.errors import StoreError
from foldline.frozen import frozen
from foldline.retrieval.embedding import Embedder, pack, unpack
from foldline.sql import Connection, Database

EMBEDDERS: Final = "CREATE TABLE embedders (id {key}, name {label} NOT NULL UNIQUE)"
"""For either kind of database; see `foldline.sql.sqlite_tables` and `postgres_tables` there."""

HNSW_LINKS: Final = 24
EF_CONSTRUCTION: Final = 128
"""
To how many others a vector is linked in the index, and among how many these are chosen. With the
16 and 64 of pgvector, 98.2 to 98.8 % of the exact twenty nearest were found among a million.
"""

EF_SEARCH: Final = 200
"""Vectors that the index keeps at hand while it goes from one to the next (``ef_search``)."""

NARROW: Final = 20_000
"""
Where a filter admits no more than these, all of them are compared: the index would go on and on to
find enough (measured among a million: 15 ms for 5,000 against 170 ms).
"""

FEWEST: Final = 20
"""Where the index leads to fewer that a filter admits, all that it admits are compared, too."""

SEARCH_SETTINGS: Final = (
    ("hnsw.ef_search", str(EF_SEARCH)),
    ("hnsw.iterative_scan", "relaxed_order"),
    ("hnsw.max_scan_tuples", "20000"),
    ("plan_cache_mode", "force_custom_plan"),
    ("jit", "off"),
)
"""Of a transaction that searches."""

Fill = Callable[[Connection], None]


@frozen
class VectorIndex:
    """
    The vectors of one embedder.

    Args:
        embedder: Its number.
        dimensions: How many numbers a vector has.
    """

    embedder: int
    dimensions: int

    def nearest(
        self,
        connection: Connection,
        vector: Sequence[float],
        count: int,
        condition: str,
        values: Mapping[str, Any],
        *,
        exact: bool | None = None,
    ) -> list[int]:
        """
        Return the texts that are nearest to a vector, the best first.

        Args:
            connection: With `SEARCH_SETTINGS`.
            vector: Of length 1.
            count: The most that are returned.
            condition: Which rows of ``near`` may be found, in SQL.
            values: The values of the condition.
            exact: Whether all that the condition admits are compared; None where those are few.
        """
        if exact is None:
            rows_of = f"near WHERE embedder = {self.embedder} AND {condition}"
            exact = estimate_rows(connection, rows_of, values) <= NARROW
        kind = f"halfvec({self.dimensions})"
        distance = f"direction::{kind} <#> :direction::{kind}"
        if exact:
            distance = f"({distance}) + 0"  # no index is ordered by that
        rows = connection.execute(
            f"SELECT number, {distance} AS far FROM near WHERE embedder = {self.embedder}"  # noqa: S608  # numbers
            f" AND {condition} ORDER BY {distance} LIMIT :count",
            {"direction": literal(pack(vector)), "count": count, **values},
        ).fetchall()
        if len(rows) < min(count, FEWEST) and not exact:
            return self.nearest(connection, vector, count, condition, values, exact=True)
        return [int(number) for number, _ in sorted(rows, key=lambda row: row[1])]


def estimate_rows(connection: Connection, admitted: str, values: Mapping[str, Any]) -> float:
    """
    Return how many rows the server expects; none are read.

    Args:
        connection: The database.
        admitted: A table with a column ``number`` and a condition, in SQL.
        values: The values of the condition.
    """
    (plans,) = connection.execute(
        f"EXPLAIN (FORMAT JSON) SELECT number FROM {admitted}",  # noqa: S608  # constants
        values,
    ).fetchone()
    return float(plans[0]["Plan"]["Plan Rows"])


def open_vector_index(
    database: Database, embedder: Embedder, tables: Sequence[str], fill: Fill | None = None
) -> VectorIndex:
    """
    Return the vectors of an embedder; what is not there yet is made.

    Args:
        database: Where they are.
        embedder: The embedder.
        tables: The statements that make the table ``near`` where it is missing.
        fill: Called once for each embedder, to write the vectors of what is there.

    Raises:
        StoreError: The extension pgvector is not there, or this user may not make an index.
    """
    with database.reading() as connection:
        known = _number(connection, embedder.name)
    if known is None:
        _make_extension(database)
        with database.writing() as connection:
            connection.execute("SELECT set_config('statement_timeout', '0', true)")
            for statement in tables:
                connection.execute(statement)
            connection.execute("LOCK TABLE embedders IN SHARE ROW EXCLUSIVE MODE")
            known = _number(connection, embedder.name)
            if known is None:
                known = _make_index(connection, embedder, fill)
    return VectorIndex(known, embedder.dimensions)


def apply_search_settings(connection: Connection) -> None:
    """Bring `SEARCH_SETTINGS` into force until the transaction ends."""
    calls = ", ".join("set_config(?, ?, true)" for _ in SEARCH_SETTINGS)
    connection.execute(f"SELECT {calls}", [word for pair in SEARCH_SETTINGS for word in pair])


def literal(data: bytes) -> str:
    """Write a vector that `pack` wrote as pgvector reads it."""
    return f"[{','.join(f'{number:.5g}' for number in unpack(data).tolist())}]"


def _number(connection: Connection, name: str) -> int | None:
    row = connection.execute("SELECT id FROM embedders WHERE name = ?", (name,)).fetchone()
    return None if row is None else int(row[0])


def _make_index(connection: Connection, embedder: Embedder, fill: Fill | None) -> int:
    (number,) = connection.execute(
        "INSERT INTO embedders (name) VALUES (?) RETURNING id", (embedder.name,)
    ).fetchone()
    if fill is not None:
        fill(connection)
    connection.execute(
        f"CREATE INDEX near_{number} ON near USING hnsw"
        f" ((direction::halfvec({embedder.dimensions})) halfvec_ip_ops)"
        f" WITH (m = {HNSW_LINKS}, ef_construction = {EF_CONSTRUCTION}) WHERE embedder = {number}"
    )
    return int(number)


def _make_extension(database: Database) -> None:
    if _has_vectors(database):
        return
    cause: StoreError | None = None
    try:
        with database.writing() as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        if _has_vectors(database):
            return
        why = "it is older, or not in the schema public"
    except StoreError as error:
        cause, why = error, error.message
    raise StoreError(
        f"A search by meaning needs the extension pgvector, 0.8 or later: {why}",
        hint="Let an administrator run CREATE EXTENSION vector SCHEMA public, or go without an"
        " embedder.",
    ) from cause


def _has_vectors(database: Database) -> bool:
    with database.reading() as connection:
        (found,) = connection.execute("SELECT to_regtype('halfvec') IS NOT NULL").fetchone()
    return bool(found)
