from __future__ import annotations

import threading
from contextvars import ContextVar

import pytest

from foldline.timeouts import DeadlineExceeded, run_with_timeout

VALUE: ContextVar[int] = ContextVar("value", default=0)


def test_a_call_sees_the_context_of_its_caller_and_gives_its_result() -> None:
    VALUE.set(7)
    assert run_with_timeout(VALUE.get, 10, "test") == 7


@pytest.mark.parametrize("error", [ValueError, TimeoutError, KeyboardInterrupt])
def test_what_a_call_raises_is_raised(error: type[BaseException]) -> None:
    def fail() -> None:
        raise error("x")

    with pytest.raises(error, match="x"):
        run_with_timeout(fail, 10, "test")


def test_a_call_that_takes_longer_is_left_behind() -> None:
    gate, ended = threading.Event(), threading.Event()

    def wait() -> None:
        gate.wait(20)
        ended.set()

    with pytest.raises(DeadlineExceeded):
        run_with_timeout(wait, 0.01, "test")
    assert not ended.is_set()
    gate.set()
    assert ended.wait(10)
