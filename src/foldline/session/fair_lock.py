"""Taking turns: a lock that threads and tasks share, in the order in which they came."""

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
    A place in the queue; ``loop`` is the event loop in whose task it was drawn, if any.

    ``called`` is done when it is next; None where no other waited before it.
    """

    loop: asyncio.AbstractEventLoop | None
    called: Future[None] | None = None


_held: ContextVar[tuple[_Ticket, ...]] = ContextVar("foldline_turns", default=())


class FairLock:
    """
    A lock to use with ``with`` in threads and ``async with`` in tasks.

    A thread waits by blocking, a task without blocking its loop. Who would wait for ever gets an
    error instead: code that holds the lock and takes it again, as a summarizer does that appends
    to the session it summarizes, and a blocking call in an event loop that the holder needs.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._holder: _Ticket | None = None
        self._queue: deque[tuple[_Ticket, Future[None]]] = deque()

    def _draw(self, *, blocking: bool) -> _Ticket:
        """Queue up; the ticket is called at once if the lock is free."""
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

    def _pass_on(self) -> None:
        """Call the first one who still waits."""
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
        """Give what is to be waited for; then the turn is held, or the place given up."""
        try:
            yield ticket.called
        except BaseException:
            if ticket.called is not None and not ticket.called.cancel():
                # It was called already when the wait was broken off.
                self._pass_on()
            raise
        _held.set((*_held.get(), ticket))

    def __enter__(self) -> Self:
        with self._entering(self._draw(blocking=True)) as called:
            if called is not None:
                called.result()
        return self

    async def __aenter__(self) -> Self:
        with self._entering(self._draw(blocking=False)) as called:
            if called is not None:
                await asyncio.wrap_future(called)
        return self

    def __exit__(self, *_: object) -> None:
        _held.set(_held.get()[:-1])
        self._pass_on()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()


def loop_of_turn() -> asyncio.AbstractEventLoop | None:
    """Return the event loop in whose task the turn was taken that is held here, if any."""
    held = _held.get()
    return held[-1].loop if held else None
