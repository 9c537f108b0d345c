"""
Vectors in PostgreSQL: a table of the extension pgvector, with an index for each embedder (HNSW).

The table ``near`` refers to the table ``embedders``. It holds copies for searching; the original
vectors are stored with the texts they belong to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from foldline.errors import StoreError
from foldline.frozen import frozen
from foldline.retrieval.embedding import Embedder, pack, unpack
from foldline.sql import Connection, Database

EMBEDDERS: Final = "CREATE TABLE embedders (id {key}, name {label} NOT NULL UNIQUE)"
"""For both databases; see `foldline.sql.sqlite_tables` and `postgres_tables` there."""

HNSW_LINKS: Final = 24
EF_CONSTRUCTION: Final = 128
"""
The links per vector in the index, and the number of candidates for them. With 16 and 64, the
defaults of pgvector, 98.2 to 98.8 % of the exact twenty nearest were found among a million.
"""

EF_SEARCH: Final = 200
"""The size of the candidate list during a search (``ef_search``)."""

NARROW: Final = 20_000
"""
If a filter admits no more vectors than this, all are compared: the index would iterate too long to
find enough (measured among a million: 15 ms for 5,000 against 170 ms).
"""

FEWEST: Final = 20
"""If the index yields fewer admitted vectors than this, all admitted ones are compared."""

SEARCH_SETTINGS: Final = (
    ("hnsw.ef_search", str(EF_SEARCH)),
    ("hnsw.iterative_scan", "relaxed_order"),
    ("hnsw.max_scan_tuples", "20000"),
    ("plan_cache_mode", "force_custom_plan"),
    ("jit", "off"),
)
"""Settings of a search transaction."""

Fill = Callable[[Connection], None]


@frozen
class VectorIndex:
    """
    The vectors of one embedder.

    Args:
        embedder: The number of the embedder.
        dimensions: The dimensions of a vector.
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
        Return the texts nearest to a vector, the best first.

        Args:
            connection: A transaction with `SEARCH_SETTINGS`.
            vector: A vector of length 1.
            count: The maximum number of texts.
            condition: A condition on rows of ``near``, in SQL.
            values: The values of the condition.
            exact: Compare all rows that the condition admits; None to do so if they are few.
        """
        if exact is None:
            rows_of = f"near WHERE embedder = {self.embedder} AND {condition}"
            exact = estimate_rows(connection, rows_of, values) <= NARROW
        kind = f"halfvec({self.dimensions})"
        distance = f"direction::{kind} <#> :direction::{kind}"
        if exact:
            distance = f"({distance}) + 0"  # prevents the use of an index
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
    Return the server's estimate of the number of rows; none are read.

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
    Open the vector index of an embedder; whatever is missing is created.

    Args:
        database: The database.
        embedder: The embedder.
        tables: The statements that create the table ``near`` if it is missing.
        fill: Called once for each new embedder, to add the existing vectors.

    Raises:
        StoreError: The extension pgvector is missing, or this user may not create an index.
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
    """Apply `SEARCH_SETTINGS` until the transaction ends."""
    calls = ", ".join("set_config(?, ?, true)" for _ in SEARCH_SETTINGS)
    connection.execute(f"SELECT {calls}", [word for pair in SEARCH_SETTINGS for word in pair])


def literal(data: bytes) -> str:
    """Convert a packed vector to the literal of pgvector."""
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
        f"Semantic search needs the extension pgvector, 0.8 or later: {why}",
        hint="Have an administrator run CREATE EXTENSION vector SCHEMA public, or open without an"
        " embedder.",
    ) from cause


def _has_vectors(database: Database) -> bool:
    with database.reading() as connection:
        (found,) = connection.execute("SELECT to_regtype('halfvec') IS NOT NULL").fetchone()
    return bool(found)
