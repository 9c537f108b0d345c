"""Answers of real servers that are compatible with chat completions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.outcomes import check_outcome

from foldline.errors import ModelError
from foldline.models.completion import CompletionRequest, ServerSentEvent
from foldline.models.info import ModelInfo
from foldline.models.openai import OpenAIChatProtocol
from foldline.values.messages import Usage

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
FIELDS = ("choices", "message", "content", "tool_calls", "function", "usage", "error", "delta")


def answer(message: dict, reason: str = "stop", **more):
    body = {"choices": [{"message": message, "finish_reason": reason}], **more}
    return OpenAIChatProtocol().read(body)


def streamed(*chunks, done: bool = True):
    assembler = OpenAIChatProtocol().assembler()
    pieces = [
        p for chunk in chunks for p in assembler.take(ServerSentEvent("", json.dumps(chunk)))
    ]
    if done:
        assembler.take(ServerSentEvent("", "[DONE]"))
    return pieces, OpenAIChatProtocol().read(assembler.whole())


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2}, Usage(9, 2)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
            },
            Usage(2, 2, 4, 3),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 5},
            Usage(4, 2, 5),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 99}, Usage(0, 2, 9)),
        ({"prompt_tokens": -9, "completion_tokens": True}, None),
        ([], None),
        (None, None),
    ],
)
def test_usage_is_read_in_every_way_of_reporting_the_cache(usage, expected):
    assert answer({"content": "ok"}, usage=usage).usage == expected


def test_arguments_sent_as_an_object_become_text():
    call = {"id": "1", "function": {"name": "read", "arguments": {"path": "ä"}}}
    (found,) = answer({"content": None, "tool_calls": [call]}).calls
    assert (found.id, found.name, found.arguments) == ("1", "read", '{"path": "ä"}')


def test_a_call_sets_the_stop_even_if_the_server_reports_stop():
    call = {"id": "1", "function": {"name": "read", "arguments": "{}"}}
    assert answer({"tool_calls": [call]}, "stop").stop == "tools"
    assert answer({"tool_calls": [call]}, "length").stop == "length"


def test_content_in_parts_is_joined_and_the_wire_kept_unchanged():
    content = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    done = answer({"role": "assistant", "content": content, "x": 1})
    assert done.text == "ab"
    assert done.message == {"role": "assistant", "content": content, "x": 1}


def test_reasoning_is_not_an_answer():
    done = answer({"content": "42", "reasoning_content": "hmm"})
    assert (done.text, done.thinking) == ("42", "hmm")


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "upstream", "code": 502}},
        {"choices": [{"error": {"message": "upstream", "code": 502}, "message": {}}]},
        {"choices": []},
        {"choices": None},
        {},
    ],
)
def test_an_error_inside_an_answer_is_raised(body):
    with pytest.raises(ModelError):
        OpenAIChatProtocol().read(body)


def test_calls_without_an_index_are_whole_calls():
    calls = [
        {"id": str(n), "function": {"name": "read", "arguments": json.dumps({"n": n})}}
        for n in range(3)
    ]
    chunks = [{"choices": [{"delta": {"tool_calls": [call]}}]} for call in calls]
    _, done = streamed(*chunks, {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    assert [json.loads(call.arguments)["n"] for call in done.calls] == [0, 1, 2]


def test_only_the_first_choice_is_read():
    pieces, done = streamed(
        {"choices": [{"index": 0, "delta": {"content": "a"}}]},
        {"choices": [{"index": 1, "delta": {"content": "b"}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}},
    )
    assert ("".join(piece.text for piece in pieces), done.usage) == ("a", Usage(3, 1))


def test_a_stream_without_an_end_is_not_an_answer():
    with pytest.raises(ModelError) as caught:
        streamed({"choices": [{"delta": {"content": "a"}}]}, done=False)
    assert caught.value.retry


def test_openai_models_use_another_field_for_the_cap():
    own, other = ModelInfo("gpt-5", provider="openai"), ModelInfo("glm", provider="zhipu")
    for info, key in ((own, "max_completion_tokens"), (other, "max_tokens")):
        body = OpenAIChatProtocol().body(
            CompletionRequest("m", info, [], max_tokens=7, system="s", stream=True)
        )
        assert body[key] == 7
        assert body["messages"] == [{"role": "system", "content": "s"}]
        assert body["stream_options"] == {"include_usage": True}


@given(
    st.dictionaries(
        st.sampled_from(FIELDS),
        JSON | st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=3), max_size=2),
    )
)
def test_any_json_is_read_as_an_answer_or_rejected_with_a_reason(body):
    check_outcome(lambda: OpenAIChatProtocol().read(body))
    check_outcome(lambda: streamed(body)[1])
