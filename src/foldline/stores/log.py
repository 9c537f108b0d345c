"""The stored log of a session, in order, read on demand."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar, overload

from foldline.errors import StoreError
from foldline.sql import Connection
from foldline.stores import rows
from foldline.stores.blobs import damage_error
from foldline.stores.protocol import SparseIds

PAGE: Final = 500
"""Number of messages read at once, to bound the memory for a long log."""

IDS_PAGE: Final = 20_000
"""Number of message ids read at once."""

BATCHES_PAGE: Final = 16
"""Number of batches of edits read at once."""

Reading: TypeAlias = Callable[[], AbstractContextManager[Connection]]
"""Begins a read transaction."""

Row = TypeVar("Row")


def replaced_error(name: str) -> StoreError:
    """Return the error for a session that was replaced or deleted since it was opened."""
    return StoreError(
        f"The session {name!r} was deleted or replaced since it was opened here; nothing was "
        "recorded.",
        hint="Open it again to continue with the session that has its name now.",
    )


def conflict_error(name: str) -> StoreError:
    """Return the error for a session that another writer changed since it was opened."""
    return StoreError(
        f"The session {name!r} was changed by another writer since it was opened; nothing was "
        "recorded.",
        hint="Open it again to continue from its newest state, and let only one process at a time "
        "write to a session.",
    )


def next_kept(ids: Sequence[str], start: int) -> int:
    """Return the first position from ``start`` on with a stored id, damaged or not."""
    return ids.next_kept(start) if isinstance(ids, SparseIds) else start


class LazySequence(Sequence[Row]):
    """A sequence that is read on demand; it equals any sequence of the same items."""

    @abstractmethod
    def _read(self, start: int, stop: int) -> list[Row]:
        """Return the items from ``start`` to before ``stop``; both are valid."""

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        places = range(len(self))[index]
        if isinstance(places, int):
            return self._read(places, places + 1)[0]
        if places.step != 1:
            return [self[place] for place in places]
        return self._read(places.start, places.stop) if places else []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # compared by content


@dataclass(eq=False, repr=False)
class StoredRows(LazySequence[Row]):
    """
    The first rows of a session. Recorded rows never change, so they may be read later.

    Args:
        reading: Begins a read transaction on the archive.
        session: The number of the session.
        size: The number of rows.
        select: Yields the rows from one position to before another, in order.
        page: The number of rows read at once.
        what: Their name in errors.
    """

    reading: Reading
    session: int
    size: int
    select: Callable[[Connection, int, int, int], Iterable[Row]]
    page: int = PAGE
    what: str = "messages"

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, self.size, self.page):
            yield from self._read(start, min(start + self.page, self.size))

    def _read(self, start: int, stop: int) -> list[Row]:
        with self.reading() as connection:
            found = list(self.select(connection, self.session, start, stop))
            is_there = rows.is_there(connection, self.session)
        if not is_there:
            raise StoreError(
                "This session was deleted from the archive while it was open.",
                hint="Open it again; it starts empty.",
            )
        if len(found) != stop - start:
            raise damage_error(
                f"{len(found):,} of the {stop - start:,} {self.what} from {start:,} on"
            )
        return found


class StoredIds(StoredRows[str]):
    """The ids of the first messages of a session."""

    def find(self, number: str) -> int | None:
        """Return the position of the message with an id, None if there is none."""
        with self.reading() as connection:
            return rows.position(connection, self.session, number, self.size)

    def next_kept(self, start: int) -> int:
        """Return the first stored position from ``start`` on; the size if there is none."""
        with self.reading() as connection:
            return rows.next_position(connection, self.session, start, self.size)
