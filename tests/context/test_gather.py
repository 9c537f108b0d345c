from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from foldline.context.gather import gather
from foldline.context.sources import Source


def gathered(*sources: Source, seconds: float = 10.0) -> Any:
    return asyncio.run(gather("q", sources, seconds=seconds))


@pytest.mark.requirement("T2")
def test_a_source_that_fails_is_reported_and_the_others_are_taken():
    def broken(_: str) -> None:
        raise ConnectionError("refused")

    async def fine(query: str) -> list[str]:
        return [query]

    result = gathered(Source("a", broken), Source("b", fine), Source("c", lambda _: ["plain"]))
    assert [p.content for p in result.packets] == ["q", "plain"]
    assert [(s.name, s.packets, s.error) for s in result.sources] == [
        ("a", 0, "ConnectionError: refused"),
        ("b", 1, ""),
        ("c", 1, ""),
    ]


@pytest.mark.requirement("T2")
def test_a_source_that_hangs_is_left_behind():
    release = threading.Event()

    def hangs(_: str) -> None:
        release.wait(30)

    async def sleeps(_: str) -> None:
        await asyncio.Event().wait()

    began = time.monotonic()
    result = gathered(Source("thread", hangs, seconds=0.05), Source("loop", sleeps), seconds=0.05)
    release.set()
    assert time.monotonic() - began < 5
    assert [s.error for s in result.sources] == ["gave no answer in 0.05 seconds"] * 2


def test_sources_are_asked_at_the_same_time():
    meeting = threading.Barrier(3, timeout=10)

    def meets(_: str) -> str:
        meeting.wait()
        return "met"

    result = gathered(*(Source(name, meets) for name in "abc"))
    assert [s.error for s in result.sources] == ["", "", ""]


def test_an_error_of_the_source_itself_is_no_lateness():
    async def gives_up(_: str) -> None:
        raise TimeoutError("the database is slow")

    assert gathered(Source("a", gives_up)).sources[0].error == (
        "TimeoutError: the database is slow"
    )


def test_a_function_may_return_something_to_await():
    async def later() -> str:
        return "later"

    result = gathered(Source("a", lambda _: later()))
    assert [p.content for p in result.packets] == ["later"]


def test_a_cancellation_is_not_swallowed():
    async def scenario() -> None:
        async def sleeps(_: str) -> None:
            await asyncio.Event().wait()

        task = asyncio.create_task(gather("q", [Source("a", sleeps)]))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())


def test_what_a_search_found_carries_its_rank():
    found = gathered(Source("a", lambda _: ["x", "y"], searches=True)).packets
    assert [p.metadata["rank"] for p in found] == [0, 1]
