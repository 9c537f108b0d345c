"""What a session showed after its compactions, as rows of the archive's tables."""

from __future__ import annotations

from foldline.errors import StoreError
from foldline.sql import Connection
from foldline.stores import blobs
from foldline.stores.protocol import StoredCheckpoint


def insert(
    connection: Connection, session: int, checkpoint: StoredCheckpoint, content: bytes
) -> None:
    """Add what was shown after a batch, its content packed, unless it is there."""
    connection.execute(
        "INSERT INTO checkpoints (session, number, at, hash, codec, size, data)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session, number) DO NOTHING",
        (
            session,
            checkpoint.number,
            checkpoint.at,
            blobs.hash_content(content),
            *blobs.compress(content),
        ),
    )


def newest(connection: Connection, session: int) -> StoredCheckpoint | None:
    """
    Read the newest checkpoint that holds; None where there is none, or where it is damaged.

    It holds as long as its batch is in effect, since of several the newest is taken back first.
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
    except StoreError:  # the compactions themselves tell the same
        return None
