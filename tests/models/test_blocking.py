from __future__ import annotations

import asyncio
import threading

import pytest

from foldline.errors import FoldlineError
from foldline.models.blocking import iterate, run


def test_a_coroutine_runs_beside_a_loop_that_is_already_there():
    async def outer() -> int:
        return run(inner())

    async def inner() -> int:
        await asyncio.sleep(0)
        return 3

    assert asyncio.run(outer()) == 3
    assert run(inner()) == 3


def test_a_blocking_call_that_would_wait_for_itself_is_an_error():
    async def outer() -> int:
        return run(inner())

    async def inner() -> int:
        return 3

    with pytest.raises(FoldlineError, match="such as arun"):
        run(outer())
    assert run(inner()) == 3


def test_an_exception_arrives_where_it_was_called():
    async def fails() -> None:
        raise LookupError("x")

    with pytest.raises(LookupError):
        run(fails())


def test_an_interruption_takes_the_work_back(monkeypatch):
    begun, taken_back = threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            taken_back.set()

    class Interrupted:
        """Waits like a future until Ctrl-C comes."""

        def __init__(self, future) -> None:
            self.future = future

        def result(self) -> None:
            assert begun.wait(5)
            raise KeyboardInterrupt

        def cancel(self) -> bool:
            return self.future.cancel()

    submit = asyncio.run_coroutine_threadsafe
    monkeypatch.setattr(
        asyncio, "run_coroutine_threadsafe", lambda *args: Interrupted(submit(*args))
    )
    with pytest.raises(KeyboardInterrupt):
        run(work())
    assert taken_back.is_set()


def test_leaving_an_iteration_closes_what_it_iterates():
    closed = threading.Event()

    async def numbers():
        try:
            for number in range(9):
                yield number
        finally:
            closed.set()

    found = iterate(numbers())
    assert [next(found), next(found)] == [0, 1]
    found.close()
    assert closed.is_set()
    assert list(iterate(numbers())) == list(range(9))
