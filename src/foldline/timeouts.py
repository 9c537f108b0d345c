"""Running what others wrote no longer than it may take: in a thread that can be left behind."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from typing import TypeVar

Result = TypeVar("Result")


class DeadlineExceeded(Exception):
    """A call took longer than it may."""


def start_thread(call: Callable[[], Result], name: str) -> Future[Result]:
    """
    Begin a call in a thread of its own, which does not keep the program from ending.

    Args:
        call: What to run; it sees the context variables of the caller.
        name: Of the thread.
    """
    future: Future[Result] = Future()
    # Who awaits it may be cancelled; the call itself cannot be, and ends in its own time.
    future.set_running_or_notify_cancel()
    context = copy_context()
    worker = threading.Thread(
        target=lambda: context.run(_settle, future, call), name=name, daemon=True
    )
    worker.start()
    return future


def run_with_timeout(call: Callable[[], Result], seconds: float, name: str) -> Result:
    """
    Return what a call returns, or raise what it raises.

    Args:
        call: What to run.
        seconds: What it may take; after that it is left behind in its thread.
        name: Of the thread.

    Raises:
        Late: It took longer.
    """
    future = start_thread(call, name)
    wait([future], timeout=seconds)
    if not future.done():
        raise DeadlineExceeded
    return future.result()


def _settle(future: Future[Result], call: Callable[[], Result]) -> None:
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001  # to be raised where the result is awaited
        future.set_exception(error)
