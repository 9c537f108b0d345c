from __future__ import annotations

import pytest

from foldline.formats.anthropic import AnthropicDialect

TEXT = {"type": "text", "text": "hi"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
REDACTED = {"type": "redacted_thinking", "data": "eA=="}
SERVER = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}


def use(number: object = "a", **more: object) -> dict:
    return {"type": "tool_use", "id": number, "name": "f", "input": {}, **more}


def answer(number: object = "a", content: object = "ok", **more: object) -> dict:
    return {"type": "tool_result", "tool_use_id": number, "content": content, **more}


def user(*blocks: object) -> dict:
    return {"role": "user", "content": list(blocks) or "go"}


def model(*blocks: object) -> dict:
    return {"role": "assistant", "content": list(blocks) or "ok"}


ACCEPTED = {
    "plain": [user(), model(), user()],
    "neighbours of one role": [user(), user(), model(), model()],
    "parallel calls in one message": [
        user(),
        model(use("a"), use("b")),
        user(answer("b"), answer()),
    ],
    "parallel calls over several messages": [
        user(),
        model(use("a")),
        model(use("b")),
        user(answer("a")),
        user(answer("b")),
        model(),
    ],
    "text behind the results": [user(), model(use()), user(answer(), TEXT), model()],
    "text and call in one turn": [user(), model(TEXT, use(), TEXT), user(answer())],
    "a call that waits": [user(), model(use())],
    "one of two calls that waits": [user(), model(use("a"), use("b")), user(answer("b"))],
    "reasoning first": [user(), model(THOUGHT, REDACTED, TEXT, use()), user(answer())],
    "reasoning after a server tool": [user(), model(TEXT, SERVER, THOUGHT, TEXT), user()],
    "results of every shape": [
        user(),
        model(use("a"), use("b"), use("c")),
        user(answer("a", [TEXT]), answer("b", None), answer("c", "")),
    ],
    "an empty last assistant message": [user(), model() | {"content": ""}],
}

REJECTED = {
    "no object": ([user(), 3], "type"),
    "role of another type": ([user() | {"role": ["user"]}], "type"),
    "content of another type": ([user() | {"content": None}], "type"),
    "a block that is none": ([user("hello")], "type"),
    "a block without a type": ([user({"text": "x"})], "type"),
    "text that is none": ([user({"type": "text", "text": 3})], "type"),
    "an image without source": ([user({"type": "image"})], "type"),
    "a system message first": ([{"role": "system", "content": "x"}, user()], "first"),
    "a tool message": ([user(), {"role": "tool", "content": "x"}], "role"),
    "the assistant first": ([model(), user()], "first"),
    "an empty string": ([user() | {"content": ""}], "empty"),
    "a blank string": ([user(), model() | {"content": " \n"}, user()], "empty"),
    "an empty list": ([user(), model() | {"content": []}, user()], "empty"),
    "a blank block": ([user({"type": "text", "text": "\n\n"})], "empty"),
    "a blank block in a result": (
        [user(), model(use()), user(answer("a", [{"type": "text", "text": ""}]))],
        "empty",
    ),
    "a silent failure": ([user(), model(use()), user(answer("a", "", is_error=True))], "empty"),
    "a user who calls": ([user(use())], "role"),
    "a model that answers itself": ([user(), model(use(), answer())], "role"),
    "a user who thinks": ([user(THOUGHT, TEXT)], "role"),
    "an id with a colon": ([user(), model(use("f:0")), user(answer("f:0"))], "type"),
    "a call without name": ([user(), model(use(name=""))], "type"),
    "input as text": ([user(), model(use(input="{}"))], "arguments"),
    "content of a result of another type": ([user(), model(use()), user(answer("a", 3))], "type"),
    "a result that names nothing": ([user(), model(use()), user(answer(None))], "pairing"),
    "a call that nobody answers": ([user(), model(use()), user(), model()], "pairing"),
    "one of two calls unanswered": (
        [user(), model(use("a"), use("b")), user(answer("a")), model()],
        "pairing",
    ),
    "a result without a call": ([user(), model(), user(answer())], "pairing"),
    "results first of all": ([user(answer("a"), answer("b")), model()], "pairing"),
    "a result twice": ([user(), model(use()), user(answer(), answer())], "pairing"),
    "a result one turn late": ([user(), model(use()), user(), model(), user(answer())], "pairing"),
    "text before the results": ([user(), model(use()), user(TEXT, answer()), model()], "order"),
    "an id that comes again": (
        [user(), model(use()), user(answer()), model(use()), user(answer())],
        "duplicate",
    ),
    "reasoning that is not first": ([user(), model(TEXT, THOUGHT, TEXT), user()], "thinking"),
    "reasoning behind a call": ([user(), model(THOUGHT, use(), THOUGHT)], "thinking"),
    "reasoning without signature": (
        [user(), model({"type": "thinking", "thinking": "hm"}, TEXT)],
        "signature",
    ),
    "redacted reasoning without data": (
        [user(), model({"type": "redacted_thinking"}, TEXT)],
        "signature",
    ),
}


@pytest.mark.parametrize("messages", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_valid_input_has_no_violations(messages: list) -> None:
    assert AnthropicDialect().validate(messages) == []


@pytest.mark.parametrize(("messages", "rule"), REJECTED.values(), ids=REJECTED.keys())
def test_invalid_input_violates_the_named_rule(messages: list, rule: str) -> None:
    assert rule in {violation.rule for violation in AnthropicDialect().validate(messages)}


def test_a_violation_names_its_location() -> None:
    found = AnthropicDialect().validate([user(), model(TEXT, use()), user(), model()])
    assert [(v.index, v.field, v.rule) for v in found] == [(1, "content[1].id", "pairing")]


@pytest.mark.parametrize("wire", [None, 3, "hello", {}, {"messages": "hello"}])
def test_a_value_that_is_not_a_conversation_is_a_violation(wire: object) -> None:
    assert [violation.rule for violation in AnthropicDialect().validate(wire)] == ["type"]


def test_a_body_is_checked_with_its_system_prompt() -> None:
    assert AnthropicDialect().validate({"system": "Be brief.", "messages": [user()]}) == []
    found = AnthropicDialect().validate({"system": 3, "messages": [user()]})
    assert [(v.field, v.rule) for v in found] == [("system", "type")]
