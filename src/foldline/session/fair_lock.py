"""Taking turns: a lock that threads and tasks share, in the order in which they came."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Self

from foldline.errors import FoldlineError


@dataclass(eq=False, slots=True)
class _Ticket:
    """
    A place in the queue; ``loop`` is the event loop in whose task it was drawn, if any.

    ``called`` is done when its turn has come, None where nobody was there before it.
    """

    loop: asyncio.AbstractEventLoop | None
    called: Future[None] | None = None


_held: ContextVar[tuple[_Ticket, ...]] = ContextVar("foldline_turns", default=())


class FairLock:
    """
    A lock to use with ``with`` in threads and ``async with`` in tasks.

    A thread waits by blocking, a task without blocking its loop. Who would wait for ever gets an
    error instead: whoever holds the turn and asks for it again, as a summarizer does that appends
    to the session it summarizes, and a blocking call in an event loop that the holder needs.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._holder: _Ticket | None = None
        self._queue: deque[tuple[_Ticket, Future[None]]] = deque()

    def _draw(self, *, blocking: bool) -> _Ticket:
        """Queue up; the ticket is called at once if nobody is there."""
        ticket = _Ticket(_running_loop())
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

    def _give_up(self, called: Future[None]) -> None:
        if not called.cancel():
            # It was called already when the wait was broken off.
            self._pass_on()

    def __enter__(self) -> Self:
        ticket = self._draw(blocking=True)
        if ticket.called is not None:
            try:
                ticket.called.result()
            except BaseException:
                self._give_up(ticket.called)
                raise
        _held.set((*_held.get(), ticket))
        return self

    async def __aenter__(self) -> Self:
        ticket = self._draw(blocking=False)
        if ticket.called is not None:
            try:
                await asyncio.wrap_future(ticket.called)
            except BaseException:
                self._give_up(ticket.called)
                raise
        _held.set((*_held.get(), ticket))
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


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
