from typing import Any

import pytest
from pydantic import BaseModel

from foldline.errors import InputError
from foldline.integrations.openai_agents.items import (
    Aligned,
    Handed,
    align,
    newest,
    plain,
    same,
    sendable,
    without_calls,
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


# --- the same item -------------------------------------------------------------------------


def test_notes_of_the_sdk_are_not_sent_and_make_no_difference():
    noted = {**call("1"), "created_by": "agent", "_agents_tool_title": "F"}
    assert sendable(noted) == call("1")
    assert sendable(call("1")) == call("1")
    assert same(noted, call("1"))
    assert not same(noted, call("2"))


def test_reasoning_is_the_same_with_and_without_its_id():
    assert same(reasoning("rs_1"), {"type": "reasoning", "summary": []})


def test_models_of_the_sdk_become_json_values_and_anything_else_is_refused():
    class Said(BaseModel):
        role: str
        content: str
        status: str | None = None

    assert plain(Said(role="user", content="hi")) == user("hi")
    with pytest.raises(InputError):
        plain("hi")


# --- what is new ---------------------------------------------------------------------------


def test_what_a_run_adds_is_new_until_the_session_has_it():
    handed = Handed((user("a"),), 1)
    items = [user("a"), user("b"), call("1"), output("1")]
    assert align(items, handed, []) == Aligned((user("b"), call("1"), output("1")))
    assert align(items, handed, [user("b"), call("1")]) == Aligned((output("1"),))
    assert align(items, handed, items[1:]) == Aligned(())


def test_saying_the_same_again_is_new():
    handed = Handed((user("go on"), user("go on")), 2)
    items = [user("go on")] * 4
    assert align(items, handed, [user("go on")]) == Aligned((user("go on"),))


def test_parallel_outputs_may_come_in_another_order():
    handed = Handed((), 0)
    items = [user("a"), call("1"), call("2"), output("1"), output("2")]
    since = [user("a"), call("1"), call("2"), output("2"), output("1")]
    assert align(items, handed, since) == Aligned(())


def test_calls_that_nothing_answers_may_be_left_out_with_their_reasoning():
    handed = Handed((user("a"), reasoning("r"), call("1")), 3)
    assert align([user("a"), user("b")], handed, []) == Aligned((user("b"),), frozenset({"1"}))


@pytest.mark.parametrize(
    "items",
    [
        [user("other"), user("b")],
        [user("b")],
        [],
    ],
)
def test_an_input_that_begins_otherwise_is_not_of_the_session(items):
    assert align(items, Handed((user("a"), output("0")), 2), []) is None


def test_an_input_that_lacks_what_the_session_was_given_is_not_of_the_session():
    handed = Handed((user("a"),), 1)
    assert align([user("a"), user("b")], handed, [call("1"), output("1")]) is None


# --- what is shown -------------------------------------------------------------------------


def test_dead_calls_go_with_their_reasoning_and_answered_ones_stay():
    items = [user("a"), reasoning("r"), call("1"), call("2"), output("2"), user("b")]
    shown = without_calls(items, {"1", "2"})
    assert shown == [user("a"), call("2"), output("2"), user("b")]
    assert without_calls(items, {"2"}) is items


@pytest.mark.requirement("F86")
def test_the_newest_items_never_begin_with_an_output_without_its_call():
    items = [user("a"), call("1"), output("1"), user("b")]
    assert newest(items, 2) == [user("b")]
    assert newest(items, 3) == items[1:]
    assert newest(items, 9) == items
    assert newest(items, 0) == []
    assert newest(items, -1) == items
