"""Stores around another store: one that passes everything on, and one that hides secrets."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeAlias

from foldline.errors import StoreError
from foldline.stores.protocol import Change, SessionHead, SessionInfo, Store, StoredSession


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


Redact: TypeAlias = Callable[[Any], Any]
"""Returns a JSON value without what must not be kept; it must not change the one it is given."""


class RedactingStore(WrappedStore):
    """
    Another store, in which no secret is written; see `foldline.stores.protocol.Store`.

    A message keeps the id that its whole content gave it, so that a client that sends its history
    again goes on with its session. A session that is opened again shows what was kept: the
    redacted text.

    Args:
        store: Where sessions are kept.
        redact: Called with the JSON value of every message, edit and receipt.
    """

    def __init__(self, store: Store, redact: Redact) -> None:
        super().__init__(store)
        self._redact = redact

    def commit(self, name: str, generation: int, change: Change) -> int:
        """
        Record a change without its secrets.

        Raises:
            StoreError: The hook failed, or the store; nothing was recorded.
        """
        try:
            clean = change.map(self._redact)
        except Exception as error:  # noqa: BLE001  # a hook is code of the caller
            raise StoreError(
                f"The redaction hook failed: {type(error).__name__}; nothing was recorded.",
                hint="Mend the hook; what it failed on is not shown, as it may be secret.",
            ) from None
        return self._store.commit(name, generation, clean)
