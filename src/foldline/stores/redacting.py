"""A store that takes secrets out of what is kept, before anything of it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from foldline.errors import StoreError
from foldline.stores.protocol import Change, Store, StoredCheckpoint, StoredMemory

Redact: TypeAlias = Callable[[Any], Any]
"""Returns a JSON value without what must not be kept; it must not change the one it is given."""


class RedactingStore:
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
        self._store = store
        self._redact = redact
        self.begin = store.begin
        self.load = store.load
        self.sessions = store.sessions
        self.names = store.names
        self.find = store.find
        self.delete = store.delete
        self.size = store.size
        self.close = store.close

    def commit(self, name: str, generation: int, change: Change) -> int:
        """
        Record a change without its secrets.

        Raises:
            StoreError: The hook failed, or the store; nothing was recorded.
        """
        try:
            clean = replace(
                change,
                messages=tuple(
                    replace(one, wire=self._redact(one.wire), form=self._redact(one.form))
                    for one in change.messages
                ),
                batches=tuple(
                    replace(
                        one,
                        edits=self._redact(one.edits),
                        receipt=self._redact(one.receipt),
                        memory=self._redact_memory(one.memory),
                    )
                    for one in change.batches
                ),
                memory=self._redact_memory(change.memory),
                checkpoint=self._redact_checkpoint(change.checkpoint),
            )
        except Exception as error:  # noqa: BLE001  # a hook is a stranger's code
            raise StoreError(
                f"The redaction hook failed: {type(error).__name__}; nothing was recorded.",
                hint="Mend the hook; what it failed on is not shown, as it may be secret.",
            ) from None
        return self._store.commit(name, generation, clean)

    def _redact_memory(self, memory: StoredMemory | None) -> StoredMemory | None:
        return None if memory is None else replace(memory, content=self._redact(memory.content))

    def _redact_checkpoint(self, checkpoint: StoredCheckpoint | None) -> StoredCheckpoint | None:
        if checkpoint is None:
            return None
        return replace(checkpoint, content=self._redact(checkpoint.content))
