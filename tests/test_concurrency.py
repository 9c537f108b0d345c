from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from foldline.concurrency import (
    DeadlineExceeded,
    awaited,
    iterate_blocking,
    run_blocking,
    run_with_timeout,
)
from foldline.errors import FoldlineError

VALUE: ContextVar[int] = ContextVar("value", default=0)


def test_a_call_has_the_context_of_its_caller_and_returns_its_result() -> None:
    VALUE.set(7)
    assert run_with_timeout(VALUE.get, 10, "test") == 7


@pytest.mark.parametrize("error", [ValueError, TimeoutError, KeyboardInterrupt])
def test_an_exception_of_a_call_propagates(error: type[BaseException]) -> None:
    def fail() -> None:
        raise error("x")

    with pytest.raises(error, match="x"):
        run_with_timeout(fail, 10, "test")


def test_a_call_that_exceeds_its_timeout_is_abandoned() -> None:
    gate, ended = threading.Event(), threading.Event()

    def wait() -> None:
        gate.wait(20)
        ended.set()

    with pytest.raises(DeadlineExceeded):
        run_with_timeout(wait, 0.01, "test")
    assert not ended.is_set()
    gate.set()
    assert ended.wait(10)


def test_a_coroutine_runs_beside_a_running_loop():
    async def outer() -> int:
        return run_blocking(inner())

    async def inner() -> int:
        await asyncio.sleep(0)
        return 3

    assert asyncio.run(outer()) == 3
    assert run_blocking(inner()) == 3


def test_a_blocking_call_that_would_deadlock_is_an_error():
    async def outer() -> int:
        return run_blocking(inner())

    async def inner() -> int:
        return 3

    with pytest.raises(FoldlineError, match="such as arun"):
        run_blocking(outer())
    assert run_blocking(inner()) == 3


def test_an_exception_propagates_to_the_caller():
    async def fails() -> None:
        raise LookupError("x")

    with pytest.raises(LookupError):
        run_blocking(fails())


def test_an_interruption_cancels_the_work(monkeypatch):
    begun, taken_back = threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            taken_back.set()

    class Interrupted:
        """A future that waits until Ctrl-C."""

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
        run_blocking(work())
    assert taken_back.is_set()


def test_leaving_an_iteration_closes_the_iterator():
    closed = threading.Event()

    async def numbers():
        try:
            for number in range(9):
                yield number
        finally:
            closed.set()

    found = iterate_blocking(numbers())
    assert [next(found), next(found)] == [0, 1]
    found.close()
    assert closed.is_set()
    assert list(iterate_blocking(numbers())) == list(range(9))


def test_an_async_method_runs_a_subclass_override_in_a_thread():
    class Adder:
        def add(self, one: int, *, other: int = 1) -> tuple[int, str]:
            return one + other, threading.current_thread().name

        aadd = awaited(add)

    class Doubler(Adder):
        def add(self, one, *, other=1):
            number, thread = super().add(one, other=other)
            return 2 * number, thread

    number, thread = asyncio.run(Doubler().aadd(2, other=3))
    assert number == 10
    assert thread != threading.current_thread().name
    assert "add" in (Adder.aadd.__doc__ or "")


def test_an_async_method_has_its_own_name() -> None:
    class Adder:
        def add(self) -> None: ...

        aadd = awaited(add)

    assert Adder.aadd.__name__ == "aadd"
    assert Adder.aadd.__qualname__ == Adder.add.__qualname__[: -len("add")] + "aadd"
    assert awaited(len).__qualname__ == "alen"
