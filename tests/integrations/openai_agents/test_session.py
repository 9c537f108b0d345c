import asyncio
import json
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest
from agents import Session as SessionProtocol
from agents import SessionSettings

from foldline.core.asks import Ask
from foldline.formats.registry import dialect
from foldline.integrations.openai_agents import FoldlineSession

Item = dict[str, Any]
Result = TypeVar("Result")

WINDOW = 8_000


def run(work: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run(work)


def step(number: int, size: int = 60) -> list[Item]:
    """Return the items of a step: question, reasoning, call, output, answer."""
    text = " ".join(f"line {n} of part {number}" for n in range(size))
    return [
        {"role": "user", "content": f"Check part {number}."},
        {
            "type": "reasoning",
            "id": f"rs_{number}",
            "summary": [{"type": "summary_text", "text": f"I read part {number}."}],
            "encrypted_content": "c2ln",
        },
        {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": "read",
            "arguments": f'{{"part": {number}}}',
        },
        {"type": "function_call_output", "call_id": f"call_{number}", "output": text},
        {
            "type": "message",
            "role": "assistant",
            "id": f"msg_{number}",
            "status": "completed",
            "content": [{"type": "output_text", "text": f"Part {number} is sound."}],
        },
    ]


async def filled(session: FoldlineSession, steps: int) -> list[Item]:
    items = [item for number in range(steps) for item in step(number)]
    for number in range(steps):
        await session.add_items(step(number))
    return items


def texts(items: list[Item]) -> list[str]:
    return [item["content"] for item in items if item.get("role") == "user"]


# --- the protocol --------------------------------------------------------------------------


def test_it_is_a_session_of_the_sdk():
    session = FoldlineSession("user-1")
    assert isinstance(session, SessionProtocol)
    assert (session.session_id, session.session_settings) == ("user-1", None)


@pytest.mark.requirement("H8")
def test_items_are_stored_unchanged(tmp_path):
    async def first() -> list[Item]:
        session = FoldlineSession("user#1", tmp_path / "a.db", window=WINDOW)
        added = await filled(session, 2)
        session.close()
        return added

    async def second() -> list[Item]:
        session = FoldlineSession("user#1", tmp_path / "a.db", window=WINDOW)
        items = await session.get_items()
        session.close()
        return items

    assert run(first()) == run(second())


def test_sessions_whose_names_look_like_branches_do_not_mix(tmp_path):
    async def both() -> tuple[list[Item], list[Item]]:
        one = FoldlineSession("user", tmp_path / "a.db")
        other = FoldlineSession("user#2", tmp_path / "a.db")
        await one.add_items([{"role": "user", "content": "one"}])
        await one.pop_item()
        await one.add_items([{"role": "user", "content": "one again"}])
        await other.add_items([{"role": "user", "content": "other"}])
        one.close(), other.close()
        one = FoldlineSession("user", tmp_path / "a.db")
        other = FoldlineSession("user#2", tmp_path / "a.db")
        seen = await one.get_items(), await other.get_items()
        one.close(), other.close()
        return seen

    one, other = run(both())
    assert (texts(one), texts(other)) == (["one again"], ["other"])


@pytest.mark.requirement("K38")
def test_the_input_of_a_run_fits_and_is_valid_and_nothing_is_lost():
    async def conversation() -> tuple[list[Item], list[Item], FoldlineSession]:
        session = FoldlineSession("user", window=WINDOW)
        return await filled(session, 30), await session.get_items(), session

    added, view, session = run(conversation())
    assert len(view) < len(added)
    assert dialect("openai-responses").validate(view) == []
    assert view[0] == added[0]
    assert view[-1] == added[-1]
    assert texts(view)[-1] == "Check part 29."
    assert [message.raw for message in session.session.messages] == added
    compacted = next(r for r in session.session.receipts if r.status == "compacted")
    assert all(session.session.recall(handle).text for handle in compacted.recall)


# --- removing ------------------------------------------------------------------------------


def test_the_newest_item_can_be_removed_permanently(tmp_path):
    async def conversation() -> tuple[Item, list[Item]]:
        session = FoldlineSession("user", tmp_path / "a.db", window=WINDOW)
        added = await filled(session, 2)
        popped = [await session.pop_item() for _ in range(2)]
        assert popped == [added[-1], added[-2]]
        await session.add_items(added[-2:-1])
        session.close()
        again = FoldlineSession("user", tmp_path / "a.db", window=WINDOW)
        items = await again.get_items()
        again.close()
        assert items == added[:-1]
        return added[-1], items

    run(conversation())


def test_popping_from_an_empty_session_returns_none():
    assert run(FoldlineSession("user").pop_item()) is None


def test_popping_after_a_compaction_keeps_the_compaction():
    async def conversation() -> None:
        session = FoldlineSession("user", window=WINDOW)
        await filled(session, 30)
        before = await session.get_items()
        extra = {"role": "user", "content": "One more."}
        await session.add_items([extra])
        assert await session.pop_item() == extra
        assert await session.get_items() == before

    run(conversation())


@pytest.mark.requirement("F85")
def test_a_cleared_session_stays_empty(tmp_path):
    async def conversation() -> list[Item]:
        session = FoldlineSession("user", tmp_path / "a.db", window=WINDOW)
        await filled(session, 30)
        await session.get_items()
        await session.clear_session()
        assert await session.get_items() == []
        assert await session.pop_item() is None
        session.close()
        again = FoldlineSession("user", tmp_path / "a.db", window=WINDOW)
        assert await again.get_items() == []
        await again.add_items(step(99))
        items = await again.get_items()
        again.close()
        return items

    assert run(conversation()) == step(99)


# --- during a compaction -------------------------------------------------------------------


class Slow:
    """A summarizer that answers when it is released."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.go = asyncio.Event()

    async def __call__(self, _: Ask) -> str:
        self.asked.set()
        await self.go.wait()
        return "Parts were checked, one after the other."


async def while_compacting(session: FoldlineSession, slow: Slow, work: Any) -> list[Item]:
    """Start a compaction and other work, wait for both, and return the view."""
    await filled(session, 30)
    reading = asyncio.create_task(session.get_items())
    assert await asyncio.to_thread(slow.asked.wait, 5)
    other = asyncio.create_task(work)
    await asyncio.sleep(0)
    slow.go.set()
    await asyncio.gather(reading, other)
    return await session.get_items()


@pytest.mark.requirement("F85")
def test_items_added_during_a_compaction_follow_the_summary():
    async def conversation() -> tuple[list[Item], FoldlineSession]:
        slow = Slow()
        session = FoldlineSession("user", window=WINDOW, summarizer=slow)
        late = {"role": "user", "content": "And the last one."}
        return await while_compacting(session, slow, session.add_items([late])), session

    view, session = run(conversation())
    assert texts(view)[-1] == "And the last one."
    assert any("one after the other" in str(item) for item in view[:-1])
    assert len(session.session.messages) == 151


@pytest.mark.requirement("F85")
def test_a_session_cleared_during_a_compaction_stays_empty():
    async def conversation() -> list[Item]:
        slow = Slow()
        session = FoldlineSession("user", window=WINDOW, summarizer=slow)
        return await while_compacting(session, slow, session.clear_session())

    assert run(conversation()) == []


# --- limits --------------------------------------------------------------------------------


@pytest.mark.requirement("F86")
@pytest.mark.parametrize("settings", [SessionSettings(limit=7), {"limit": 7}])
def test_a_limit_returns_fewer_items_and_removes_nothing(settings):
    async def conversation() -> None:
        session = FoldlineSession("user", window=WINDOW, session_settings=settings)
        added = await filled(session, 4)
        items = await session.get_items()
        # The seventh last item is an output whose call is older: it is omitted.
        assert items == added[-6:]
        assert dialect("openai-responses").validate(items) == []
        assert await session.get_items(limit=100) == added
        assert len(session.session.messages) == len(added)

    run(conversation())


def test_the_tool_of_a_session_recalls_its_content():
    async def asked() -> str:
        with_fact = [{"role": "user", "content": "The launch code of the probe is 7341."}]
        session = FoldlineSession("s", window=8_000)
        await session.add_items(with_fact)
        handle = session.session.messages[0].id[:8]
        (tool,) = session.tools
        arguments = json.dumps({"handle": handle, "query": "launch code"})
        answer = await tool.on_invoke_tool(None, arguments)
        session.close()
        assert tool.name == "recall"
        return str(answer)

    assert "7341" in asyncio.run(asked())
