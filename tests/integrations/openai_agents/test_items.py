from typing import Any

import pytest
from pydantic import BaseModel

from foldline.errors import InputError
from foldline.integrations.openai_agents.items import (
    RunInput,
    RunStart,
    align,
    is_same_item,
    newest_items,
    to_json,
    without_calls,
    without_notes,
)

Item = dict[str, Any]


def user(text: str) -> Item:
    return {"role": "user", "content": text}


def call(number: str) -> Item:
    return {"type": "function_call", "call_id": number, "name": "f", "arguments": "{}"}


def output(number: str) -> Item:
    return {"type": "function_call_output", "call_id": number, "output": number}


def reasoning(number: str) -> Item:
    return {"type": "reasoning", "id": number, "summary": []}


# --- equality of items -------------------------------------------------------------------


def test_sdk_fields_are_not_sent_and_ignored_in_comparisons():
    noted = {**call("1"), "created_by": "agent", "_agents_tool_title": "F"}
    assert without_notes(noted) == call("1")
    assert without_notes(call("1")) == call("1")
    assert is_same_item(noted, call("1"))
    assert not is_same_item(noted, call("2"))


def test_reasoning_is_the_same_with_and_without_its_id():
    assert is_same_item(reasoning("rs_1"), {"type": "reasoning", "summary": []})


def test_sdk_models_become_json_values_and_anything_else_is_rejected():
    class SdkItem(BaseModel):
        role: str
        content: str
        status: str | None = None

    assert to_json(SdkItem(role="user", content="hi")) == user("hi")
    with pytest.raises(InputError):
        to_json("hi")


# --- new items -----------------------------------------------------------------------------


def test_items_of_a_run_are_new_until_the_session_has_them():
    start = RunStart((user("a"),), 1)
    items = [user("a"), user("b"), call("1"), output("1")]
    assert align(items, start, []) == RunInput((user("b"), call("1"), output("1")))
    assert align(items, start, [user("b"), call("1")]) == RunInput((output("1"),))
    assert align(items, start, items[1:]) == RunInput(())


def test_a_repeated_message_is_new():
    start = RunStart((user("go on"), user("go on")), 2)
    items = [user("go on")] * 4
    assert align(items, start, [user("go on")]) == RunInput((user("go on"),))


def test_parallel_outputs_may_come_in_another_order():
    start = RunStart((), 0)
    items = [user("a"), call("1"), call("2"), output("1"), output("2")]
    since = [user("a"), call("1"), call("2"), output("2"), output("1")]
    assert align(items, start, since) == RunInput(())


def test_unanswered_calls_may_be_removed_with_their_reasoning():
    start = RunStart((user("a"), reasoning("r"), call("1")), 3)
    assert align([user("a"), user("b")], start, []) == RunInput((user("b"),), frozenset({"1"}))


@pytest.mark.parametrize(
    "items",
    [
        [user("other"), user("b")],
        [user("b")],
        [],
    ],
)
def test_an_input_with_another_start_is_not_of_the_session(items):
    assert align(items, RunStart((user("a"), output("0")), 2), []) is None


def test_an_input_that_lacks_items_of_the_session_is_not_of_the_session():
    start = RunStart((user("a"),), 1)
    assert align([user("a"), user("b")], start, [call("1"), output("1")]) is None


# --- newest items --------------------------------------------------------------------------


def test_unanswered_calls_are_removed_with_their_reasoning_and_answered_ones_kept():
    items = [user("a"), reasoning("r"), call("1"), call("2"), output("2"), user("b")]
    shown = without_calls(items, {"1", "2"})
    assert shown == [user("a"), call("2"), output("2"), user("b")]
    assert without_calls(items, {"2"}) is items


@pytest.mark.requirement("F86")
def test_the_newest_items_never_begin_with_an_output_without_its_call():
    items = [user("a"), call("1"), output("1"), user("b")]
    assert newest_items(items, 2) == [user("b")]
    assert newest_items(items, 3) == items[1:]
    assert newest_items(items, 9) == items
    assert newest_items(items, 0) == []
    assert newest_items(items, -1) == items
