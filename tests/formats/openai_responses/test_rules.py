from __future__ import annotations

import pytest

from foldline.formats.openai_responses import OpenAIResponsesDialect

USER = {"role": "user", "content": "go"}
SAID = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "ok"}],
}
THOUGHT = {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
SEARCH = {"type": "web_search_call", "action": {"query": "q"}}


def call(number: object = "a", **more: object) -> dict:
    return {"type": "function_call", "call_id": number, "name": "f", "arguments": "{}", **more}


def output(number: object = "a", **more: object) -> dict:
    return {"type": "function_call_output", "call_id": number, "output": "ok", **more}


ACCEPTED = {
    "plain": [USER, SAID, USER],
    "the easy form": [USER, {"role": "assistant", "content": "ok"}, USER],
    "neighbours of one role": [USER, USER, SAID, SAID],
    "parallel calls": [USER, THOUGHT, call("a"), call("b"), output("b"), output("a"), SAID],
    "outputs between calls": [USER, call("a"), output("a"), call("b"), output("b")],
    "a message before the output": [USER, call(), SAID, output(), USER],
    "calls that wait": [USER, call("a"), THOUGHT, call("b"), output("a")],
    "a call id that comes again": [USER, call(), output(), call(), output(), SAID],
    "reasoning upon reasoning": [USER, THOUGHT, THOUGHT, SEARCH, SAID],
    "a provider's own search": [USER, {"type": "tool_search_call", "call_id": None}, SAID],
    "a local shell answered by a function output": [
        USER,
        {"type": "local_shell_call", "id": "l", "call_id": "a", "action": {}},
        output(),
        SAID,
    ],
    "a local shell answered by its id": [
        USER,
        {"type": "local_shell_call", "id": "l", "call_id": "a", "action": {}},
        {"type": "local_shell_call_output", "id": "a", "output": "ok"},
        SAID,
    ],
    "a compaction": [{"type": "compaction", "id": "c", "encrypted_content": "gAAA"}, USER],
    "a reference": [{"type": "item_reference", "id": "m"}, {"id": "m"}, USER],
}

REJECTED = {
    "no object": ([USER, 3], "type"),
    "type of another type": ([{"type": ["message"]}], "type"),
    "role of another type": ([{"role": ["user"], "content": "x"}], "role"),
    "a tool message": ([{"role": "tool", "content": "x"}], "role"),
    "content of another type": ([{"role": "user", "content": None}], "type"),
    "an empty string": ([{"role": "user", "content": ""}], "empty"),
    "an empty list": ([{"role": "assistant", "content": []}], "empty"),
    "a user who gives output": ([{**SAID, "role": "user"}], "type"),
    "a model that gives input": (
        [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}],
        "type",
    ),
    "text that is none": ([{"role": "user", "content": [{"type": "input_text"}]}], "type"),
    "a block that is none": ([{"role": "user", "content": ["x"]}], "type"),
    "a call without call_id": ([USER, call(None)], "type"),
    "a call without name": ([USER, call(name="")], "type"),
    "arguments as an object": ([USER, call(arguments={})], "arguments"),
    "custom input as an object": (
        [USER, {"type": "custom_tool_call", "call_id": "a", "name": "f", "input": {}}],
        "arguments",
    ),
    "an output of another type": ([USER, call(), output(output=None)], "type"),
    "an output that names nothing": ([USER, call(), output(None)], "pairing"),
    "an output without a call": ([USER, output(), SAID], "pairing"),
    "outputs first of all": ([output("a"), output("b"), SAID], "pairing"),
    "an output before its call": ([USER, output(), call(), SAID], "pairing"),
    "an output twice": ([USER, call(), output(), output(), SAID], "pairing"),
    "an output of another kind": (
        [USER, call(), output(type="custom_tool_call_output"), SAID],
        "pairing",
    ),
    "a call that nobody answers": ([USER, call(), SAID], "pairing"),
    "one of two calls unanswered": ([USER, call("a"), call("b"), output("a"), USER], "pairing"),
    "a call id that still waits": ([USER, call(), call(), output(), output()], "duplicate"),
    "an item twice": ([USER, {**SAID, "id": "m"}, USER, {**SAID, "id": "m"}], "duplicate"),
    "reasoning at the end": ([USER, THOUGHT], "reasoning"),
    "reasoning before a user": ([USER, THOUGHT, USER], "reasoning"),
    "reasoning before an output": ([USER, call(), THOUGHT, output(), SAID], "reasoning"),
    "reasoning without a summary": ([USER, {"type": "reasoning", "id": "r"}, SAID], "type"),
    "a reference to nothing": ([{"type": "item_reference"}, USER], "type"),
}


@pytest.mark.parametrize("items", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_valid_input_has_no_violations(items: list) -> None:
    assert OpenAIResponsesDialect().validate(items) == []


@pytest.mark.parametrize(("items", "rule"), REJECTED.values(), ids=REJECTED.keys())
def test_invalid_input_violates_the_named_rule(items: list, rule: str) -> None:
    assert rule in {violation.rule for violation in OpenAIResponsesDialect().validate(items)}


def test_a_violation_names_its_location() -> None:
    found = OpenAIResponsesDialect().validate([USER, call(), USER])
    assert [(v.index, v.field, v.rule) for v in found] == [(1, "call_id", "pairing")]


@pytest.mark.parametrize("wire", [None, 3, "hello", {}, {"input": 3}])
def test_a_value_that_is_not_a_conversation_is_a_violation(wire: object) -> None:
    assert [violation.rule for violation in OpenAIResponsesDialect().validate(wire)] == ["type"]


def test_a_body_may_hold_a_string() -> None:
    assert OpenAIResponsesDialect().validate({"input": "hello"}) == []


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_string_in_a_body_is_a_blank_input(blank: str) -> None:
    found = OpenAIResponsesDialect().validate({"input": blank})
    assert [(v.index, v.field, v.rule) for v in found] == [(0, "input", "empty")]
