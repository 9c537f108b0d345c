"""How long sessions are kept, and how much room they may take: which ones have to go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.frozen import frozen
from foldline.stores.protocol import SessionInfo, Store

IN_USE: Final = 3_600.0
"""A session that changed within so many seconds is being worked in, and stays."""

ROUNDS: Final = 64
"""How often a store is measured again: sessions share contents, so their sizes only estimate."""


@frozen
class Retention:
    """
    What a store may keep.

    Args:
        keep: Seconds for which a session stays after its last change; None for ever.
        max_size: The most that the store may take, in bytes; None for no limit. The sessions that
            were changed longest ago go first, those of the last hour never.
    """

    keep: float | None = None
    max_size: int | None = None


def prune(store: Store, retention: Retention, now: float) -> tuple[str, ...]:
    """
    Delete what a store may no longer keep, and return the names of the sessions that went.

    Args:
        store: Where the sessions are.
        retention: What it may keep.
        now: In seconds since 1970.

    Raises:
        StoreError: The store cannot be changed.
    """
    names = list[str]()
    if retention.keep is not None:
        names += _delete(store, [i for i in store.sessions() if now - i.updated > retention.keep])
    for _ in range(ROUNDS if retention.max_size is not None else 0):
        excess = store.size() - (retention.max_size or 0)
        oldest = _oldest(store.sessions(), excess, now) if excess > 0 else []
        if not oldest:
            break
        names += _delete(store, oldest)
    return tuple(names)


def _oldest(sessions: Sequence[SessionInfo], excess: int, now: float) -> list[SessionInfo]:
    """Return the sessions changed longest ago that take as much together as is too much."""
    out = list[SessionInfo]()
    for info in sorted(sessions, key=lambda one: one.updated):
        if excess <= 0 or now - info.updated < IN_USE:
            break
        out.append(info)
        excess -= max(1, info.size)
    return out


def _delete(store: Store, sessions: Sequence[SessionInfo]) -> list[str]:
    names = [info.head.name for info in sessions]
    if names:
        store.delete(names)
    return names
