"""Messages and batches as rows of the archive's tables."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

from foldline.core.messages import Usage
from foldline.core.ports import Change, StoredBatch, StoredMessage
from foldline.stores import blobs


def moment(change: Change) -> float:
    """Return when a change happened, in seconds since 1970."""
    times = [m.time for m in change.messages] + [b.time for b in change.batches]
    return max(times, default=0.0) or time.time()


def insert_message(
    connection: sqlite3.Connection,
    session: int,
    seq: int,
    message: StoredMessage,
    content: tuple[bytes, bytes | None],
) -> None:
    """Add a message; ``content`` is its wire original and its form, packed."""
    wire, form = content
    connection.execute(
        "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session,
            seq,
            message.id,
            message.role,
            message.time,
            message.pinned,
            None if message.usage is None else json.dumps(astuple(message.usage)),
            blobs.put(connection, wire),
            None if form is None else blobs.put(connection, form),
        ),
    )


def insert_batch(
    connection: sqlite3.Connection, session: int, batch: StoredBatch, edits: bytes, receipt: bytes
) -> None:
    """Add a batch; its edits and its receipt come packed."""
    connection.execute(
        "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session,
            batch.number,
            batch.at,
            batch.kind,
            batch.time,
            batch.undone_at,
            blobs.put(connection, edits),
            blobs.put(connection, receipt),
        ),
    )


def mark(connection: sqlite3.Connection, session: int, change: Change) -> None:
    """Note what a change says about rows that are there already."""
    if change.undone is not None:
        connection.execute(
            "UPDATE batches SET undone_at = ? WHERE session = ? AND number = ?",
            (change.at, session, change.undone),
        )
    if change.pinned:
        connection.execute(
            "UPDATE messages SET pinned = 1 WHERE session = ? AND id = ?",
            (session, change.pinned),
        )
    if change.dialect:
        connection.execute(
            "UPDATE sessions SET dialect = ? WHERE id = ?", (change.dialect, session)
        )


def messages(connection: sqlite3.Connection, session: int) -> Iterator[StoredMessage]:
    """Read the messages of a session, in order."""
    rows = connection.execute(
        """
        SELECT m.id, m.role, m.time, m.pinned, m.usage,
            w.hash, w.codec, w.size, w.data, f.hash, f.codec, f.size, f.data
        FROM messages m JOIN blobs w ON w.id = m.wire LEFT JOIN blobs f ON f.id = m.form
        WHERE m.session = ? ORDER BY m.seq
        """,
        (session,),
    )
    for number, role, moment, pinned, usage, *content in rows:
        yield StoredMessage(
            id=number,
            role=role,
            wire=_content(content[:4]),
            form=None if content[4] is None else _content(content[4:]),
            time=moment,
            pinned=bool(pinned),
            usage=None if usage is None else Usage(*json.loads(usage)),
        )


def batches(connection: sqlite3.Connection, session: int) -> Iterator[StoredBatch]:
    """Read the batches of a session, in order."""
    rows = connection.execute(
        """
        SELECT b.number, b.at, b.kind, b.time, b.undone_at,
            e.hash, e.codec, e.size, e.data, r.hash, r.codec, r.size, r.data
        FROM batches b JOIN blobs e ON e.id = b.edits JOIN blobs r ON r.id = b.receipt
        WHERE b.session = ? ORDER BY b.number
        """,
        (session,),
    )
    for number, at, kind, moment, undone_at, *content in rows:
        edits, receipt = _content(content[:4]), _content(content[4:])
        yield StoredBatch(number, at, kind, edits, receipt, moment, undone_at)


def _content(row: list[Any]) -> Any:
    digest, codec, size, data = row
    return blobs.read(digest, codec, size, data)
