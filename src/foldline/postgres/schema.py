"""The schema of a PostgreSQL database, and its numbered migrations."""

from __future__ import annotations

from collections.abc import Sequence

from foldline.errors import StoreError
from foldline.frozen import frozen
from foldline.sql import Connection

LOCK = 0x464F4C44
"""The advisory lock under which migrations run, "FOLD" in ASCII."""


WAITING = "10min"
"""Timeout of a migration for another one, or for a transaction that uses its tables."""


@frozen
class PostgresSchema:
    """
    The content of a schema of a database.

    Args:
        name: The name of the schema.
        steps: The statements of each migration. Migrations only go forward and only add, so that
            workers of the previous version continue to run.
        what: Its name in messages, such as "archive".
    """

    name: str
    steps: Sequence[Sequence[str]]
    what: str


def migrate(connection: Connection, schema: PostgresSchema, place: str) -> None:
    """
    Migrate a schema to the newest version, in one transaction.

    Args:
        connection: A connection in autocommit mode.
        schema: The target schema.
        place: The name of the database in messages.

    Raises:
        StoreError: It was written by a newer Foldline.
    """
    if _version(connection, schema, place) == len(schema.steps):
        return
    connection.execute("BEGIN")
    try:
        # Indexing a large table takes time, and waiting processes must not time out before.
        connection.execute("SET LOCAL statement_timeout = 0")
        connection.execute(f"SET LOCAL lock_timeout = '{WAITING}'")
        # One process migrates; others wait here, and find the schema migrated afterwards.
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
