from __future__ import annotations

import json
from typing import Any

import pytest
from tests.neutral import Quarters

import foldline
from foldline.formats.blocks import opaque_text
from foldline.formats.registry import dialect


def test_text_is_collected_in_order() -> None:
    block = {
        "type": "search_result",
        "title": "A page",
        "source": "https://e.org",
        "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
    }
    assert opaque_text(block) == "A page\nhttps://e.org\none\ntwo"


def test_ids_encrypted_values_and_base64_are_not_text() -> None:
    block = {
        "type": "x",
        "id": "x_1",
        "encrypted_content": "E" * 99,
        "signature": "S" * 99,
        "result": "iVBOR",
        "content": [{"source": {"type": "base64", "data": "iVBOR"}}],
    }
    assert opaque_text(block) == ""


def test_arguments_are_text_as_json() -> None:
    assert opaque_text({"name": "web", "input": {"q": "汉"}}) == 'web\n{"q": "汉"}'


def test_deep_nesting_is_cut_off() -> None:
    deep: object = "end"
    for _ in range(100_000):
        deep = [deep]
    assert opaque_text({"content": deep, "input": deep, "title": "t"}) == "t"


TOOLS = {
    "type": "additional_tools",
    "role": "developer",
    "tools": [{"type": "function", "name": "shell", "parameters": {"type": "object"}}] * 8,
}
NEW = {"type": "brand_new_item", "payload": {"state": "x" * 400}}
COMPACTED = {"type": "compaction", "encrypted_content": "gAAAA" * 80}
REMINDER = {"role": "system", "content": "You are in plan mode now: change nothing."}
POLICIES = ["default", "salient", "clear", "keep_recent", "window"]


def responses_step(n: int) -> list[dict[str, Any]]:
    arguments = json.dumps({"command": f"cat f{n}.py"})
    call = {"type": "function_call", "call_id": f"c{n}", "name": "shell", "arguments": arguments}
    return [call, {"type": "function_call_output", "call_id": f"c{n}", "output": "line\n" * 200}]


def anthropic_step(n: int) -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": f"c{n}", "name": "Bash", "input": {"command": f"cat {n}"}}
    result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": "line\n" * 200}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


def gemini_step(n: int) -> list[dict[str, Any]]:
    parts = [{"text": f"step {n} " + "line\n" * 100}]
    return [{"role": "model", "parts": parts}, {"role": "user", "parts": parts}]


def chat_step(n: int) -> list[dict[str, Any]]:
    told = f"step {n} " + "line\n" * 100
    return [{"role": "assistant", "content": told}, {"role": "user", "content": told}]


USERS = {
    "openai-responses": (
        {"type": "message", "role": "user", "content": "Fix it."},
        responses_step,
    ),
    "anthropic": ({"role": "user", "content": "Fix it."}, anthropic_step),
    "gemini": ({"role": "user", "parts": [{"text": "Fix it."}]}, gemini_step),
    "openai-chat": ({"role": "user", "content": "Fix it."}, chat_step),
}
CASES = [
    ("openai-responses", TOOLS),
    ("openai-responses", NEW),
    ("openai-responses", COMPACTED),
    ("openai-responses", {"type": "message", "role": "critic", "content": "Doing fine."}),
    ("anthropic", REMINDER),
    ("anthropic", {"role": "critic", "content": "Doing fine."}),
    ("gemini", {"role": "critic", "parts": [{"text": "Doing fine."}]}),
    ("openai-chat", {"role": "critic", "content": "Doing fine."}),
]


def history(name: str, unknown: dict[str, Any]) -> list[dict[str, Any]]:
    user, step = USERS[name]
    steps = [item for n in range(12) for item in step(n)]
    return [user, *steps[:10], unknown, *steps[10:], dict(user)]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("name", "unknown"), CASES)
def test_unknown_values_pass_through_unchanged_and_in_place(name, unknown, policy):
    messages = history(name, unknown)
    result = foldline.compact(messages, budget=1_200, policy=policy, format=name)
    assert result.receipt.status == "compacted"
    (at,) = [index for index, one in enumerate(result.messages) if one is unknown]
    behind = {id(one) for one in messages[12:]}
    before = {id(one) for one in messages[:11]}
    assert not [one for one in result.messages[:at] if id(one) in behind]
    assert not [one for one in result.messages[at:] if id(one) in before]


def test_tools_and_reminders_in_a_session_are_sent_unchanged(tmp_path):
    for name, unknown in (("openai-responses", TOOLS), ("anthropic", REMINDER)):
        with foldline.Session.open(tmp_path / f"{name}.db", "s", window=2_500) as session:
            for message in history(name, unknown):
                session.append(message)
            sent = session.view()
            assert session.receipts
            assert any(one is unknown for one in sent)
            assert dialect(name).validate(sent) == []


def test_tools_that_a_client_sends_as_an_item_are_recognised_and_counted():
    only = [{"role": "user", "content": "Go."}]
    assert foldline.count([TOOLS, *only]) > foldline.count(only) + 50


def test_reminders_alone_never_become_a_snapshot():
    messages = [USERS["anthropic"][0], *({**REMINDER} for _ in range(20))]
    result = foldline.compact(messages, budget=60, format="anthropic", counter=Quarters())
    assert result.receipt.status == "failed"
    assert result.messages is messages


@pytest.mark.parametrize("policy", POLICIES)
def test_base_instructions_of_a_responses_request_are_never_cut(policy):
    base = {"type": "message", "role": "developer", "content": "Always run the tests. " * 300}
    body = {"instructions": "You are Codex. " * 300, "input": [base, *history(*CASES[0])]}
    room = foldline.count([base]) + 1_500
    result = foldline.compact(body, budget=room, policy=policy)
    assert result.receipt.status == "compacted"
    assert result.messages["instructions"] == body["instructions"]
    assert result.messages["input"][0] is base
    tight = foldline.compact(body, budget=600, policy=policy)
    assert tight.receipt.status == "failed"
    assert tight.messages is body
