"""Sessions in memory: for tests, and for sessions that end with their process."""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Final

from foldline.frozen import replace
from foldline.stores.blobs import pack
from foldline.stores.log import conflict_error, replaced_error
from foldline.stores.protocol import (
    FOUND_AT_MOST,
    Change,
    SessionHead,
    SessionInfo,
    StoredBatch,
    StoredCheckpoint,
    StoredMemory,
    StoredMessage,
    StoredSession,
)

_NUMBERS: Final = count(1)


@dataclass(slots=True)
class _Kept:
    head: SessionHead
    generation: int = 0
    updated: float = 0.0
    size: int = 0
    messages: list[StoredMessage] = field(default_factory=list)
    batches: list[StoredBatch] = field(default_factory=list)
    memory: StoredMemory | None = None
    checkpoints: list[StoredCheckpoint] = field(default_factory=list)
    number: int = field(default_factory=lambda: next(_NUMBERS))


class MemoryStore:
    """A store that ends with its process; see `foldline.stores.protocol.Store`."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}
        self._lock = threading.Lock()

    def begin(self, head: SessionHead) -> StoredSession:
        """Return the session with the name of ``head``; create it if there is none."""
        with self._lock:
            return _snapshot(self._kept.setdefault(head.name, _Kept(head, updated=head.created)))

    def load(self, name: str) -> StoredSession | None:
        """Return a session, or None if there is none with this name."""
        with self._lock:
            kept = self._kept.get(name)
            return None if kept is None else _snapshot(kept)

    def commit(self, name: str, generation: int, change: Change) -> int:
        """Record a change; see `foldline.stores.protocol.Store.commit`."""
        size = sum(len(pack(message.wire)) for message in change.messages)
        with self._lock:
            kept = self._kept.get(name)
            if kept is None or change.session not in (None, kept.number):
                raise replaced_error(name)
            if kept.generation != generation:
                raise conflict_error(name)
            kept.messages += change.messages
            kept.batches += change.batches
            if change.checkpoint is not None:
                kept.checkpoints.append(change.checkpoint)
            _mark(kept, change)
            kept.size += size
            kept.generation += 1
            times = [m.time for m in change.messages] + [b.time for b in change.batches]
            kept.updated = max([kept.updated, change.time, *times])
            return kept.generation

    def sessions(self) -> tuple[SessionInfo, ...]:
        """Return the sessions, most recently changed first."""
        with self._lock:
            return tuple(
                SessionInfo(kept.head, kept.updated, len(kept.messages), _active(kept), kept.size)
                for kept in self._newest()
            )

    def names(self) -> tuple[str, ...]:
        """Return the names of the sessions, most recently changed first."""
        with self._lock:
            return tuple(kept.head.name for kept in self._newest())

    def find(self, prefix: str) -> tuple[tuple[str, str], ...]:
        """Find messages by the prefix of their id, newest sessions first, at most 100."""
        with self._lock:
            found = (
                (kept.head.name, message.id)
                for kept in self._newest()
                for message in kept.messages
                if message.id.startswith(prefix)
            )
            return tuple(islice(found, FOUND_AT_MOST))

    def delete(self, names: Collection[str]) -> int:
        """Delete sessions, and return how many existed."""
        with self._lock:
            return sum(self._kept.pop(name, None) is not None for name in dict.fromkeys(names))

    def size(self) -> int:
        """Return the size of the messages, in bytes."""
        with self._lock:
            return sum(kept.size for kept in self._kept.values())

    def close(self) -> None:
        """Do nothing: the content lives as long as the store object."""

    def _newest(self) -> list[_Kept]:
        """Return the stored sessions, most recently changed first."""
        return sorted(self._kept.values(), key=lambda kept: kept.updated)[::-1]


def _snapshot(kept: _Kept) -> StoredSession:
    messages, batches = tuple(kept.messages), tuple(kept.batches)
    return StoredSession(
        head=kept.head,
        generation=kept.generation,
        ids=tuple(message.id for message in messages),
        messages=messages,
        batches=batches,
        memory=kept.memory,
        checkpoint=_checkpoint(kept),
        number=kept.number,
    )


def _checkpoint(kept: _Kept) -> StoredCheckpoint | None:
    """Return the newest valid checkpoint; older invalid ones never become valid again."""
    while kept.checkpoints and kept.batches[kept.checkpoints[-1].number].undone_at is not None:
        kept.checkpoints.pop()
    return kept.checkpoints[-1] if kept.checkpoints else None


def _active(kept: _Kept) -> int:
    return sum(b.kind == "compaction" and b.undone_at is None for b in kept.batches)


def _mark(kept: _Kept, change: Change) -> None:
    if change.undone is not None:
        batch = kept.batches[change.undone]
        kept.batches[change.undone] = replace(batch, undone_at=change.at)
    if change.again is not None:
        batch = kept.batches[change.again]
        kept.batches[change.again] = replace(
            batch, at=change.at, time=change.time, repeats=batch.repeats + 1
        )
    if change.memory is not None or change.forgets or any(b.memory for b in change.batches):
        kept.memory = change.memory
    if change.pinned:
        kept.messages = [
            replace(m, pinned=True) if m.id == change.pinned else m for m in kept.messages
        ]
    if change.dialect:
        kept.head = replace(kept.head, dialect=change.dialect)
