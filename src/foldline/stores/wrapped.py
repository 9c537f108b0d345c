"""A store that passes on what another one keeps; the base of those that change contents."""

from __future__ import annotations

from collections.abc import Collection

from foldline.stores.protocol import SessionHead, SessionInfo, Store, StoredSession


class WrappedStore:
    """
    Passes on every call of `foldline.stores.protocol.Store` but ``commit`` to another store.

    Args:
        store: Where sessions are kept.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def begin(self, head: SessionHead) -> StoredSession:
        """Return the session with the name of ``head``; create it when there is none."""
        return self._store.begin(head)

    def load(self, name: str) -> StoredSession | None:
        """Return a session, or None when there is none of this name."""
        return self._store.load(name)

    def sessions(self) -> tuple[SessionInfo, ...]:
        """List the sessions, the one that was changed last first."""
        return self._store.sessions()

    def names(self) -> tuple[str, ...]:
        """List the names of the sessions, the one that was changed last first."""
        return self._store.names()

    def find(self, prefix: str) -> tuple[tuple[str, str], ...]:
        """Find messages by the beginning of their id, newest sessions first, at most 100."""
        return self._store.find(prefix)

    def delete(self, names: Collection[str]) -> int:
        """Remove sessions for good; return how many were there."""
        return self._store.delete(names)

    def size(self) -> int:
        """Return what everything takes in the store, in bytes."""
        return self._store.size()

    def close(self) -> None:
        """Close the store; closing twice is allowed."""
        self._store.close()
