"""What the SDKs of providers return is taken as it is, wherever messages are taken."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types import TextBlock, ThinkingBlock, ToolUseBlock
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import (
    ParsedResponseOutputText,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseReasoningItem,
)

import foldline
from foldline.errors import InputError
from foldline.formats.registry import dialect
from foldline.formats.sdk_objects import to_json
from foldline.integrations.following import Follower
from foldline.stores.memory import MemoryStore

QUESTION = {"role": "user", "content": "Where is the limit set?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": '{"q": null}'}}
BLOCKS = [
    ThinkingBlock(type="thinking", thinking="Look it up.", signature="c2ln"),
    TextBlock(type="text", text="I look."),
    ToolUseBlock(type="tool_use", id="c1", name="grep", input={"q": None}),
]
ITEMS = [
    ResponseReasoningItem(type="reasoning", id="rs_1", summary=[], encrypted_content=None),
    ResponseFunctionToolCall(type="function_call", call_id="c1", name="grep", arguments="{}"),
    ResponseOutputMessage.model_validate(
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
        }
    ),
]
ANSWERS: dict[str, list[Any]] = {
    "openai-chat": [
        ChatCompletionMessage.model_validate(
            {"role": "assistant", "content": None, "refusal": None, "tool_calls": [CALL]}
        ),
        {"role": "tool", "tool_call_id": "c1", "content": "a.py:3"},
    ],
    "anthropic": [
        {"role": "assistant", "content": BLOCKS},
        {
            "role": "user",
            "content": ({"type": "tool_result", "tool_use_id": "c1", "content": "a.py:3"},),
        },
    ],
    "openai-responses": [
        *ITEMS[:2],
        {"type": "function_call_output", "call_id": "c1", "output": "a.py:3"},
        ITEMS[2],
    ],
}
wires = pytest.mark.parametrize("name", ANSWERS)


def is_plain(value: Any) -> bool:
    if type(value) is dict:
        return all(map(is_plain, value.values()))
    if type(value) is list:
        return all(map(is_plain, value))
    return value is None or type(value) in (str, int, float, bool)


@wires
def test_compact_takes_what_an_sdk_returned_and_gives_back_plain_messages_of_the_same_wire(name):
    result = foldline.compact([QUESTION, *ANSWERS[name]], budget=10_000)
    assert result.transcript.dialect == name
    assert is_plain(result.messages)
    assert dialect(name).validate(result.messages) == []
    calls = [call.name for message in result.transcript.messages for call in message.calls]
    assert calls == ["grep"]


@wires
def test_a_session_takes_what_an_sdk_returned_and_shows_it_again_after_a_restart(name, tmp_path):
    with foldline.Session.open(tmp_path / "a.db", "s", window=10_000) as session:
        session.append(QUESTION)
        session.extend(ANSWERS[name])
        view = session.view()
        assert session.format == name
    assert is_plain(view)
    with foldline.Session.open(tmp_path / "a.db", "s") as session:
        assert session.view() == view


@wires
def test_count_gives_what_the_plain_messages_take(name):
    history = [QUESTION, *ANSWERS[name]]
    assert foldline.count(history) == foldline.count(to_json(history)) > 10


@wires
def test_a_follower_recognises_the_objects_of_an_sdk_when_they_come_again(name):
    with Follower(window=10_000) as follower:
        history: list[Any] = [QUESTION]
        follower.view(history)
        history += ANSWERS[name]
        assert follower.view(history) is history
        first = follower.session.name
        history.append({"role": "user", "content": "And then?"})
        assert follower.view(history) is history
        assert follower.session.name == first
        assert follower.session.length == len(history)


def test_signatures_ids_and_null_arguments_stay_and_empty_fields_go():
    thought, _, call = to_json(BLOCKS)
    assert thought["signature"] == "c2ln"
    assert call == {"type": "tool_use", "id": "c1", "name": "grep", "input": {"q": None}}
    assert to_json(ITEMS[0]) == {"type": "reasoning", "id": "rs_1", "summary": []}


def test_what_an_sdk_keeps_for_its_user_is_not_sent():
    block = ParsedResponseOutputText(
        type="output_text", text='{"a": 1}', annotations=[], parsed={"a": 1}
    )
    assert "parsed" not in to_json(block)


def test_what_is_json_already_stays_the_very_object():
    history = [QUESTION, {"role": "assistant", "content": [{"type": "text", "text": "a"}]}]
    assert to_json(history) is history


@pytest.mark.parametrize("given", [tuple, iter], ids=["tuple", "generator"])
def test_a_tuple_or_generator_of_messages_is_read_once_and_a_list_comes_back(given):
    messages = [{"role": "user", "content": f"{n} " * 300} for n in range(9)]
    assert foldline.compact(given(messages), budget=9_000).messages == messages
    short = foldline.compact(given(messages), budget=900)
    assert short.receipt.status == "compacted"
    assert short.messages == foldline.compact(messages, budget=900).messages
    assert foldline.count(given(messages)) == foldline.count(messages)
    assert foldline.compact({"messages": given(messages)}).messages == {"messages": messages}


def test_content_may_be_a_tuple():
    blocks = ({"type": "text", "text": "a"}, {"type": "text", "text": "b"})
    session = foldline.Session.open(None, "s", store=MemoryStore(), window=9_000)
    session.append({"role": "user", "content": blocks})
    assert session.view() == [{"role": "user", "content": list(blocks)}]


class Broken:
    def model_dump(self, **_: Any) -> Any:
        raise ValueError("no")


def test_a_model_that_cannot_be_written_is_an_input_error():
    with pytest.raises(InputError, match="of the type Broken cannot be written as JSON"):
        foldline.compact([QUESTION, Broken()])
