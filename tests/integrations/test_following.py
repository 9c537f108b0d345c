from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from foldline.archive import Archive
from foldline.formats.registry import dialect
from foldline.integrations.following import Follower

SYSTEM = "You mend builds."


def turn(number: int, words: int = 150) -> list[dict[str, Any]]:
    call = {"name": "read", "arguments": f'{{"path": "src/part_{number}.py"}}'}
    return [
        {"role": "user", "content": f"Look at part {number}."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"VALUE_{number} " * words},
        {"role": "assistant", "content": f"Part {number} is fine."},
    ]


def history(turns: int, start: int = 0) -> list[dict[str, Any]]:
    return [message for number in range(start, start + turns) for message in turn(number)]


def test_a_history_within_its_window_is_returned_as_the_same_object():
    messages = history(3)
    with Follower(window=64_000) as follower:
        assert follower.view(messages) is messages
        messages += turn(3)
        assert follower.view(messages) is messages
        assert len(follower.session.messages) == len(messages)


def test_a_long_history_is_compacted_and_keeps_its_newest_message_objects():
    messages: list[dict[str, Any]] = []
    with Follower(window=8_000) as follower:
        for number in range(40):
            messages += turn(number)
            view = follower.view(messages)
            assert dialect("openai-chat").validate(list(view)) == []
        assert len(view) < len(messages)
        assert view[-1] is messages[-1]
        assert [r.status for r in follower.session.receipts].count("compacted") >= 3
        assert follower.view(messages) == view


def test_between_two_compactions_the_prefix_is_stable():
    messages: list[dict[str, Any]] = []
    rewritten = 0
    before: list[Any] = []
    with Follower(window=8_000) as follower:
        for number in range(40):
            messages += turn(number)
            view = list(follower.view(messages))
            rewritten += view[: len(before)] != before
            before = view
        receipts = [r for r in follower.session.receipts if r.status == "compacted"]
    assert 3 <= rewritten == len(receipts)


def test_a_rewound_history_continues_as_a_branch_and_the_old_one_is_kept(tmp_path):
    messages = history(30)
    with Follower(tmp_path / "a.db", "talk", window=8_000) as follower:
        follower.view(messages)
        handle = next(iter(follower.session.receipts[-1].recall))
        other = [*messages[:100], {"role": "user", "content": "Something else."}]
        view = follower.view(other)
        assert view[-1] is other[-1]
        assert follower.session.name == "talk#2"
        assert [m.raw for m in follower.session.messages] == other
    archive = Archive.open(tmp_path / "a.db")
    assert {info.head.name for info in archive.sessions()} == {"talk", "talk#2"}
    assert len(archive.messages("talk")) == len(messages)
    assert archive.recall(handle).text
    archive.close()


def test_returning_to_a_branch_reopens_it():
    messages = history(10)
    other = [*messages[:-1], {"role": "assistant", "content": "It is broken."}]
    with Follower(window=32_000) as follower:
        for seen in (messages, other, [*messages, *turn(10)], [*other, *turn(11)]):
            follower.view(seen)
            assert [m.raw for m in follower.session.messages] == seen
        assert follower.session.name == "conversation#2"


def test_a_branch_keeps_the_compactions_of_its_shared_beginning():
    messages = history(30)
    with Follower(window=8_000) as follower:
        view = follower.view(messages)
        receipt = follower.session.receipts[-1]
        kept = [*messages, *turn(30)]
        follower.view(kept)
        changed = [*messages, {"role": "user", "content": "Stop."}]
        again = follower.view(changed)
        assert list(again[: len(view)]) == list(view)
        assert follower.session.receipts[0].tokens_after == receipt.tokens_after


@pytest.mark.parametrize("objects", [False, True])
def test_after_a_restart_a_history_continues_its_session(tmp_path, objects):
    def made(turns: int) -> list[Any]:
        if not objects:
            return history(turns)
        return [piece for number in range(turns) for piece in langchain_turn(number)]

    with Follower(tmp_path / "a.db", window=8_000) as follower:
        before = list(follower.view(made(30)))
        receipts = len(follower.session.receipts)
    with Follower(tmp_path / "a.db", window=8_000) as follower:
        messages = made(30)
        after = follower.view(messages)
        assert list(after) == before
        assert len(follower.session.receipts) == receipts
        assert follower.session.name == "conversation"
        assert after[-1] is messages[-1]


def langchain_turn(number: int) -> list[Any]:
    call = {"name": "read", "args": {"path": f"part_{number}.py"}, "id": f"c{number}"}
    return [
        HumanMessage(f"Look at part {number}."),
        AIMessage("", tool_calls=[call]),
        ToolMessage(f"VALUE_{number} " * 150, tool_call_id=f"c{number}"),
        AIMessage(f"Part {number} is fine."),
    ]


def test_late_system_prompt_and_tools_are_counted():
    messages = history(6)
    tools = [{"name": f"tool_{n}", "description": "word " * 100} for n in range(40)]
    with Follower(window=8_000) as follower:
        assert follower.view(messages, system=SYSTEM) is messages
        free = follower.session.budget.limit
        view = follower.view(messages, system=SYSTEM, tools=tools)
        assert follower.session.budget.limit < free - 1_500
        assert view is not messages
        assert follower.session.tokens <= follower.session.budget.limit


async def _awaited(follower: Follower, messages: list[Any]) -> Any:
    return await follower.aview(messages)


def test_the_async_view_is_the_same():
    messages = history(30)
    with Follower(window=8_000) as one, Follower(window=8_000) as other:
        assert asyncio.run(_awaited(one, messages)) == other.view(messages)
