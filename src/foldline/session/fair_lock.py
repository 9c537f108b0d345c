"""A fair lock that threads and tasks share: it is acquired in order of arrival."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Self

from foldline.concurrency import running_loop
from foldline.errors import FoldlineError


@dataclass(eq=False, slots=True)
class _Ticket:
    """
    A place in the queue; ``loop`` is the event loop of the waiting task, if any.

    ``called`` is done when the lock is acquired; None if it was free.
    """

    loop: asyncio.AbstractEventLoop | None
    called: Future[None] | None = None


_held: ContextVar[tuple[_Ticket, ...]] = ContextVar("foldline_turns", default=())


class FairLock:
    """
    A lock to use with ``with`` in threads and ``async with`` in tasks.

    A thread waits by blocking, a task without blocking its loop. Deadlocks raise an error
    instead: code that holds the lock and acquires it again, as a summarizer does that appends
    to the session it summarizes, and a blocking call in an event loop that the holder needs.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._holder: _Ticket | None = None
        self._queue: deque[tuple[_Ticket, Future[None]]] = deque()

    def _enqueue(self, *, blocking: bool) -> _Ticket:
        """Join the queue; the lock is acquired at once if it is free."""
        ticket = _Ticket(running_loop())
        with self._guard:
            if self._holder is None:
                self._holder = ticket
                return ticket
            if self._holder in _held.get():
                raise FoldlineError(
                    "A session was used from inside its own compaction.",
                    hint="A summarizer must only answer; use the session when it has returned.",
                )
            ahead = (self._holder, *(waiting for waiting, _ in self._queue))
            if blocking and ticket.loop and any(other.loop is ticket.loop for other in ahead):
                raise FoldlineError(
                    "A blocking method of a session was called while a task is using it.",
                    hint="In async programs use the methods that begin with an a, such as aview.",
                )
            ticket.called = Future()
            self._queue.append((ticket, ticket.called))
        return ticket

    def _hand_over(self) -> None:
        """Give the lock to the first ticket that still waits."""
        with self._guard:
            self._holder = None
            while self._queue:
                ticket, called = self._queue.popleft()
                if called.set_running_or_notify_cancel():
                    self._holder = ticket
                    called.set_result(None)
                    return

    @contextmanager
    def _entering(self, ticket: _Ticket) -> Iterator[Future[None] | None]:
        """Yield the future to wait for; then the lock is held, or the place in the queue freed."""
        try:
            yield ticket.called
        except BaseException:
            if ticket.called is not None and not ticket.called.cancel():
                # The lock was already acquired when the wait was cancelled.
                self._hand_over()
            raise
        _held.set((*_held.get(), ticket))

    def __enter__(self) -> Self:
        with self._entering(self._enqueue(blocking=True)) as called:
            if called is not None:
                called.result()
        return self

    async def __aenter__(self) -> Self:
        with self._entering(self._enqueue(blocking=False)) as called:
            if called is not None:
                await asyncio.wrap_future(called)
        return self

    def __exit__(self, *_: object) -> None:
        _held.set(_held.get()[:-1])
        self._hand_over()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()


def loop_of_holder() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of the task that holds the lock in this context, if any."""
    held = _held.get()
    return held[-1].loop if held else None
