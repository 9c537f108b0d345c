"""A follower for every conversation, as many as were in use last."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Final

from foldline.errors import BudgetError, StoreError
from foldline.integrations.following import Follower
from foldline.session import Session

MOST: Final = 64
"""Conversations that are kept at hand."""


@dataclass(slots=True)
class _Seat:
    follower: Follower
    options: dict[str, Any]
    users: int = 0


class Followers:
    """
    Keeps one follower for every conversation.

    Beyond ``most`` the one that was not in use for the longest time is let go. Where there is an
    archive, it is taken up again from there; otherwise from the history that the framework keeps.

    Args:
        path: The archive, a SQLite file; None keeps everything in memory.
        most: How many conversations are kept at hand.
        **options: Of `Follower`, for all of them.

    Raises:
        BudgetError: ``most`` is not positive.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, most: int = MOST, **options: Any
    ) -> None:
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise BudgetError(f"At least one conversation must be kept at hand, not {most!r}.")
        self._path = path
        self._most = most
        self._options = options
        self._lock = threading.Lock()
        self._seats: OrderedDict[str, _Seat] = OrderedDict()

    @contextmanager
    def following(self, name: str, **options: Any) -> Iterator[Follower]:
        """
        Return the follower of a conversation; it is not let go before the block ends.

        Args:
            name: Of the conversation.
            **options: Of `Follower`; with other ones than before it is opened anew, without any
                it stays as it is.
        """
        seat = self._take(name, options)
        try:
            yield seat.follower
        finally:
            self._give_back(seat)

    @asynccontextmanager
    async def afollowing(self, name: str, **options: Any) -> AsyncIterator[Follower]:
        """Return the follower of a conversation in async programs; see `following`."""
        taking = asyncio.ensure_future(asyncio.to_thread(self._take, name, options))
        try:
            seat = await asyncio.shield(taking)
        except asyncio.CancelledError:
            # It is opened all the same; nobody would give it back.
            taking.add_done_callback(self._abandon)
            raise
        try:
            yield seat.follower
        finally:
            self._give_back(seat)

    def session(self, name: str) -> Session:
        """
        Return the session of a conversation that is at hand.

        Raises:
            StoreError: It is not.
        """
        with self._lock:
            seat = self._seats.get(name)
        if seat is None:
            raise StoreError(
                f"The conversation {name!r} is not at hand.",
                hint="Run it first, or open its session from the archive.",
            )
        return seat.follower.session

    def close(self) -> None:
        """Let go of all of them."""
        with self._lock:
            while self._seats:
                self._seats.popitem()[1].follower.close()

    def _take(self, name: str, options: dict[str, Any]) -> _Seat:
        with self._lock:
            seat = self._seats.get(name)
            if seat is not None and options and seat.options != options and not seat.users:
                self._seats.pop(name).follower.close()
                seat = None
            if seat is None:
                follower = Follower(self._path, name, **(self._options | options))
                seat = self._seats[name] = _Seat(follower, options)
            self._seats.move_to_end(name)
            seat.users += 1
            self._let_go()
            return seat

    def _let_go(self) -> None:
        idle = [name for name, seat in self._seats.items() if not seat.users]
        for name in idle[: max(0, len(self._seats) - self._most)]:
            self._seats.pop(name).follower.close()

    def _abandon(self, taking: asyncio.Future[_Seat]) -> None:
        if not taking.cancelled() and taking.exception() is None:
            self._give_back(taking.result())

    def _give_back(self, seat: _Seat) -> None:
        with self._lock:
            seat.users -= 1
