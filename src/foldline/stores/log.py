"""The messages of a session as the archive has them, read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Final, TypeAlias, overload

from foldline.errors import StoreError
from foldline.sql import Connection
from foldline.stores import rows
from foldline.stores.blobs import damaged
from foldline.stores.protocol import StoredMessage

PAGE: Final = 500
"""So many messages are read at once, so that a long log does not fill the memory."""

Reading: TypeAlias = Callable[[], AbstractContextManager[Connection]]
"""Looks at one moment of the file."""


class StoredIds(Sequence[str]):
    """
    The ids of the first messages of a session, read when the first one is asked for.

    Args:
        reading: How to look into the archive.
        session: The number of the session.
        size: How many.
    """

    def __init__(self, reading: Reading, session: int, size: int) -> None:
        self._reading = reading
        self._session = session
        self._size = size

    @cached_property
    def _known(self) -> list[str]:
        with self._reading() as connection:
            known = rows.message_ids(connection, self._session, self._size)
        if len(known) != self._size:
            raise damaged(f"{len(known):,} of {self._size:,} messages")
        return known

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._known[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)


class StoredLog(Sequence[StoredMessage]):
    """
    The first messages of a session. What was recorded never changes, so it may be read later.

    Args:
        reading: How to look into the archive.
        session: The number of the session.
        size: How many.
    """

    def __init__(self, reading: Reading, session: int, size: int) -> None:
        self._reading = reading
        self._session = session
        self._size = size

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> StoredMessage: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[StoredMessage]: ...
    def __getitem__(self, index: int | slice) -> StoredMessage | Sequence[StoredMessage]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._size)
            if step != 1:
                return [self[position] for position in range(start, stop, step)]
            return self._read(start, stop)
        position = range(self._size)[index]
        return self._read(position, position + 1)[0]

    def __iter__(self) -> Iterator[StoredMessage]:
        for start in range(0, self._size, PAGE):
            yield from self._read(start, min(start + PAGE, self._size))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # like any sequence that is compared by content

    def _read(self, start: int, stop: int) -> list[StoredMessage]:
        if start >= stop:
            return []
        with self._reading() as connection:
            found = list(rows.messages(connection, self._session, start, stop))
            is_there = rows.is_there(connection, self._session)
        if not is_there:
            raise StoreError(
                "This session was deleted from the archive while it was open.",
                hint="Open it again; it begins anew.",
            )
        if len(found) != stop - start:
            raise damaged(f"{len(found):,} of the {stop - start:,} messages from {start:,} on")
        return found
