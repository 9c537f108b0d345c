from __future__ import annotations

from typing import Any

import pytest

from foldline import Session
from foldline.formats.registry import dialect
from foldline.stores.memory import MemoryStore

CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    ],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "42 files"}
USER = {"role": "user", "content": "Go on."}
ANSWER = {"role": "assistant", "content": "Done."}

DAMAGED = {
    "a result whose call is lost": [USER, RESULT, ANSWER],
    "a call that nobody answered": [USER, CALL, USER],
    "an empty answer": [USER, {"role": "assistant", "content": ""}, USER],
}

RETRIED = {
    "openai-chat": [USER, CALL, {**RESULT, "content": "timed out"}, RESULT],
    "anthropic": [
        USER,
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {}}],
        },
        *(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", **said}]}
            for said in ({"content": "timed out", "is_error": True}, {"content": "42 files"})
        ),
    ],
}


def opened(messages: list[dict[str, Any]]) -> Session:
    session = Session.open(None, "s", store=MemoryStore(), window=8_000)
    session.extend(messages)
    return session


@pytest.mark.requirement("F07")
@pytest.mark.parametrize("what", DAMAGED)
def test_damage_is_repaired_before_any_compaction(what):
    chat = dialect("openai-chat")
    assert chat.validate(DAMAGED[what])
    session = opened(DAMAGED[what])
    view = session.view()
    assert chat.validate(view) == []
    assert [message.raw for message in session.messages] == DAMAGED[what]
    assert [receipt.reason for receipt in session.receipts] == ["repair"]
    assert session.view() == view
    assert len(session.receipts) == 1, "mended once, not before every request"


@pytest.mark.parametrize("name", ["openai-chat", "anthropic"])
def test_the_last_result_of_a_call_is_sent_and_those_before_are_recalled(name):
    session = opened(RETRIED[name])
    sent = session.view()
    assert dialect(name).validate(sent) == []
    assert "42 files" in str(sent)
    assert "timed out" not in str(sent)
    (handle,) = session.receipts[0].recall
    assert "timed out" in session.recall(handle).text


@pytest.mark.parametrize("number", [{}, {"id": "1"}])
def test_gemini_gets_results_in_the_order_of_their_calls(number):
    def parts(kind, value, *names):
        return [{kind: {"name": name, value: {}, **number}} for name in names]

    history = [
        {"role": "user", "parts": [{"text": "Go."}]},
        {"role": "model", "parts": parts("functionCall", "args", "f", "g")},
        {"role": "user", "parts": parts("functionResponse", "response", "g", "f")},
    ]
    if number:
        for at, name in ((1, "functionCall"), (2, "functionResponse")):
            for part in history[at]["parts"]:
                part[name]["id"] = part[name]["name"] + "1"
    sent = opened(history).view()
    assert dialect("gemini").validate(sent) == []
    assert [part["functionResponse"]["name"] for part in sent[2]["parts"]] == ["f", "g"]


@pytest.mark.parametrize(
    "messages", [[USER, CALL, RESULT, ANSWER], [USER, CALL], [USER, CALL, RESULT], [ANSWER, USER]]
)
def test_a_valid_history_is_sent_unchanged(messages):
    session = opened(messages)
    assert all(map(_is, session.view(), messages))
    assert session.receipts == ()


def _is(left: object, right: object) -> bool:
    return left is right


def test_damage_recorded_by_another_process_is_repaired_when_it_is_read(place):
    with Session.open(place, "s", window=8_000) as session:
        session.extend([USER, RESULT, ANSWER])
    with Session.open(place, "s", window=8_000) as again:
        assert dialect("openai-chat").validate(again.view()) == []
