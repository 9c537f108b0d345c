import asyncio

import pytest

from foldline.core.asks import Ask, Reply, adrive, drive


def twice():
    first = yield Ask("one", 10)
    second = yield Ask(f"two after {first.text}", 10)
    return [first.text, second.text or second.error]


def test_a_strategy_is_driven_to_its_end_by_blocking_calls():
    assert drive(twice(), lambda ask: Reply(ask.prompt.upper())) == ["ONE", "TWO AFTER ONE"]


def test_the_same_strategy_is_driven_by_async_calls():
    async def answer(ask):
        await asyncio.sleep(0)
        return Reply(error="busy") if "two" in ask.prompt else Reply("1")

    assert asyncio.run(adrive(twice(), answer)) == ["1", "busy"]


def test_a_strategy_without_asks_needs_no_answer():
    def silent():
        yield from ()
        return 7

    assert drive(silent(), lambda _: pytest.fail("nobody asked")) == 7


@pytest.mark.parametrize("error", [RuntimeError("boom"), KeyboardInterrupt()])
def test_an_error_while_answering_closes_the_strategy_and_is_raised(error):
    closed = []

    def steps():
        try:
            yield Ask("one", 10)
        finally:
            closed.append(True)

    def answer(ask):
        raise error

    with pytest.raises(type(error)):
        drive(steps(), answer)
    assert closed == [True]


def test_a_cancelled_await_closes_the_strategy():
    closed = []

    def steps():
        try:
            yield Ask("one", 10)
        finally:
            closed.append(True)

    async def forever(ask):
        await asyncio.Event().wait()

    async def main():
        task = asyncio.ensure_future(adrive(steps(), forever))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert closed == [True]
