from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.anthropic_wire import (
    DATA,
    answer,
    anthropic,
    conversation,
    edited,
    thought,
    use,
)

from foldline.errors import InputError
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.formats.openai_responses import OpenAIResponsesDialect
from foldline.values.edits import Rewrite, apply
from foldline.values.messages import Media, Opaque, Thinking, ToolCall, visible_texts

# --- reading -------------------------------------------------------------------------------


def test_unchanged_messages_are_the_original_objects() -> None:
    wire = conversation()
    written = anthropic.encode(anthropic.decode(wire))
    assert written == wire
    assert all(new is old for new, old in zip(written, wire, strict=True))


def test_a_request_body_keeps_its_other_fields_and_provides_its_system_text() -> None:
    system = [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}]
    wire = {
        "model": "m",
        "system": system,
        "tools": [{"name": "read"}],
        "messages": conversation(),
    }
    transcript = anthropic.decode(wire)
    assert transcript.system == "Be brief.\nBe kind."
    assert transcript.tools == ({"name": "read"},)
    assert anthropic.encode(transcript) == wire


def test_every_kind_of_block_is_read_as_its_part() -> None:
    transcript = anthropic.decode(conversation())
    _, assistant, results, _, _ = transcript.messages
    assert assistant.parts[0] == Thinking("hm", signed=True)
    assert assistant.parts[1] == ToolCall("a", "read", '{"path": "x.py"}')
    assert [result.call_id for result in results.results] == ["a", "b"]
    assert results.results[0].text == "body"
    assert isinstance(results.results[0].content[1], Media)
    assert [result.is_error for result in results.results] == [False, True]


@pytest.mark.parametrize(
    ("extra", "role", "spoken"),
    [
        ([], "tool", False),
        ([{"type": "text", "text": "and now?"}], "user", True),
        (
            [{"type": "image", "source": {"type": "url", "url": "https://e.org/i.png"}}],
            "user",
            True,
        ),
    ],
)
def test_a_message_of_only_results_is_a_tool_message(extra: list, role: str, spoken: bool) -> None:
    wire = [{"role": "user", "content": [answer("a"), *extra]}]
    message = anthropic.decode(wire).messages[0]
    assert (message.role, message.is_from_user()) == (role, spoken)


def test_the_text_of_a_text_document_is_counted_and_the_bytes_of_a_pdf_are_not() -> None:
    text = {"type": "text", "media_type": "text/plain", "data": "chapter one"}
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQ="}
    blocks = [{"type": "document", "source": source} for source in (text, pdf)]
    message = anthropic.decode([{"role": "user", "content": blocks}]).messages[0]
    assert list(visible_texts(message)) == ["chapter one"]
    assert isinstance(message.parts[1], Media)
    assert message.parts[1].kind == "document"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s",
            "content": [
                {"type": "web_search_result", "title": "t", "encrypted_content": "E" * 999}
            ],
        },
        {"type": "mcp_tool_use", "id": "m", "name": "n", "server_name": "s", "input": {}},
        {"type": "compaction", "content": "what happened"},
        {"type": "a_block_of_tomorrow", "payload": {"deep": [1]}},
    ],
)
def test_provider_blocks_are_kept_without_their_secrets(block: dict) -> None:
    wire = [{"role": "assistant", "content": [block, {"type": "text", "text": "so"}]}]
    message = anthropic.decode(wire).messages[0]
    assert isinstance(message.parts[0], Opaque)
    assert "EEE" not in "".join(visible_texts(message))
    assert edited(wire, (0, 1, "less"))[0]["content"][0] is block


def test_signatures_and_redacted_reasoning_are_never_text() -> None:
    """F78: opaque bytes cost nothing, visible reasoning is counted."""
    redacted = {"type": "redacted_thinking", "data": "R" * 8000}
    wire = [{"role": "assistant", "content": [thought("short", "S" * 8000), redacted]}]
    message = anthropic.decode(wire).messages[0]
    assert list(visible_texts(message)) == ["short"]
    assert all(isinstance(part, Thinking) and part.signed for part in message.parts)


def test_usage_of_a_response_is_read() -> None:
    usage = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 90}
    message = {"role": "assistant", "content": "ok", "usage": usage}
    read = anthropic.decode([message]).messages[0].usage
    assert read is not None
    assert (read.total, read.cache_read) == (102, 90)


# --- recognising, hostile input ------------------------------------------------------------


def test_it_is_distinguished_from_similar_dialects() -> None:
    responses = OpenAIResponsesDialect()
    assert anthropic.recognises(conversation()) == 1.0
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    chat = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    assert anthropic.recognises(chat) == 0.0
    assert responses.recognises(conversation()) < anthropic.recognises(conversation())
    assert OpenAIChatDialect().recognises(conversation()) < anthropic.recognises(conversation())
    assert anthropic.recognises({"system": "s", "messages": conversation()[:1]}) > 0.6


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("hello", ""),
        ({"content": "x"}, "role"),
        ({"role": "tool", "content": "x"}, "role"),
        ({"role": "user"}, "content"),
        ({"role": "user", "content": [{"type": "text"}]}, "content[0].text"),
        ({"role": "assistant", "content": [{"type": "tool_use", "name": "f"}]}, "content[0].id"),
        ({"role": "user", "content": [{"type": "tool_result"}]}, "content[0].tool_use_id"),
    ],
)
def test_bad_input_names_the_message_and_the_field(message: object, field: str) -> None:
    with pytest.raises(InputError) as caught:
        anthropic.decode([{"role": "user", "content": "x"}, message])
    assert (caught.value.index, caught.value.field) == (1, field)


def test_arguments_nested_too_deeply_are_rejected() -> None:
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InputError):
        anthropic.decode([{"role": "assistant", "content": [use("a", deep=deep)]}])
    with pytest.raises(InputError):
        anthropic.decode([{"role": "user", "content": [{"type": "x", "deep": deep}]}])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
TYPES = ["text", "image", "document", "tool_use", "tool_result", "thinking", "redacted_thinking"]
KEYS = ["text", "id", "name", "input", "source", "content", "tool_use_id", "is_error", "thinking"]
blocks = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES) | json_values},
    optional={key: json_values | st.sampled_from(["a", "b"]) for key in KEYS},
)
hostile = st.lists(
    json_values
    | st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]) | json_values},
        optional={"content": st.lists(blocks | json_values, max_size=4) | json_values},
    ),
    max_size=4,
)


@given(hostile | st.dictionaries(st.sampled_from(["messages", "system", "tools"]), hostile))
def test_hostile_input_is_rejected_or_round_trips(wire: object) -> None:
    anthropic.recognises(wire)
    found = anthropic.validate(wire)
    assert all(str(violation) for violation in found)
    try:
        transcript = anthropic.decode(wire)
    except InputError:
        assert found or isinstance(wire, dict)
        return
    assert anthropic.encode(transcript) == wire
    edits = [Rewrite(message.id, 0, "cut", "clear") for message in transcript.messages]
    anthropic.messages(apply(transcript.messages, edits))
    for other in (OpenAIChatDialect(), OpenAIResponsesDialect()):
        other.encode(transcript)


@pytest.mark.corpus
def test_a_real_conversation_round_trips_without_violations() -> None:
    path = DATA / "moatless-tools" / "pytest-dev__pytest-11143.trajectory.json.gz"
    if not path.exists():
        pytest.skip(f"no transcripts at {DATA}")
    nodes = json.loads(gzip.decompress(path.read_bytes()))["nodes"]
    inputs = [
        node["completions"]["build_action"]["input"] for node in nodes if node["completions"]
    ]
    wire = inputs[-1]
    assert anthropic.encode(anthropic.decode(wire)) == wire
    assert anthropic.validate(wire) == []
