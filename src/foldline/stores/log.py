"""What the archive has of a session, in order, read when it is asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import ClassVar, Final, Protocol, TypeAlias, TypeVar, overload, runtime_checkable

from foldline.errors import StoreError
from foldline.sql import Connection
from foldline.stores import rows
from foldline.stores.blobs import damage_error
from foldline.stores.protocol import StoredBatch, StoredMessage

PAGE: Final = 500
"""So many messages are read at once, so that a long log does not fill the memory."""

Reading: TypeAlias = Callable[[], AbstractContextManager[Connection]]
"""Looks at one moment of the file."""

Row = TypeVar("Row")


def replaced_error(name: str) -> StoreError:
    """Say that a session is not the one that was opened, or is gone."""
    return StoreError(
        f"The session {name!r} was deleted or replaced since it was opened here; nothing was "
        "recorded.",
        hint="Open it again to go on with what has its name now.",
    )


def overtaken(name: str) -> StoreError:
    """Say that somebody else has changed a session since it was opened."""
    return StoreError(
        f"The session {name!r} was changed by somebody else since it was opened here; nothing was "
        "recorded.",
        hint="Open it again to go on from its newest state, and let one process at a time write "
        "to a session.",
    )


@runtime_checkable
class SparseIds(Protocol):
    """Ids of messages some of which may be missing from the store."""

    def next_kept(self, start: int) -> int:
        """Return the first position from one on that is kept; the size where none is."""
        ...


def next_kept(ids: Sequence[str], start: int) -> int:
    """Return the first position from one on at which an id is kept, damaged or not."""
    return ids.next_kept(start) if isinstance(ids, SparseIds) else start


class StoredRows(Sequence[Row]):
    """
    The first rows of a session. What was recorded stays, so it may be read later.

    Args:
        reading: How to look into the archive.
        session: The number of the session.
        size: How many.
    """

    page: ClassVar[int] = PAGE
    what: ClassVar[str] = "messages"

    def __init__(self, reading: Reading, session: int, size: int) -> None:
        self._reading = reading
        self._session = session
        self._size = size

    @abstractmethod
    def _select(self, connection: Connection, start: int, stop: int) -> Iterable[Row]:
        """Yield the rows from ``start`` to before ``stop``, in order."""

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._size)
            if step != 1:
                return [self[position] for position in range(start, stop, step)]
            return self._read(start, stop)
        position = range(self._size)[index]
        return self._read(position, position + 1)[0]

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, self._size, self.page):
            yield from self._read(start, min(start + self.page, self._size))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # like any sequence that is compared by content

    def _read(self, start: int, stop: int) -> list[Row]:
        if start >= stop:
            return []
        with self._reading() as connection:
            found = list(self._select(connection, start, stop))
            is_there = rows.is_there(connection, self._session)
        if not is_there:
            raise StoreError(
                "This session was deleted from the archive while it was open.",
                hint="Open it again; it begins anew.",
            )
        if len(found) != stop - start:
            raise damage_error(
                f"{len(found):,} of the {stop - start:,} {self.what} from {start:,} on"
            )
        return found


class StoredLog(StoredRows[StoredMessage]):
    """The first messages of a session."""

    def _select(self, connection: Connection, start: int, stop: int) -> Iterable[StoredMessage]:
        return rows.messages(connection, self._session, start, stop)


class StoredIds(StoredRows[str]):
    """The ids of the first messages of a session."""

    page: ClassVar[int] = 20_000

    def _select(self, connection: Connection, start: int, stop: int) -> Iterable[str]:
        return rows.message_ids(connection, self._session, start, stop)

    def find(self, number: str) -> int | None:
        """Return the position of the message with an id, None where there is none."""
        with self._reading() as connection:
            return rows.position(connection, self._session, number, self._size)

    def next_kept(self, start: int) -> int:
        """Return the first position from one on that is kept; the size where none is."""
        with self._reading() as connection:
            return rows.next_position(connection, self._session, start, self._size)


class StoredBatches(StoredRows[StoredBatch]):
    """The first batches of a session."""

    page: ClassVar[int] = 16
    what: ClassVar[str] = "compactions"

    def _select(self, connection: Connection, start: int, stop: int) -> Iterable[StoredBatch]:
        return rows.batches(connection, self._session, start, stop)
