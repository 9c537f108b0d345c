"""How tools run: concurrently or alone, with timeouts and limits."""

import asyncio
import threading

import pytest

from foldline.tools import CombinedToolset, ErrorCode, Tool, ToolOutput, ToolRegistry, ToolSettings
from foldline.tools.toolset import bound_output

ANY = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}


class Crowd:
    """Concurrent runs that wait for each other; records their maximum number."""

    def __init__(self):
        self.inside, self.most, self.order = 0, 0, []

    async def run(self, given):
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.order.append(given["n"])
        for _ in range(5):
            await asyncio.sleep(0)
        self.inside -= 1
        return ToolOutput(str(given["n"]))


def registry_of(crowd, **settings):
    tools = [
        Tool(name, "A tool.", ANY, lambda _: ToolOutput(""), crowd.run, labels=labels)
        for name, labels in (("read", {"read"}), ("fetch", {"network"}), ("write", {"write"}))
    ]
    return ToolRegistry(
        [*tools, Tool("bare", "A tool.", ANY, lambda _: ToolOutput(""), crowd.run)],
        settings=ToolSettings(**settings),
    )


@pytest.mark.requirement("H20")
def test_calls_that_only_read_run_side_by_side_up_to_the_limit_and_keep_their_order():
    crowd = Crowd()
    registry = registry_of(crowd, parallel=3)
    calls = [("read" if n % 2 else "fetch", {"n": n}) for n in range(10)]
    outputs = asyncio.run(registry.arun_all(calls))
    assert [output.text for output in outputs] == [str(n) for n in range(10)]
    assert crowd.most == 3


@pytest.mark.requirement("H20")
@pytest.mark.parametrize("name", ["write", "bare"])
def test_a_call_that_changes_something_waits_for_those_before_it_and_runs_alone(name):
    crowd = Crowd()
    registry = registry_of(crowd)
    calls = [("read", {"n": 0}), (name, {"n": 1}), (name, {"n": 2}), ("read", {"n": 3})]
    asyncio.run(registry.arun_all(calls))
    assert crowd.order == [0, 1, 2, 3]
    assert crowd.most == 1


@pytest.mark.requirement("H20")
def test_a_tool_replaced_by_an_earlier_call_is_classified_at_its_turn():
    crowd = Crowd()
    registry = registry_of(crowd)
    changes = Tool("read", "A tool.", ANY, lambda _: ToolOutput(""), crowd.run, labels={"write"})

    async def swap(given):
        registry.add(changes, replace=True)
        return ToolOutput("")

    registry.add(Tool("swap", "A tool.", ANY, lambda _: ToolOutput(""), swap, labels={"write"}))
    asyncio.run(registry.arun_all([("swap", {}), ("read", {"n": 1}), ("read", {"n": 2})]))
    assert crowd.order == [1, 2]
    assert crowd.most == 1


@pytest.mark.requirement("H20")
def test_a_blocking_tool_times_out_without_blocking_others():
    gate = threading.Event()
    registry = ToolRegistry()
    labels = frozenset({"read"})
    hangs = Tool("hangs", "A tool.", ANY, lambda _: ToolOutput(str(gate.wait(30))), labels=labels)
    registry.add(hangs, seconds=0.05)
    registry.add(Tool("quick", "A tool.", ANY, lambda _: ToolOutput("quick"), labels=labels))
    late, quick = registry.run_all([("hangs", {}), ("quick", {})])
    gate.set()
    assert late.code is ErrorCode.TIMEOUT
    assert "0.05 seconds" in late.text
    assert quick.text == "quick"


@pytest.mark.requirement("H20")
def test_a_tool_that_ignores_cancellation_times_out():
    async def main():
        gate = asyncio.Event()

        async def stubborn(_):
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                await gate.wait()
            return ToolOutput("too late")

        registry = ToolRegistry()
        registry.add(Tool("stubborn", "A tool.", ANY, lambda _: ToolOutput(""), stubborn))
        output = await registry.arun("stubborn", seconds=0.01)
        gate.set()
        return output

    assert asyncio.run(main()).code is ErrorCode.TIMEOUT


@pytest.mark.requirement("H20")
def test_a_cancellation_ends_running_calls_starts_no_others_and_is_no_failure():
    async def main():
        began, ended = asyncio.Event(), []

        async def wait(given):
            began.set()
            try:
                await asyncio.sleep(30)
            finally:
                ended.append(given["n"])
            return ToolOutput("")

        registry = ToolRegistry()
        registry.add(
            Tool("wait", "A tool.", ANY, lambda _: ToolOutput(""), wait, labels={"write"})
        )
        task = asyncio.create_task(registry.arun_all([("wait", {"n": n}) for n in range(3)]))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return ended, registry.breaker("wait").failures

    assert asyncio.run(main()) == ([0], 0)


def test_a_plain_tool_whose_loop_ends_before_its_turn_never_runs():
    ran, calls = [], set()

    def note(_):
        ran.append("ran")
        return ToolOutput("")

    registry = ToolRegistry([Tool("late", "A tool.", ANY, note)])

    async def main():
        calls.add(asyncio.create_task(registry.arun("late")))

    asyncio.run(main())
    for thread in threading.enumerate():
        if "late" in thread.name:
            thread.join()
    assert ran == []
    assert all(call.cancelled() for call in calls)


def test_closing_the_iterator_cancels_the_remaining_calls():
    async def main():
        gate, ended = asyncio.Event(), []

        async def wait(given):
            if given["n"]:
                try:
                    await gate.wait()
                finally:
                    ended.append(given["n"])
            return ToolOutput("first")

        registry = ToolRegistry(
            [Tool("w", "A tool.", ANY, lambda _: ToolOutput(""), wait, labels=frozenset({"read"}))]
        )
        each = registry.arun_each([("w", {"n": n}) for n in range(3)])
        first = await anext(each)
        await each.aclose()
        return first[1].text, sorted(ended)

    assert asyncio.run(main()) == ("first", [1, 2])


def test_a_too_long_or_invalid_text_is_repaired():
    registry = ToolRegistry(
        [
            Tool("long", "A tool.", ANY, lambda _: ToolOutput("a" * 9_000 + "THE END")),
            Tool("odd", "A tool.", ANY, lambda _: ToolOutput("half \ud83d of a pair")),
        ],
        settings=ToolSettings(longest=1_000),
    )
    text = registry.run("long").text
    assert len(text) == 1_000
    assert text.endswith("THE END")
    assert "9,007 characters in all" in text
    assert registry.run("odd").text == "half ? of a pair"
    short = ToolOutput("short")
    assert bound_output(short, 1_000) is short


def test_several_toolsets_combine_and_the_first_wins():
    one = ToolRegistry([Tool("a", "A tool.", ANY, lambda _: ToolOutput("first"))])
    two = ToolRegistry(
        [Tool(name, "A tool.", ANY, lambda _: ToolOutput("second")) for name in ("a", "b")]
    )
    both = CombinedToolset(one, two)
    assert [tool.name for tool in both] == ["a", "b"]
    assert [both.run(name).text for name in ("a", "b")] == ["first", "second"]
    assert "The tools are: a, b" in both.run("c").text
