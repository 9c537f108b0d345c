"""
Calling what awaits from a program that does not.

Requests are written once, with ``async``. A program that blocks has them run on one event loop,
in a thread of its own that starts with the first request: so a deadline ends a request wherever it
is, in the middle of a byte or of a pause before the next attempt, and so does Ctrl-C.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, Final, TypeVar

from foldline.errors import FoldlineError

Result = TypeVar("Result")

PATIENCE: Final = 0.2
"""Seconds that an interrupted program waits for its request to be taken back."""

_guard = threading.Lock()
_running: tuple[int, asyncio.AbstractEventLoop] | None = None


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """
    Run a coroutine to its end and return its result; an interruption cancels it.

    Raises:
        FoldlineError: The program awaits this call on the very loop that would have to run it.
    """
    loop, ended = _loop(), threading.Event()
    if _is_running_here(loop):
        work.close()
        raise FoldlineError(
            "A blocking method was called from a task that a blocking method runs.",
            hint="Await the method that begins with an a, such as arun.",
        )

    async def whole() -> Result:
        try:
            return await work
        finally:
            ended.set()

    future = asyncio.run_coroutine_threadsafe(whole(), loop)
    try:
        return future.result()
    except BaseException:
        if future.cancel():
            # What comes next may need what the work still holds.
            ended.wait(PATIENCE)
        raise


def _is_running_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def iterate(work: AsyncIterator[Result]) -> Iterator[Result]:
    """Yield what an async generator yields; leaving off closes it."""
    try:
        while True:
            try:
                item = run(_next(work))
            except StopAsyncIteration:
                return
            yield item
    finally:
        close = getattr(work, "aclose", None)
        if close is not None:
            run(close())


async def _next(work: AsyncIterator[Result]) -> Result:
    return await anext(work)


def started() -> asyncio.AbstractEventLoop | None:
    """Return the loop if it runs, None when nothing was asked of it yet."""
    return _running[1] if _running is not None and _running[0] == os.getpid() else None


def _loop() -> asyncio.AbstractEventLoop:
    """Return the loop, started if need be; a forked process has none of its parent's threads."""
    global _running  # one thread for the process, however many clients
    with _guard:
        if _running is None or _running[0] != os.getpid() or _running[1].is_closed():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="foldline-models", daemon=True).start()
            _running = (os.getpid(), loop)
        return _running[1]
