import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from foldline.errors import BudgetError, InputError
from foldline.tools import (
    CombinedToolset,
    ErrorCode,
    Permissions,
    Tool,
    ToolOutput,
    ToolRegistry,
    ToolSettings,
    ToolView,
)

NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


class Flaky:
    """A tool that fails until it is repaired, and counts its runs."""

    def __init__(self, code=ErrorCode.EXECUTION):
        self.runs, self.works, self.code = 0, False, code

    def __call__(self, _):
        self.runs += 1
        return ToolOutput("fine") if self.works else ToolOutput.error(self.code, "no")


def tool(action, name="flaky", **rest):
    return Tool(name, "A tool.", NOTHING, action, **rest)


@pytest.mark.requirement("H12")
def test_a_name_is_registered_once_replaced_explicitly_and_removed():
    registry = ToolRegistry([tool(lambda _: ToolOutput("one"), "a")])
    with pytest.raises(InputError, match="two tools have the name 'a'"):
        registry.add(tool(lambda _: ToolOutput("two"), "a"))
    registry.add(tool(lambda _: ToolOutput("two"), "a"), replace=True)
    assert registry.run("a").text == "two"
    assert registry.schemas("anthropic")[0]["name"] == "a"
    assert registry.remove("a").name == "a"
    assert registry.run("a").code is ErrorCode.NOT_FOUND
    with pytest.raises(InputError, match="no tool"):
        registry.remove("a")
    with pytest.raises(InputError, match="is not a tool"):
        registry.add("a")


@pytest.mark.requirement("H12")
def test_functions_are_registered_directly_and_by_decorator():
    registry = ToolRegistry()

    @registry.function
    def one(word: str) -> str:
        """Say a word."""
        return word

    @registry.function(name="deux", labels={"read"})
    def two() -> str:
        """Say nothing."""
        return "2"

    assert one("x") == "x"
    assert registry.run("one", {"word": "y"}).text == "y"
    assert registry.run("deux").text == two() == "2"
    assert [one.name for one in registry] == ["one", "deux"]
    assert "deux" in registry
    assert len(registry) == 2


@pytest.mark.requirement("H12")
def test_many_threads_register_run_and_remove_at_once():
    registry = ToolRegistry([tool(lambda _: ToolOutput("stays"), "stays")])
    gate = threading.Barrier(8)

    def work(number):
        gate.wait(10)
        for turn in range(25):
            name = f"t{number}_{turn}"
            registry.add(tool(lambda _, name=name: ToolOutput(name), name))
            assert registry.run(name).text == name
            assert registry.run("stays").text == "stays"
            assert len(registry.schemas("openai-chat")) >= 2
            if turn % 2:
                registry.remove(name)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(registry) == 1 + 8 * 13


@pytest.mark.requirement("H10", "H12")
def test_a_tool_that_keeps_failing_is_paused_and_retried_once_later():
    clock, flaky = Clock(), Flaky()
    registry = ToolRegistry([tool(flaky)], clock=clock)
    for _ in range(5):
        output = registry.run("flaky")
    assert flaky.runs == 3
    assert output.code is ErrorCode.UNAVAILABLE
    assert output.data["paused"] == 300
    assert registry.breaker("flaky").state(clock()) == "open"
    clock.now += 300
    assert registry.breaker("flaky").state(clock()) == "half-open"
    assert registry.run("flaky").code is ErrorCode.EXECUTION
    assert registry.run("flaky").code is ErrorCode.UNAVAILABLE
    assert flaky.runs == 4
    clock.now += 300
    flaky.works = True
    assert [registry.run("flaky").text for _ in range(3)] == ["fine"] * 3
    assert registry.breaker("flaky").state(clock()) == "closed"


@pytest.mark.requirement("H10")
def test_a_success_resets_the_failures_and_tools_are_independent():
    flaky, other = Flaky(), Flaky()
    registry = ToolRegistry([tool(flaky), tool(other, "other")], clock=Clock())
    for works in (False, False, True, False, False):
        flaky.works = works
        registry.run("flaky")
    assert registry.run("flaky").code is ErrorCode.EXECUTION
    assert registry.run("flaky").code is ErrorCode.UNAVAILABLE
    assert registry.run("other").code is ErrorCode.EXECUTION


@pytest.mark.requirement("H10")
@pytest.mark.parametrize(
    "code", [ErrorCode.INVALID_ARGUMENTS, ErrorCode.NOT_FOUND, ErrorCode.CONFLICT]
)
def test_mistakes_of_the_model_and_unknown_names_pause_nothing(code):
    flaky = Flaky(code)
    registry = ToolRegistry([tool(flaky)], clock=Clock())
    for _ in range(5):
        registry.run("flaky")
        registry.run("flaky", {"unknown": 1})
        registry.run("flakey")
    assert flaky.runs == 5
    assert "Did you mean 'flaky'" in registry.run("flakey").text


@pytest.mark.requirement("H10")
def test_all_call_methods_share_one_breaker():
    clock, flaky = Clock(), Flaky()
    registry = ToolRegistry([tool(flaky)], clock=clock)
    view = ToolView(registry, Permissions(allow={"flaky"}))
    registry.run("flaky")
    asyncio.run(registry.arun("flaky"))
    view.run("flaky")
    for ways in (registry, view, CombinedToolset(view)):
        assert ways.run("flaky").code is ErrorCode.UNAVAILABLE
        assert ways.run_all([("flaky", {})])[0].code is ErrorCode.UNAVAILABLE
    assert flaky.runs == 3


@pytest.mark.requirement("H10")
def test_a_tool_is_paused_and_resumed_by_hand_and_with_no_failures_never():
    clock, flaky = Clock(), Flaky()
    registry = ToolRegistry([tool(flaky)], settings=ToolSettings(failures=0), clock=clock)
    for _ in range(9):
        assert registry.run("flaky").code is ErrorCode.EXECUTION
    registry = ToolRegistry([tool(flaky)], clock=clock)
    registry.pause("flaky")
    assert registry.run("flaky").code is ErrorCode.UNAVAILABLE
    registry.resume("flaky")
    assert registry.run("flaky").code is ErrorCode.EXECUTION
    with pytest.raises(InputError):
        registry.pause("flakey")


@pytest.mark.requirement("H10", "H20")
def test_a_half_open_tool_is_tried_by_one_caller_only_and_again_after_a_cancellation():
    async def main():
        clock, began, gate = Clock(), asyncio.Event(), asyncio.Event()

        async def trial(_):
            began.set()
            await gate.wait()
            return ToolOutput("fine")

        registry = ToolRegistry(clock=clock)
        registry.add(tool(lambda _: ToolOutput(""), async_action=trial))
        registry.pause("flaky")
        clock.now += 300
        first = asyncio.create_task(registry.arun("flaky"))
        await began.wait()
        assert (await registry.arun("flaky")).code is ErrorCode.UNAVAILABLE
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        gate.set()
        assert (await registry.arun("flaky")).text == "fine"
        assert registry.breaker("flaky").state(clock()) == "closed"

    asyncio.run(main())


@pytest.mark.parametrize(
    "numbers",
    [{"seconds": -1}, {"parallel": 0}, {"longest": 10}, {"failures": -1}, {"pause": "a"}],
)
def test_invalid_settings_are_errors(numbers):
    with pytest.raises(BudgetError, match=f"tools.{next(iter(numbers))}"):
        ToolSettings(**numbers)
    with pytest.raises(BudgetError):
        ToolRegistry().add(tool(Flaky()), seconds=-1)
