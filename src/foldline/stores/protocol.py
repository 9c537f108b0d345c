"""The store port: a store keeps sessions, and never interprets them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Protocol, Self, TypeAlias, runtime_checkable

from foldline.frozen import field, frozen, replace
from foldline.values.messages import Role, Usage

Map: TypeAlias = Callable[[Any], Any]
"""Converts a content or an id: encrypts, redacts or packs it."""

FOUND_AT_MOST: Final = 100
"""Maximum number of messages found by the prefix of their id."""


@frozen
class SessionHead:
    """
    The identity of a session, fixed when it is first opened.

    ``dialect`` is empty until the first message defines it. ``window`` is in tokens, ``created``
    in seconds since 1970.
    """

    name: str
    dialect: str = ""
    model: str = ""
    window: int | None = None
    created: float = 0.0


@frozen
class StoredMessage:
    """
    A stored message.

    ``wire`` is the original as a JSON value. ``form`` is the decoded message as a JSON value if
    decoding ``wire`` alone would not give it, else None. ``time`` is the time of recording, in
    seconds since 1970.
    """

    id: str
    role: Role
    wire: Any = field(repr=False)
    form: Any = field(default=None, repr=False)
    time: float = 0.0
    pinned: bool = False
    usage: Usage | None = None

    def map(self, content: Map, name: Map = str) -> Self:
        """Return the message with converted contents and id."""
        form = None if self.form is None else content(self.form)
        return replace(self, id=name(self.id), wire=content(self.wire), form=form)


@frozen
class StoredMemory:
    """
    The next compaction of a session, prepared in the background.

    ``until`` is the id of the last covered message, ``digest`` the fingerprint of the view up to
    there. ``at`` is the length of the log, ``generation`` that of the session, ``time`` the moment
    in seconds since 1970. ``content`` holds the edits, and the data of their receipt, as a JSON
    value.
    """

    until: str
    digest: str
    at: int
    generation: int
    time: float
    content: Any = field(repr=False)

    def map(self, content: Map, name: Map = str) -> Self:
        """Return it with converted content and ids."""
        until, digest = name(self.until), name(self.digest)
        return replace(self, until=until, digest=digest, content=content(self.content))


@frozen
class StoredBatch:
    """
    The edits of one compaction, with its receipt, both as JSON values.

    ``number`` counts the batches of a session from 0, ``at`` is the length of the log.
    ``undone_at`` is its length when the batch was undone, None while it is in effect. ``memory``
    are prepared edits that precede ``edits``. ``repeats`` counts the consecutive attempts in this
    batch; ``at`` and ``time`` are those of the last.
    """

    number: int
    at: int
    kind: str
    edits: Any = field(repr=False)
    receipt: Any = field(repr=False)
    time: float = 0.0
    undone_at: int | None = None
    memory: StoredMemory | None = None
    repeats: int = 1

    def map(self, content: Map, name: Map = str) -> Self:
        """Return the batch with converted contents and ids."""
        memory = None if self.memory is None else self.memory.map(content, name)
        edits, receipt = content(self.edits), content(self.receipt)
        return replace(self, edits=edits, receipt=receipt, memory=memory)


@frozen
class StoredCheckpoint:
    """
    The view right after a compaction, so that opening a session need not replay all compactions.

    ``number`` is that of the batch, ``at`` the length of the log. ``content`` is a JSON value that
    the session reads. It is valid while the batch is in effect.
    """

    number: int
    at: int
    content: Any = field(repr=False)

    def map(self, content: Map) -> Self:
        """Return the checkpoint with converted content."""
        return replace(self, content=content(self.content))


@frozen
class StoredSession:
    """
    The stored content of a session; ``generation`` counts its changes.

    ``ids`` are those of ``messages``. They and the batches may be read lazily while the store is
    open: recorded rows never change. ``memory`` is the prepared next compaction, None if there is
    none; ``checkpoint`` the newest valid one. ``number`` is never reused, even by a session with
    the name of a deleted one.
    """

    head: SessionHead
    generation: int
    ids: Sequence[str] = field(repr=False)
    messages: Sequence[StoredMessage] = field(repr=False)
    batches: Sequence[StoredBatch] = field(repr=False)
    memory: StoredMemory | None = None
    checkpoint: StoredCheckpoint | None = None
    number: int | None = None


@frozen
class Change:
    """
    One atomic change of a session.

    ``messages`` are appended from position ``at`` on, then ``batches`` are added. ``undone`` is
    the number of a batch undone when the log has ``at`` messages, ``again`` that of a repeated
    attempt. ``pinned`` is the id of a pinned message, ``dialect`` the dialect once it is known.
    ``memory`` replaces the prepared compaction; ``forgets`` discards it. ``checkpoint`` is the
    view after the newest batch. ``time`` is the time of the change, in seconds since 1970, if no
    message or batch has it. ``session`` is the number of the session that the change is for, None
    for any session with the name.
    """

    at: int
    messages: tuple[StoredMessage, ...] = ()
    batches: tuple[StoredBatch, ...] = ()
    undone: int | None = None
    pinned: str = ""
    dialect: str = ""
    again: int | None = None
    memory: StoredMemory | None = None
    forgets: bool = False
    time: float = 0.0
    checkpoint: StoredCheckpoint | None = None
    session: int | None = None

    def map(self, content: Map, name: Map = str) -> Self:
        """Return the change with converted contents and ids."""
        return replace(
            self,
            messages=tuple(one.map(content, name) for one in self.messages),
            batches=tuple(one.map(content, name) for one in self.batches),
            pinned=name(self.pinned),
            memory=None if self.memory is None else self.memory.map(content, name),
            checkpoint=None if self.checkpoint is None else self.checkpoint.map(content),
        )


@frozen
class SessionInfo:
    """
    Summary data of a session.

    ``size`` is the stored size of its messages, in bytes; shared content is counted for each
    session. ``updated`` is in seconds since 1970, ``batches`` counts the compactions in effect.
    """

    head: SessionHead
    updated: float
    messages: int
    batches: int
    size: int


@runtime_checkable
class FindableIds(Protocol):
    """Message ids that are looked up in the store, without reading all of them."""

    def find(self, number: str) -> int | None:
        """Return the position of the message with an id, None if there is none."""
        ...


@runtime_checkable
class SparseIds(Protocol):
    """Message ids, some of which may be missing from the store."""

    def next_kept(self, start: int) -> int:
        """Return the first stored position from ``start`` on; the size if there is none."""
        ...


class Store(Protocol):
    """
    Keeps sessions: logs of messages and the batches of edits made on them.

    A store may be called from any thread. Every method raises StoreError, with a hint, if the
    store is missing, locked, damaged or written by a newer version.
    """

    def begin(self, head: SessionHead) -> StoredSession:
        """Return the session with the name of ``head``; create it if there is none."""
        ...

    def load(self, name: str) -> StoredSession | None:
        """Return a session, or None if there is none with this name."""
        ...

    def commit(self, name: str, generation: int, change: Change) -> int:
        """
        Record a change durably.

        Args:
            name: The name of the session.
            generation: The generation that the change is based on.
            change: The change.

        Returns:
            The new generation.

        Raises:
            StoreError: Another writer changed or deleted the session; nothing was recorded.
        """
        ...

    def sessions(self) -> tuple[SessionInfo, ...]:
        """Return the sessions, most recently changed first."""
        ...

    def names(self) -> tuple[str, ...]:
        """Return the names of the sessions, most recently changed first."""
        ...

    def find(self, prefix: str) -> tuple[tuple[str, str], ...]:
        """
        Find messages by the prefix of their id, over all sessions.

        Returns:
            Pairs of session name and message id, newest sessions first, at most `FOUND_AT_MOST`.
        """
        ...

    def delete(self, names: Collection[str]) -> int:
        """
        Delete sessions permanently, with every content that no other session holds.

        Unknown names are ignored. A process that has such a session open gets a StoreError at the
        next change.

        Returns:
            The number of deleted sessions.
        """
        ...

    def size(self) -> int:
        """Return the total size of the store, in bytes; deleting reduces it."""
        ...

    def close(self) -> None:
        """Close the store; closing twice is allowed."""
        ...
