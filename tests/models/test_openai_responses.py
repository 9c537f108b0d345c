from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.outcomes import check_outcome
from tests.models.test_openai_chat import JSON

from foldline.errors import ModelError
from foldline.models.completion import CompletionRequest, ServerSentEvent
from foldline.models.info import ModelInfo
from foldline.models.openai import OpenAIResponsesProtocol

MESSAGE = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "a"}],
}
FIELDS = ("output", "content", "usage", "error", "type", "response", "item", "delta", "status")


def read(**body):
    return OpenAIResponsesProtocol().read(body)


def streamed(*events):
    assembler = OpenAIResponsesProtocol().assembler()
    for event in events:
        assembler.take(ServerSentEvent("", json.dumps(event)))
    return OpenAIResponsesProtocol().read(assembler.whole())


def test_reasoning_is_kept_for_the_next_request_and_separate_from_text():
    thought = {
        "type": "reasoning",
        "id": "r",
        "encrypted_content": "x",
        "summary": [{"type": "summary_text", "text": "hmm"}],
    }
    done = read(status="completed", output=[thought, MESSAGE])
    assert (done.text, done.thinking) == ("a", "hmm")
    assert done.messages == (thought, MESSAGE)


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("max_output_tokens", "length"),
        ("content_filter", "refusal"),
        ("odd", "unknown"),
        (3, "unknown"),
    ],
)
def test_an_incomplete_answer_has_a_stop_reason(reason, stop):
    body = {"status": "incomplete", "incomplete_details": {"reason": reason}, "output": [MESSAGE]}
    assert read(**body).stop == stop


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_an_answer_that_failed_is_raised(status):
    with pytest.raises(ModelError):
        read(status=status, error=None, output=[])
    with pytest.raises(ModelError, match="busy") as caught:
        read(status=status, error={"code": "server_error", "message": "busy"}, output=[])
    assert caught.value.retry


def test_both_kinds_of_calls_are_read():
    output = [
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "2", "name": "g", "input": "free text"},
    ]
    done = read(status="completed", output=output)
    assert [(c.id, c.name, c.arguments) for c in done.calls] == [
        ("1", "f", "{}"),
        ("2", "g", "free text"),
    ]
    assert done.stop == "tools"


def test_items_are_read_from_the_stream_if_the_last_event_has_none():
    done = streamed(
        {"type": "response.output_item.done", "output_index": 0, "item": MESSAGE},
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    )
    assert done.text == "a"


def test_nothing_is_stored_on_the_server_and_reasoning_is_encrypted():
    info = ModelInfo("gpt-5", provider="openai", thinks=True)
    body = OpenAIResponsesProtocol().body(
        CompletionRequest("gpt-5", info, [MESSAGE], max_tokens=5)
    )
    assert body["store"] is False
    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["max_output_tokens"] == 5
    other = OpenAIResponsesProtocol().body(CompletionRequest("m", ModelInfo("m"), []))
    assert "include" not in other


@given(
    st.dictionaries(
        st.sampled_from(FIELDS),
        JSON | st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=3), max_size=2),
    )
)
def test_any_json_is_read_as_an_answer_or_rejected_with_a_reason(body):
    check_outcome(lambda: OpenAIResponsesProtocol().read(body))
    check_outcome(lambda: streamed(body))
