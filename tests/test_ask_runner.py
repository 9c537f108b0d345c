from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest

from foldline.ask_runner import arun_ask, drive_in_threads, is_blocking, reader_of, run_ask
from foldline.core.asks import Ask, ModelLimits, Reply, Steps

ASK = Ask("question", 10, seconds=5.0)


class Client:
    reader = ModelLimits(9_000, name="client")

    def answer(self, ask: Ask) -> Reply:
        return Reply(f"called {ask.prompt}")

    async def aanswer(self, ask: Ask) -> Reply:
        return Reply(f"awaited {ask.prompt}")


async def later(ask: Ask) -> str:
    return ask.prompt


def called(model: Any, ask: Ask = ASK) -> Reply:
    return run_ask(model, ask)


def awaited(model: Any, ask: Ask = ASK) -> Reply:
    return asyncio.run(arun_ask(model, ask))


both = pytest.mark.parametrize("run", [called, awaited])
Run = Callable[..., Reply]


def test_models_and_functions_answer():
    assert called(Client()).text == "called question"
    assert awaited(Client()).text == "awaited question"
    assert called(lambda ask: ask.prompt).text == awaited(lambda ask: ask.prompt).text
    assert awaited(later).text == awaited(lambda ask: later(ask)).text == "question"


def test_async_models_answer_only_in_async_programs():
    for model in (later, lambda ask: later(ask)):
        reply = called(model)
        assert "acompact" in reply.error
        assert not reply.retry
    gc.collect()  # a coroutine that was never awaited would warn here
    assert is_blocking(Client())
    assert is_blocking(None)
    assert not is_blocking(later)


@both
def test_a_failure_is_an_error_of_the_reply(run: Run):
    def fail(_: Ask) -> str:
        raise ValueError("no")

    def stop(_: Ask) -> str:
        raise StopIteration

    assert run(None) == Reply(error="no summarizer is configured", retry=False, attempts=0)
    assert run(fail).error == "ValueError: no"
    assert "StopIteration" in run(stop).error
    assert "int instead of a Reply" in run(lambda _: 7).error


@both
def test_no_error_holds_a_key(run: Run):
    def fail(_: Ask) -> str:
        raise ValueError("refused: Bearer sk-abcdefghijklmnop")

    assert run(fail).error == "ValueError: refused: Bearer [redacted]"
    assert "abcdefgh" not in run(lambda _: Reply(error="sk-abcdefghijklmnop is bad")).error


@both
def test_an_answer_is_bounded_by_the_seconds_of_the_ask(run: Run):
    release = threading.Event()
    reply = run(lambda _: release.wait(30), Ask("q", 10, seconds=0.05))
    release.set()
    assert reply.error == "the model gave no answer in 0.05 seconds"
    assert reply.seconds >= 0.05


def test_an_async_answer_is_cancelled_at_its_timeout():
    ended = threading.Event()

    async def slow(_: Ask) -> str:
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()
        return ""

    assert "0.05 seconds" in awaited(slow, Ask("q", 10, seconds=0.05)).error
    assert ended.is_set()


@both
def test_a_timeout_of_the_model_itself_is_its_own_error(run: Run):
    def fail(_: Ask) -> str:
        raise TimeoutError("the socket is slow")

    assert run(fail).error == "TimeoutError: the socket is slow"


def test_a_reader_has_its_own_window_or_the_given_one():
    assert reader_of(None, 32_000) is None
    assert reader_of(Client(), 32_000) == Client.reader
    assert reader_of(lambda _: "x", 32_000) == ModelLimits(32_000)


async def ask_client(ask: Ask) -> Reply:
    return await arun_ask(Client(), ask)


def test_steps_run_in_another_thread():
    threads = []

    def steps() -> Steps[str]:
        threads.append(threading.current_thread())
        reply = yield ASK
        return reply.text

    assert asyncio.run(drive_in_threads(steps(), ask_client)) == "awaited question"
    assert threads[0] is not threading.main_thread()


def test_an_error_in_a_step_is_raised():
    def steps() -> Steps[str]:
        yield from ()
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        asyncio.run(drive_in_threads(steps(), ask_client))


def test_a_cancellation_waits_for_the_running_step_and_closes_the_steps():
    began, release, ended = threading.Event(), threading.Event(), []

    def steps() -> Steps[None]:
        try:
            began.set()
            release.wait(20)
            ended.append("step")
            yield ASK
        finally:
            ended.append("closed")

    async def work() -> None:
        task = asyncio.create_task(drive_in_threads(steps(), ask_client))
        await asyncio.to_thread(began.wait, 20)
        task.cancel()
        asyncio.get_running_loop().call_later(0.01, release.set)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    assert ended == ["step", "closed"]
