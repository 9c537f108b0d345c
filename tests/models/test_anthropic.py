from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.outcomes import check_outcome
from tests.models.test_openai_chat import JSON

from foldline.errors import ModelError
from foldline.models.anthropic import UNCAPPED, AnthropicProtocol
from foldline.models.completion import CompletionRequest, ServerSentEvent
from foldline.models.info import ModelInfo
from foldline.values.messages import Usage

FIELDS = ("type", "content", "usage", "error", "index", "delta", "content_block", "message")
KINDS = ("message_start", "content_block_start", "content_block_delta", "message_delta", "error")


def read(*blocks, reason: str = "end_turn", **more):
    return AnthropicProtocol().read({"content": list(blocks), "stop_reason": reason, **more})


def streamed(*events):
    assembler = AnthropicProtocol().assembler()
    for event in events:
        assembler.take(ServerSentEvent("", json.dumps(event)))
    return AnthropicProtocol().read(assembler.whole())


def block(kind: str, index: int = 0, **fields):
    return {
        "type": "content_block_start",
        "index": index,
        "content_block": {"type": kind, **fields},
    }


def delta(kind: str, index: int = 0, **fields):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "length"),
        ("tool_use", "tools"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "overflow"),
        ("pause_turn", "unknown"),
        ("compaction", "unknown"),
        (None, "unknown"),
    ],
)
def test_the_stop_reason_is_read(reason, stop):
    assert read({"type": "text", "text": "a"}, reason=reason).stop == stop


def test_cache_reads_and_writes_are_counted_separately():
    usage = {
        "input_tokens": 3,
        "output_tokens": 2,
        "cache_read_input_tokens": 50,
        "cache_creation_input_tokens": 7,
    }
    assert read(usage=usage).usage == Usage(3, 2, 50, 7)
    assert read(usage={"input_tokens": None}).usage is None


def test_signed_and_redacted_thinking_are_kept_unchanged():
    done = streamed(
        {"type": "message_start", "message": {"usage": {"input_tokens": 9}}},
        block("thinking", thinking="", signature=""),
        delta("thinking_delta", thinking="hm"),
        delta("thinking_delta", thinking="m"),
        delta("signature_delta", signature="sig"),
        block("redacted_thinking", 1, data="opaque"),
        block("text", 2, text=""),
        delta("text_delta", 2, text="ok"),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 4},
        },
        {"type": "message_stop"},
    )
    assert done.message["content"] == [
        {"type": "thinking", "thinking": "hmm", "signature": "sig"},
        {"type": "redacted_thinking", "data": "opaque"},
        {"type": "text", "text": "ok"},
    ]
    assert (done.text, done.thinking, done.usage) == ("ok", "hmm", Usage(9, 4))


def test_a_call_without_arguments_keeps_its_empty_object():
    done = streamed(
        {"type": "message_start", "message": {}},
        block("tool_use", id="1", name="now", input={}),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    )
    assert (done.calls[0].arguments, done.message["content"][0]["input"]) == ("{}", {})


def test_partial_arguments_are_not_taken_for_complete_ones():
    done = streamed(
        {"type": "message_start", "message": {}},
        block("tool_use", id="1", name="write", input={}),
        delta("input_json_delta", partial_json='{"path": "a'),
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
        {"type": "message_stop"},
    )
    assert done.stop == "length"
    assert done.message["content"][0]["input"] == {"input": '{"path": "a'}


@pytest.mark.parametrize(
    "events",
    [
        [{"type": "message_start", "message": {}}, block("text"), delta("text_delta", text="a")],
        [delta("text_delta", 7, text="a"), {"type": "message_stop"}],
        [{"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}],
    ],
)
def test_an_incomplete_stream_is_a_transient_error(events):
    with pytest.raises(ModelError) as caught:
        streamed(*events)
    assert caught.value.retry


@pytest.mark.requirement("C3")
def test_the_required_cap_does_not_exceed_the_models_own():
    for output, cap in ((4_096, 4_096), (64_000, UNCAPPED)):
        info = ModelInfo("m", 200_000, output)
        assert AnthropicProtocol().body(CompletionRequest("m", info, []))["max_tokens"] == cap
        assert (
            AnthropicProtocol().body(CompletionRequest("m", info, [], max_tokens=9))["max_tokens"]
            == 9
        )


@given(
    st.dictionaries(
        st.sampled_from(FIELDS),
        JSON
        | st.sampled_from(KINDS)
        | st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=3), max_size=2),
    )
)
def test_any_json_is_read_as_an_answer_or_rejected_with_a_reason(body):
    check_outcome(lambda: AnthropicProtocol().read(body))
    check_outcome(lambda: streamed(body, {"type": "message_stop"}))
