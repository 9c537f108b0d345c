"""What a PostgreSQL database holds, and the numbered steps that lead to it."""

from __future__ import annotations

from collections.abc import Sequence

from foldline.errors import StoreError
from foldline.frozen import frozen
from foldline.sql import Connection

LOCK = 0x464F4C44
"""The advisory lock under which migrations run, "FOLD" in ASCII."""


WAITING = "10min"
"""How long a migration waits for another one, or for a transaction that uses its tables."""


@frozen
class PostgresSchema:
    """
    What a schema of a database holds.

    Args:
        name: The schema; everything of this kind stands in it.
        steps: The statements that lead from each version to the next. Steps only go forward and
            only add, so that workers of the version before go on meanwhile.
        what: What to call it, as in "archive".
    """

    name: str
    steps: Sequence[Sequence[str]]
    what: str


def migrate(connection: Connection, schema: PostgresSchema, place: str) -> None:
    """
    Bring a schema to the newest version, in one transaction.

    Args:
        connection: In autocommit mode.
        schema: What is to be there.
        place: What to call the database in messages.

    Raises:
        StoreError: It was written by a newer Foldline.
    """
    if _version(connection, schema, place) == len(schema.steps):
        return
    connection.execute("BEGIN")
    try:
        # An index of a large table takes its time, and who waits for it must not give up before.
        connection.execute("SET LOCAL statement_timeout = 0")
        connection.execute(f"SET LOCAL lock_timeout = '{WAITING}'")
        # One process migrates; others wait here, and find it done when they read again.
        connection.execute("SELECT pg_advisory_xact_lock(?)", (LOCK,))
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema.name}")
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {schema.name}.migrations"
            " (version integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())"
        )
        done = _version(connection, schema, place)
        for number, step in enumerate(schema.steps[done:], done + 1):
            for statement in step:
                connection.execute(statement)
            connection.execute("INSERT INTO migrations (version) VALUES (?)", (number,))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _version(connection: Connection, schema: PostgresSchema, place: str) -> int:
    table = f"{schema.name}.migrations"
    (there,) = connection.execute("SELECT to_regclass(?) IS NOT NULL", (table,)).fetchone()
    if not there:
        return 0
    (version,) = connection.execute(f"SELECT coalesce(max(version), 0) FROM {table}").fetchone()  # noqa: S608  # a constant
    if version > len(schema.steps):
        raise StoreError(
            f"The {schema.what} in {place} was written by a newer Foldline (version {version}, "
            f"this one knows {len(schema.steps)}).",
            hint="Upgrade: pip install --upgrade foldline",
        )
    return int(version)
