"""Ports: what the inside asks of the outside. A store keeps sessions; it never interprets them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Protocol, Self, TypeAlias, runtime_checkable

from foldline.frozen import field, frozen, replace
from foldline.values.messages import Role, Usage

Map: TypeAlias = Callable[[Any], Any]
"""Makes another value of a content, or of an id: encrypts it, redacts it, packs it."""

FOUND_AT_MOST: Final = 100
"""So many messages are found by the beginning of their id."""


@frozen
class SessionHead:
    """
    What a session is, fixed when it is first opened.

    ``dialect`` is empty until the first message tells it. ``window`` is in tokens, ``created`` in
    seconds since 1970.
    """

    name: str
    dialect: str = ""
    model: str = ""
    window: int | None = None
    created: float = 0.0


@frozen
class StoredMessage:
    """
    A message as it is kept.

    ``wire`` is the original as a JSON value. ``form`` is the decoded message as a JSON value where
    decoding ``wire`` alone would not give it, else None. ``time`` is when it was recorded, in
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
        """Return the message with other contents and another id."""
        form = None if self.form is None else content(self.form)
        return replace(self, id=name(self.id), wire=content(self.wire), form=form)


@frozen
class StoredMemory:
    """
    What the next compaction of a session will show, prepared in the background.

    ``until`` is the id of the last message that it covers, ``digest`` the fingerprint of all that
    was shown up to there. ``at`` is how many messages the log had, ``generation`` the one of the
    session, ``time`` the moment in seconds since 1970. ``content`` holds the edits, and what a
    receipt says about them, as a JSON value.
    """

    until: str
    digest: str
    at: int
    generation: int
    time: float
    content: Any = field(repr=False)

    def map(self, content: Map, name: Map = str) -> Self:
        """Return it with another content and other ids."""
        until, digest = name(self.until), name(self.digest)
        return replace(self, until=until, digest=digest, content=content(self.content))


@frozen
class StoredBatch:
    """
    The edits of one compaction, with its receipt, both as JSON values.

    ``number`` counts the batches of a session from 0, ``at`` is how many messages the log had.
    ``undone_at`` is how many it had when the batch was taken back, None while it is in effect.
    ``memory`` is what had been prepared and now stands before ``edits``. ``repeats`` counts the
    attempts in a row that this one stands for; ``at`` and ``time`` are then of the last.
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
        """Return the batch with other contents and ids."""
        memory = None if self.memory is None else self.memory.map(content, name)
        edits, receipt = content(self.edits), content(self.receipt)
        return replace(self, edits=edits, receipt=receipt, memory=memory)


@frozen
class StoredCheckpoint:
    """
    What a session showed right after a compaction, so that opening it need not repeat them all.

    ``number`` is that of the batch, ``at`` how many messages the log had. ``content`` is a JSON
    value that the session reads. It holds as long as the batch is in effect.
    """

    number: int
    at: int
    content: Any = field(repr=False)

    def map(self, content: Map) -> Self:
        """Return the checkpoint with another content."""
        return replace(self, content=content(self.content))


@frozen
class StoredSession:
    """
    Everything that is kept of a session; ``generation`` counts the changes made to it.

    ``ids`` are those of ``messages``. They and the batches may be read only when they are used
    for, as long as the store is open: what was recorded stays. ``memory`` is what is prepared for
    its next compaction, None when nothing is; ``checkpoint`` the newest that holds. ``number`` is
    never that of another session, even of one that gets the name of a deleted one.
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
    One step of a session, recorded whole or not at all.

    ``messages`` are appended at position ``at`` and following, then ``batches`` are added.
    ``undone`` is the number of a batch that is taken back when the log has ``at`` messages,
    ``again`` that of an attempt which was made once more. ``pinned`` is the id of a message that
    is pinned, ``dialect`` the dialect once it is known. ``memory`` takes the place of what was
    prepared before; ``forgets`` says that it no longer holds. ``checkpoint`` is what is shown
    after the newest batch. ``time`` is when it happened, in seconds since 1970, where no message
    or batch says so. ``session`` is the number of the session that it was made for, None for
    whichever has the name.
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
        """Return the change with other contents and ids."""
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
    A session in a list.

    ``size`` is what its messages take in the store, in bytes; what sessions share is counted for
    each. ``updated`` is in seconds since 1970, ``batches`` counts the compactions in effect.
    """

    head: SessionHead
    updated: float
    messages: int
    batches: int
    size: int


@runtime_checkable
class FindableIds(Protocol):
    """Ids of messages that are looked up in the store, without reading all of them."""

    def find(self, number: str) -> int | None:
        """Return the position of the message with an id, None where there is none."""
        ...


@runtime_checkable
class SparseIds(Protocol):
    """Ids of messages some of which may be missing from the store."""

    def next_kept(self, start: int) -> int:
        """Return the first position from one on that is kept; the size where none is."""
        ...


class Store(Protocol):
    """
    Keeps sessions: logs of messages and the batches of edits made on them.

    A store may be called from any thread. Every method raises StoreError, with what to do, when
    the store is missing, locked, damaged or written by a newer version.
    """

    def begin(self, head: SessionHead) -> StoredSession:
        """Return the session with the name of ``head``; create it when there is none."""
        ...

    def load(self, name: str) -> StoredSession | None:
        """Return a session, or None when there is none of this name."""
        ...

    def commit(self, name: str, generation: int, change: Change) -> int:
        """
        Record a change durably.

        Args:
            name: The session.
            generation: The generation that the change was made for.
            change: What happened.

        Returns:
            The new generation.

        Raises:
            StoreError: Somebody else changed or deleted the session since; nothing was recorded.
        """
        ...

    def sessions(self) -> tuple[SessionInfo, ...]:
        """List the sessions, the one that was changed last first."""
        ...

    def names(self) -> tuple[str, ...]:
        """List the names of the sessions, the one that was changed last first."""
        ...

    def find(self, prefix: str) -> tuple[tuple[str, str], ...]:
        """
        Find messages by the beginning of their id, over all sessions.

        Returns:
            Pairs of session name and message id, newest sessions first, at most `FOUND_AT_MOST`.
        """
        ...

    def delete(self, names: Collection[str]) -> int:
        """
        Remove sessions for good, and every content that no other session holds.

        Names that are not there are passed over. A process that has such a session open gets a
        StoreError at the next change.

        Returns:
            How many sessions were removed.
        """
        ...

    def size(self) -> int:
        """Return what everything takes in the store, in bytes; deleting makes it less."""
        ...

    def close(self) -> None:
        """Close the store; closing twice is allowed."""
        ...
