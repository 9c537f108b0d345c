"""Retention of sessions by age and total size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.frozen import frozen
from foldline.stores.protocol import SessionInfo, Store

IN_USE: Final = 3_600.0
"""Seconds since its last change during which a session is in use, and kept."""

ROUNDS: Final = 64
"""Maximum number of measurements: sessions share contents, so their sizes are only estimates."""


@frozen
class Retention:
    """
    The retention limits of a store.

    Args:
        keep: Seconds for which a session is kept after its last change; None for ever.
        max_size: Maximum size of the store, in bytes; None for no limit. The least recently
            changed sessions are deleted first, those changed in the last hour never.
    """

    keep: float | None = None
    max_size: int | None = None


def prune(store: Store, retention: Retention, now: float) -> tuple[str, ...]:
    """
    Delete sessions beyond the retention limits, and return their names.

    Args:
        store: The store.
        retention: Its limits.
        now: The current time, in seconds since 1970.

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
    """Return the least recently changed sessions whose total size covers an excess."""
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
