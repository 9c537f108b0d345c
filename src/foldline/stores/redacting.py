"""A store that takes secrets out of what is kept, before anything of it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from foldline.errors import StoreError
from foldline.stores.protocol import Change, Store
from foldline.stores.wrapped import WrappedStore

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
