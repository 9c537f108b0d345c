from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from foldline.context.answering import answer, drive_beside, reader
from foldline.core.asks import Ask, ModelLimits, Reply, Steps

ASK = Ask("question", 10, seconds=5.0)


class Client:
    reader = ModelLimits(9_000, name="client")

    def answer(self, _: Ask) -> Reply:
        raise AssertionError("programs that await use aanswer")

    async def aanswer(self, ask: Ask) -> Reply:
        return Reply(f"awaited {ask.prompt}")


def answered(model: Any, ask: Ask = ASK) -> Reply:
    return asyncio.run(answer(model, ask))


def test_models_and_functions_answer():
    async def later(ask: Ask) -> str:
        return ask.prompt

    assert answered(Client()).text == "awaited question"
    assert answered(later).text == "question"
    assert answered(lambda ask: ask.prompt).text == "question"
    assert answered(lambda ask: later(ask)).text == "question"


def test_what_goes_wrong_is_told_and_not_raised():
    def fails(_: Ask) -> str:
        raise ValueError("no")

    assert answered(None).error == "no model was given"
    assert answered(fails).error == "ValueError: no"
    assert "instead of a Reply" in answered(lambda _: 7).error


def test_no_key_of_an_exception_or_an_error_is_shown():
    def fails(_: Ask) -> str:
        raise ValueError("refused: Bearer sk-abcdefghijklmnop")

    assert answered(fails).error == "ValueError: refused: Bearer [redacted]"
    assert "abcdefgh" not in answered(lambda _: Reply(error="sk-abcdefghijklmnop is bad")).error


def test_nobody_takes_longer_than_allowed():
    release = threading.Event()
    reply = answered(lambda _: release.wait(30), Ask("q", 10, seconds=0.05))
    release.set()
    assert "TimeoutError" in reply.error


def test_who_reads_is_known_or_taken_with_care():
    assert reader(None) is None
    assert reader(Client()) == Client.reader
    assert reader(lambda _: "x") == ModelLimits(32_000)


def test_steps_run_in_another_thread():
    threads = []

    def steps() -> Steps[str]:
        threads.append(threading.current_thread())
        reply = yield ASK
        return reply.text

    assert asyncio.run(drive_beside(steps(), lambda ask: ask.prompt)) == "question"
    assert threads[0] is not threading.main_thread()


def test_an_error_in_a_step_is_raised():
    def steps() -> Steps[str]:
        yield from ()
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        asyncio.run(drive_beside(steps(), None))
