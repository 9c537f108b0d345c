"""Messages and batches as rows of the archive's tables."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple
from typing import Any, Final, get_args

from foldline.errors import StoreError
from foldline.frozen import replace
from foldline.sql import Connection
from foldline.stores import blobs
from foldline.stores.protocol import (
    Change,
    SessionHead,
    SessionInfo,
    StoredBatch,
    StoredCheckpoint,
    StoredMemory,
    StoredMessage,
)
from foldline.type_checks import check_fields
from foldline.values.messages import Role, Usage

MOST: Final = 2**40
"""Upper bound of the number of messages in a session."""

ROLES: Final = frozenset(get_args(Role))


def moment(change: Change) -> float:
    """Return the time of a change, in seconds since 1970."""
    times = [m.time for m in change.messages] + [b.time for b in change.batches]
    return max([change.time, *times]) or time.time()


def insert_messages(
    connection: Connection, session: int, at: int, messages: Sequence[StoredMessage]
) -> None:
    """Insert messages from a position on, with packed contents."""
    wires = blobs.put_all(connection, [message.wire for message in messages])
    packed = [message.form for message in messages if message.form is not None]
    forms = iter(blobs.put_all(connection, packed))
    values = [
        (
            session,
            seq,
            message.id,
            message.role,
            message.time,
            int(message.pinned),
            None if message.usage is None else json.dumps(astuple(message.usage)),
            wire,
            None if message.form is None else next(forms),
        )
        for seq, (message, wire) in enumerate(zip(messages, wires, strict=True), at)
    ]
    statement = "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    if len(values) == 1:
        connection.execute(statement, values[0])
    elif values:
        connection.executemany(statement, values)


def insert_batch(
    connection: Connection, session: int, batch: StoredBatch, memory: StoredMemory | None
) -> None:
    """Insert a batch with packed contents; its prepared edits are not packed yet."""
    prepared = None if memory is None else _keep_memory(connection, session, memory)
    edits, receipt = blobs.put(connection, batch.edits), blobs.put(connection, batch.receipt)
    head = (batch.number, batch.at, batch.kind, batch.time, batch.undone_at)
    connection.execute(
        "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (session, *head, edits, receipt, prepared, batch.repeats),
    )


def session_values(head: SessionHead) -> tuple[Any, ...]:
    """Return the values of a new session's row, in the order of its columns."""
    return (head.name, head.dialect, head.model, head.window, head.created, head.created)


def is_there(connection: Connection, session: int) -> bool:
    """Return True if a session still exists."""
    row = connection.execute("SELECT id FROM sessions WHERE id = ?", (session,)).fetchone()
    return row is not None


def is_called(connection: Connection, name: str, session: int | None) -> bool:
    """Return True if a session has a name; None matches any session."""
    row = connection.execute("SELECT id FROM sessions WHERE name = ?", (name,)).fetchone()
    return row is not None and session in (None, row[0])


def delete_sessions(connection: Connection, names: Collection[str]) -> int:
    """Delete sessions and the blobs that only they used; return the number of sessions."""
    keys = [(name,) for name in dict.fromkeys(names)]
    found = [
        connection.execute("SELECT id FROM sessions WHERE name = ?", one).fetchone()
        for one in keys
    ]
    ids = [tuple(row) for row in found if row is not None]
    # Batches reference memories, so they are deleted first.
    for table in ("messages", "batches", "memories", "checkpoints"):
        connection.executemany(f"DELETE FROM {table} WHERE session = ?", ids)  # noqa: S608  # a constant
    connection.executemany("DELETE FROM sessions WHERE id = ?", ids)
    if ids:
        connection.execute(
            "DELETE FROM blobs WHERE id IN (SELECT id FROM blobs"
            " EXCEPT SELECT wire FROM messages"
            " EXCEPT SELECT form FROM messages WHERE form IS NOT NULL"
            " EXCEPT SELECT edits FROM batches EXCEPT SELECT receipt FROM batches)"
        )
    return len(ids)


# --- memories --------------------------------------------------------------------------------


def replace_memory(connection: Connection, session: int, memory: StoredMemory | None) -> None:
    """Replace the prepared compaction, with packed content."""
    connection.execute(
        "DELETE FROM memories WHERE session = ? AND id NOT IN"
        " (SELECT memory FROM batches WHERE session = ? AND memory IS NOT NULL)",
        (session, session),
    )
    if memory is not None:
        _insert_memory(connection, session, memory)


def _insert_memory(connection: Connection, session: int, memory: StoredMemory) -> int:
    head = (memory.until, memory.digest, memory.at, memory.generation, memory.time)
    content = (blobs.hash_content(memory.content), *blobs.compress(memory.content))
    row = connection.execute(
        "INSERT INTO memories"
        " (session, until, digest, at, generation, time, hash, codec, size, data)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (session, *head, *content),
    ).fetchone()
    return int(row[0])


def _keep_memory(connection: Connection, session: int, memory: StoredMemory) -> int:
    """Return the id of a prepared compaction that is already stored, else insert it."""
    row = connection.execute(
        "SELECT id FROM memories WHERE session = ? AND generation = ? AND digest = ?",
        (session, memory.generation, memory.digest),
    ).fetchone()
    if row is not None:
        return int(row[0])
    return _insert_memory(connection, session, memory.map(blobs.pack))


def memory(connection: Connection, session: int) -> StoredMemory | None:
    """Read the prepared next compaction of a session; None if there is none or it is damaged."""
    row = connection.execute(
        "SELECT until, digest, at, generation, time, hash, codec, size, data FROM memories"
        " WHERE session = ? AND id NOT IN"
        " (SELECT memory FROM batches WHERE session = ? AND memory IS NOT NULL)"
        " ORDER BY id DESC LIMIT 1",
        (session, session),
    ).fetchone()
    try:
        return None if row is None else _memory(row)
    except StoreError:  # it is prepared again; messages are not affected
        return None


def _memory(row: Sequence[Any]) -> StoredMemory:
    until, digest, at, generation, moment, *content = row
    found = StoredMemory(until, digest, at, generation, moment, blobs.read(*content))
    if not fits(found):
        raise blobs.damage_error("an invalid session memory")
    return found


def insert_checkpoint(connection: Connection, session: int, checkpoint: StoredCheckpoint) -> None:
    """Insert a checkpoint with packed content, unless it exists."""
    content = (blobs.hash_content(checkpoint.content), *blobs.compress(checkpoint.content))
    connection.execute(
        "INSERT INTO checkpoints (session, number, at, hash, codec, size, data)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session, number) DO NOTHING",
        (session, checkpoint.number, checkpoint.at, *content),
    )


def newest_checkpoint(connection: Connection, session: int) -> StoredCheckpoint | None:
    """
    Read the newest valid checkpoint; None if there is none, or it is damaged.

    It is valid while its batch is in effect, since the newest batch is undone first.
    """
    row = connection.execute(
        "SELECT c.number, c.at, c.hash, c.codec, c.size, c.data FROM checkpoints c"
        " JOIN batches b ON b.session = c.session AND b.number = c.number AND b.at = c.at"
        " WHERE c.session = ? AND b.undone_at IS NULL ORDER BY c.number DESC LIMIT 1",
        (session,),
    ).fetchone()
    if row is None:
        return None
    try:
        return StoredCheckpoint(row[0], row[1], blobs.read(*row[2:]))
    except StoreError:  # it can be rebuilt from the compactions
        return None


# --- existing rows ---------------------------------------------------------------------------


def mark(connection: Connection, session: int, change: Change) -> None:
    """Apply a change to existing rows."""
    if change.undone is not None:
        connection.execute(
            "UPDATE batches SET undone_at = ? WHERE session = ? AND number = ?",
            (change.at, session, change.undone),
        )
    if change.again is not None:
        connection.execute(
            "UPDATE batches SET at = ?, time = ?, repeats = repeats + 1"
            " WHERE session = ? AND number = ?",
            (change.at, moment(change), session, change.again),
        )
    if change.pinned:
        connection.execute(
            "UPDATE messages SET pinned = 1 WHERE session = ? AND id = ?", (session, change.pinned)
        )
    if change.dialect:
        connection.execute(
            "UPDATE sessions SET dialect = ? WHERE id = ?", (change.dialect, session)
        )


def length(connection: Connection, session: int) -> int:
    """Return the number of messages in a session."""
    (last,) = connection.execute(
        "SELECT max(seq) FROM messages WHERE session = ?", (session,)
    ).fetchone()
    if last is None:
        return 0
    if not isinstance(last, int) or not 0 <= last < MOST:
        raise blobs.damage_error("an invalid position of a message")
    return last + 1


def message_ids(connection: Connection, session: int, start: int, stop: int) -> list[str]:
    """Read the ids of messages from position ``start`` to before ``stop``, in order."""
    found = connection.execute(
        "SELECT id FROM messages WHERE session = ? AND seq >= ? AND seq < ? ORDER BY seq",
        (session, start, stop),
    )
    return [_id(number) for (number,) in found]


def position(connection: Connection, session: int, number: str, size: int) -> int | None:
    """Find the position of a message by its id among the first ``size`` of a session."""
    row = connection.execute(
        "SELECT seq FROM messages WHERE id = ? AND session = ? AND seq < ?",
        (number, session, size),
    ).fetchone()
    return None if row is None else whole(row[0], "a position of a message")


def next_position(connection: Connection, session: int, start: int, size: int) -> int:
    """Find the first stored position from ``start`` on; ``size`` if there is none below it."""
    (found,) = connection.execute(
        "SELECT min(seq) FROM messages WHERE session = ? AND seq >= ? AND seq < ?",
        (session, start, size),
    ).fetchone()
    return size if found is None else math.ceil(found)  # a damaged one may be a fraction


def messages(
    connection: Connection, session: int, start: int, stop: int
) -> Iterator[StoredMessage]:
    """Read the messages of a session from position ``start`` to before ``stop``, in order."""
    rows = connection.execute(
        """
        SELECT m.id, m.role, m.time, m.pinned, m.usage,
            w.hash, w.codec, w.size, w.data, f.hash, f.codec, f.size, f.data
        FROM messages m JOIN blobs w ON w.id = m.wire LEFT JOIN blobs f ON f.id = m.form
        WHERE m.session = ? AND m.seq >= ? AND m.seq < ? ORDER BY m.seq
        """,
        (session, start, stop),
    )
    for number, role, moment, pinned, usage, *content in rows:
        if role not in ROLES or not isinstance(moment, (int, float)):
            raise blobs.damage_error("a message without a role or a time")
        yield StoredMessage(
            id=_id(number),
            role=role,
            wire=blobs.read(*content[:4]),
            form=None if content[4] is None else blobs.read(*content[4:]),
            time=moment,
            pinned=bool(pinned),
            usage=None if usage is None else _usage(usage),
        )


def batch_count(connection: Connection, session: int) -> int:
    """Return the number of batches of a session."""
    row = connection.execute("SELECT count(*) FROM batches WHERE session = ?", (session,))
    return int(row.fetchone()[0])


def batches(connection: Connection, session: int, start: int, stop: int) -> Iterator[StoredBatch]:
    """Read the batches of a session from number ``start`` to before ``stop``, in order."""
    rows = connection.execute(
        """
        SELECT b.number, b.at, b.kind, b.time, b.undone_at, b.repeats, b.memory,
            e.hash, e.codec, e.size, e.data, r.hash, r.codec, r.size, r.data,
            m.until, m.digest, m.at, m.generation, m.time, m.hash, m.codec, m.size, m.data
        FROM batches b LEFT JOIN blobs e ON e.id = b.edits LEFT JOIN blobs r ON r.id = b.receipt
            LEFT JOIN memories m ON m.id = b.memory
        WHERE b.session = ? AND b.number >= ? AND b.number < ? ORDER BY b.number
        """,
        (session, start, stop),
    )
    for number, at, kind, moment, undone_at, repeats, early, *content in rows:
        edits = receipt = prepared = None
        with suppress(StoreError):  # an unreadable batch leaves the messages readable
            prepared = None if early is None else _memory(content[8:])
            edits, receipt = blobs.read(*content[:4]), blobs.read(*content[4:8])
        batch = StoredBatch(number, at, kind, edits, receipt, moment, undone_at, prepared, repeats)
        yield batch if fits(batch) else replace(batch, at=0, edits=None)


def head(row: Sequence[Any]) -> SessionHead:
    """
    Read the head of a session.

    Raises:
        StoreError: It is damaged.
    """
    found = SessionHead(*row)
    if not fits(found) or not (found.window is None or found.window > 0):
        raise blobs.damage_error("a session without a name, format, model or window")
    return found


def info(row: Sequence[Any]) -> SessionInfo:
    """Read the summary data of a session; unreadable fields are omitted, not the session."""
    try:
        found = SessionInfo(head(row[:5]), *row[5:])
    except StoreError:
        found = SessionInfo(SessionHead(str(row[0])), *row[5:])
    return found if fits(found) else SessionInfo(found.head, 0.0, 0, 0, 0)


def whole(value: Any, what: str) -> int:
    """Return a value if it is a non-negative whole number."""
    if not isinstance(value, int) or value < 0:
        raise blobs.damage_error(f"{what} that is invalid")
    return value


def fits(record: Any) -> bool:
    """Return True if the fields of a record have their declared types."""
    try:
        check_fields(record)
    except TypeError:
        return False
    return True


def _id(value: Any) -> str:
    if not isinstance(value, str):
        raise blobs.damage_error("a message without an id")
    return value


def _usage(text: str) -> Usage:
    try:
        usage = Usage(*json.loads(text))
        check_fields(usage)
    except (TypeError, ValueError, RecursionError) as error:
        raise blobs.damage_error(f"a usage of a message that is not readable: {error}") from error
    return usage
