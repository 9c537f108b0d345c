"""Forking: a session that shares the beginning of another one and goes on otherwise."""

from __future__ import annotations

from dataclasses import replace

from foldline.core.errors import StoreError
from foldline.core.ports import Change, Store, StoredBatch


def fork(store: Store, name: str, into: str, length: int, now: float) -> None:
    """
    Record the beginning of a session as a session of its own, compactions included.

    The other one stays as it is, so that its handles are still recalled.

    Args:
        store: Where both are.
        name: The session to copy from.
        into: The name of the new one.
        length: How many messages it begins with.
        now: In seconds since 1970.

    Raises:
        StoreError: There is no such session, or the new name is taken.
    """
    source = store.load(name)
    if source is None:
        raise StoreError(f"There is no session {name!r} to go on from.")
    stored = store.begin(replace(source.head, name=into, created=now))
    if stored.messages or stored.batches:
        raise StoreError(
            f"There is a session {into!r} already.", hint="Name the new one otherwise."
        )
    batches = tuple(_as_of(batch, length) for batch in source.batches if batch.at <= length)
    change = Change(at=0, messages=tuple(source.messages[:length]), batches=batches)
    store.commit(into, stored.generation, change)


def _as_of(batch: StoredBatch, length: int) -> StoredBatch:
    """Return a batch as it was when the log had ``length`` messages."""
    if batch.undone_at is not None and batch.undone_at > length:
        return replace(batch, undone_at=None)
    return batch
