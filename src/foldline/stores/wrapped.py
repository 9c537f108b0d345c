"""Wrappers of a store: a delegating base class, and one that redacts secrets."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeAlias

from foldline.errors import StoreError
from foldline.stores.protocol import Change, SessionHead, SessionInfo, Store, StoredSession


class WrappedStore:
    """
    Delegates every method of `foldline.stores.protocol.Store` but ``commit`` to another store.

    Args:
        store: The underlying store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def begin(self, head: SessionHead) -> StoredSession:
        """Return the session with the name of ``head``; create it if there is none."""
        return self._store.begin(head)

    def load(self, name: str) -> StoredSession | None:
        """Return a session, or None if there is none with this name."""
        return self._store.load(name)

    def sessions(self) -> tuple[SessionInfo, ...]:
        """Return the sessions, most recently changed first."""
        return self._store.sessions()

    def names(self) -> tuple[str, ...]:
        """Return the names of the sessions, most recently changed first."""
        return self._store.names()

    def find(self, prefix: str) -> tuple[tuple[str, str], ...]:
        """Find messages by the prefix of their id, newest sessions first, at most 100."""
        return self._store.find(prefix)

    def delete(self, names: Collection[str]) -> int:
        """Delete sessions permanently; return how many existed."""
        return self._store.delete(names)

    def size(self) -> int:
        """Return the total size of the store, in bytes."""
        return self._store.size()

    def close(self) -> None:
        """Close the store; closing twice is allowed."""
        self._store.close()


Redact: TypeAlias = Callable[[Any], Any]
"""Returns a JSON value without secrets; it must not modify its argument."""


class RedactingStore(WrappedStore):
    """
    A wrapper that stores no secrets; see `foldline.stores.protocol.Store`.

    A message keeps the id of its original content, so that a client that sends its history again
    continues its session. A reopened session has the stored, redacted text.

    Args:
        store: The underlying store.
        redact: Called with the JSON value of every message, edit and receipt.
    """

    def __init__(self, store: Store, redact: Redact) -> None:
        super().__init__(store)
        self._redact = redact

    def commit(self, name: str, generation: int, change: Change) -> int:
        """
        Record a change without its secrets.

        Raises:
            StoreError: The hook or the store failed; nothing was recorded.
        """
        try:
            clean = change.map(self._redact)
        except Exception as error:  # noqa: BLE001  # a hook is the caller's code
            raise StoreError(
                f"The redaction hook failed: {type(error).__name__}; nothing was recorded.",
                hint="Repair the hook; its input is not shown, as it may be secret.",
            ) from None
        return self._store.commit(name, generation, clean)
