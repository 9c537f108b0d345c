"""
Threads, timeouts and event loops: the one bridge between blocking and async code.

Foreign code cannot be stopped from outside. So a call that takes too long is abandoned in a daemon
thread, and a coroutine is cancelled. Requests are written once, with ``async``: a blocking program
runs them on one event loop, in its own thread that starts with the first of them. A deadline then
ends a request at any point, and so does Ctrl-C.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from foldline.errors import FoldlineError

Owner = TypeVar("Owner")
Given = ParamSpec("Given")
Result = TypeVar("Result")

CANCEL_SECONDS: Final = 0.2
"""Seconds that an interrupted program waits for its coroutine to be cancelled."""


class DeadlineExceeded(Exception):
    """A call exceeded its timeout."""


# --- calls in threads --------------------------------------------------------------------------


def start_thread(call: Callable[[], Result], name: str) -> Future[Result]:
    """
    Start a call in a daemon thread, which does not block program exit.

    Args:
        call: The call; it has the context variables of the caller.
        name: The name of the thread.
    """
    future: Future[Result] = Future()
    # The awaiting task may be cancelled; the call itself cannot be.
    future.set_running_or_notify_cancel()
    context = copy_context()

    def settle() -> None:
        try:
            future.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001  # re-raised when the result is awaited
            future.set_exception(error)

    threading.Thread(target=settle, name=name, daemon=True).start()
    return future


def run_with_timeout(call: Callable[[], Result], seconds: float, name: str) -> Result:
    """
    Run a call in a thread with a timeout; return its result, or raise its exception.

    Args:
        call: The call, run in its own thread.
        seconds: The timeout; after that the call is abandoned in its thread.
        name: The name of the thread.

    Raises:
        DeadlineExceeded: It took longer.
    """
    future = start_thread(call, name)
    wait([future], timeout=seconds)
    if not future.done():
        raise DeadlineExceeded
    return future.result()


def awaited(
    method: Callable[Concatenate[Owner, Given], Result],
) -> Callable[Concatenate[Owner, Given], Coroutine[Any, Any, Result]]:
    """Return an async method that runs a blocking one in a worker thread."""

    @wraps(method)
    async def twin(owner: Owner, /, *args: Given.args, **named: Given.kwargs) -> Result:
        call: Callable[..., Result] = getattr(owner, method.__name__)
        return await asyncio.to_thread(call, *args, **named)

    twin.__name__ = f"a{method.__name__}"
    outer, dot, _ = method.__qualname__.rpartition(".")
    twin.__qualname__ = f"{outer}{dot}{twin.__name__}"
    twin.__doc__ = f"Await `{method.__name__}`, run in a worker thread."
    return twin


# --- coroutines in blocking programs -----------------------------------------------------------

_guard = threading.Lock()
_running: tuple[int, asyncio.AbstractEventLoop] | None = None


def run_blocking(work: Coroutine[Any, Any, Result]) -> Result:
    """
    Run a coroutine to its end and return its result; an interruption cancels it.

    Raises:
        FoldlineError: This thread runs the loop that would have to run the coroutine.
    """
    loop, ended = _start_loop(), threading.Event()
    if running_loop() is loop:
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
            # Later work may need resources that this work still holds.
            ended.wait(CANCEL_SECONDS)
        raise


def iterate_blocking(work: AsyncIterator[Result]) -> Iterator[Result]:
    """Yield the items of an async iterator; closing this generator closes the iterator."""
    try:
        while True:
            try:
                item = run_blocking(_next(work))
            except StopAsyncIteration:
                return
            yield item
    finally:
        close = getattr(work, "aclose", None)
        if close is not None:
            run_blocking(close())


async def _next(work: AsyncIterator[Result]) -> Result:
    return await anext(work)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the running event loop of this thread, None if there is none."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def blocking_loop() -> asyncio.AbstractEventLoop | None:
    """Return the loop of `run_blocking`, None if it was never called in this process."""
    return _running[1] if _running is not None and _running[0] == os.getpid() else None


def _start_loop() -> asyncio.AbstractEventLoop:
    """Return the loop, started if necessary; a forked process has none of its parent's threads."""
    global _running  # one thread for the process, however many clients
    with _guard:
        if _running is None or _running[0] != os.getpid() or _running[1].is_closed():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="foldline-loop", daemon=True).start()
            _running = (os.getpid(), loop)
        return _running[1]
