"""What a SQLite file holds, and the numbered steps that lead to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from foldline.errors import StoreError


@dataclass(frozen=True, slots=True)
class Schema:
    """
    What a file holds.

    Args:
        mark: Tells the files of this kind from others; SQLite's ``application_id``.
        steps: The statements that lead from each version to the next; steps only go forward.
        what: What to call such a file, as in "memory".
    """

    mark: int
    steps: Sequence[Sequence[str]]
    what: str


def migrate(connection: sqlite3.Connection, schema: Schema, name: str) -> None:
    """
    Bring a file to the newest version, in one transaction.

    Args:
        connection: In autocommit mode.
        schema: What the file is to hold.
        name: What to call the file in messages.

    Raises:
        StoreError: The file is another program's, or a newer Foldline's.
    """
    if _version(connection, schema, name) == len(schema.steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again: another process may have been faster while this one waited for the lock.
        for step in schema.steps[_version(connection, schema, name) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {schema.mark}")
        connection.execute(f"PRAGMA user_version = {len(schema.steps)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, schema: Schema, name: str) -> int:
    # One statement sees one moment of the file, which another process may be in the middle of.
    mark, version, tables = connection.execute(
        "SELECT (SELECT application_id FROM pragma_application_id), "
        "(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)"
    ).fetchone()
    if mark != schema.mark and (mark or version or tables):
        raise StoreError(
            f"{name} is a database of another program, no {schema.what}.",
            hint="Name another file; this one was left as it is.",
        )
    if version > len(schema.steps):
        raise StoreError(
            f"{name} was written by a newer Foldline (version {version}, this one knows "
            f"{len(schema.steps)}).",
            hint="Upgrade: pip install --upgrade foldline",
        )
    return int(version)
