"""What a session takes, what it refuses, and how it names what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from foldline import Session
from foldline.errors import InputError
from foldline.stores.memory import MemoryStore

CHAT_CALL = {
    "role": "assistant",
    "content": "I look.",
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
CHAT_RESULT = {"role": "tool", "tool_call_id": "c", "content": "found"}
USE = {"type": "tool_use", "id": "u", "name": "f", "input": {}}
ANTHROPIC_CALL = {"role": "assistant", "content": [USE]}
ANTHROPIC_RESULT = {
    "role": "user",
    "content": [{"type": "tool_result", "tool_use_id": "u", "content": "found"}],
}
QUESTION = {"role": "user", "content": "Where?"}
CHAT = [QUESTION, CHAT_CALL, CHAT_RESULT]
ANTHROPIC = [QUESTION, ANTHROPIC_CALL, ANTHROPIC_RESULT]
FUTURE = {"type": "brand_new_item", "payload": "x"}


def opened(*messages: Any, **options: Any) -> Session:
    options = {"store": MemoryStore(), "window": 20_000} | options
    session = Session.open(None, "s", **options)
    session.extend(messages)
    return session


@pytest.mark.parametrize("named", ["auto", "openai-chat"])
@pytest.mark.parametrize("foreign", [ANTHROPIC_CALL, ANTHROPIC_RESULT])
def test_a_call_or_result_of_another_format_is_refused(named, foreign):
    session = opened(*CHAT, format=named)
    with pytest.raises(InputError, match="message 3: it holds a tool call or result of the"):
        session.append(foreign)
    assert session.view() == CHAT


@pytest.mark.parametrize("named", ["auto", "anthropic"])
def test_calls_of_chat_completions_are_refused_by_a_session_of_anthropic(named):
    session = opened(*ANTHROPIC, format=named)
    with pytest.raises(InputError, match=r"message 3: it holds .* of the format openai-chat"):
        session.append(CHAT_CALL)
    assert session.length == 3


def test_thoughts_of_a_provider_that_speaks_chat_completions_are_no_foreign_calls():
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    answer = {"role": "assistant", "content": [thought, {"type": "text", "text": "Here."}]}
    session = opened(*CHAT)
    session.append(answer)
    assert session.view() == [*CHAT, answer]


def test_a_role_that_no_format_knows_is_refused_where_the_format_was_recognised():
    session = opened(*CHAT)
    with pytest.raises(InputError, match="message 3, field role: unknown role 'foo'"):
        session.append({"role": "foo", "content": "x"})
    assert session.view() == CHAT


def test_a_role_that_nobody_knows_is_kept_where_the_caller_named_the_format():
    critic = {"role": "critic", "content": "Doing fine."}
    session = opened(*CHAT, critic, format="openai-chat")
    assert session.view() == [*CHAT, critic]


def test_an_item_of_a_new_type_is_kept_after_a_restart_too():
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": "found"}
    store = MemoryStore()
    opened(QUESTION, call, output, store=store).close()
    again = Session.open(None, "s", store=store)
    again.append(FUTURE)
    assert again.view() == [QUESTION, call, output, FUTURE]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({}, "message 4, field role: the role is missing"),
        ({"role": "user", "content": 5}, "message 4, field content: expected"),
        (5, "message 4: expected an object, found a number"),
    ],
)
@pytest.mark.parametrize("named", ["auto", "openai-chat"])
def test_an_error_names_the_position_in_the_session(bad, words, named):
    session = opened(*CHAT, format=named)
    with pytest.raises(InputError, match=words) as caught:
        session.extend([QUESTION, bad])
    assert caught.value.index == 4
    session.append(QUESTION)
    with pytest.raises(InputError, match=words):
        session.append(bad)
    assert session.length == 4


@pytest.mark.parametrize("name", ["openai-chat", "anthropic", "openai-responses", "gemini"])
def test_a_message_without_a_role_is_told_so_in_every_format(name):
    session = opened(format=name)
    with pytest.raises(InputError, match="message 0, field role: the role is missing"):
        session.append({"content": "x"})
