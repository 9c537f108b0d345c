from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.responses_wire import (
    DATA,
    PNG,
    conversation,
    output,
    reasoning,
    responses,
    text_item,
)

from foldline.errors import InputError
from foldline.formats.anthropic import AnthropicDialect
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.values.edits import Drop, Rewrite, apply
from foldline.values.groups import group
from foldline.values.messages import (
    Media,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    visible_texts,
)

# --- reading -------------------------------------------------------------------------------


def test_unchanged_items_are_the_original_objects() -> None:
    wire = conversation()
    written = responses.encode(responses.decode(wire))
    assert written == wire
    assert all(new is old for new, old in zip(written, wire, strict=True))


def test_a_request_body_keeps_its_other_fields_and_provides_its_instructions() -> None:
    body = {"model": "m", "instructions": "Be kind.", "tools": [{}], "input": conversation()}
    transcript = responses.decode(body)
    assert (transcript.system, transcript.tools) == ("Be kind.", ({},))
    assert responses.encode(transcript) == body


def test_an_input_string_is_one_user_message_until_more_follow() -> None:
    body = {"model": "m", "input": "hello"}
    transcript = responses.decode(body)
    assert responses.encode(transcript) == body
    longer = transcript.with_messages([*transcript.messages, Message("user", (Text("there"),))])
    assert responses.encode(longer)["input"][0] == {"role": "user", "content": "hello"}
    assert responses.validate(responses.encode(longer)) == []


def test_each_item_is_one_message_of_its_kind() -> None:
    messages = responses.decode(conversation()).messages
    roles = [
        "system",
        "user",
        *["assistant"] * 3,
        "tool",
        "tool",
        "assistant",
        "assistant",
        "user",
    ]
    assert [message.role for message in messages] == roles
    assert messages[2].parts == (Thinking("hm", signed=True),)
    assert messages[3].parts == (ToolCall("a", "read", '{"path": "x.py"}'),)
    assert messages[6].results[0].text == "two"


def test_reasoning_calls_and_outputs_move_together() -> None:
    """F02, F05: no group of a conversation can be dropped so that a pair is torn."""
    messages = responses.decode(conversation()).messages
    members = [doomed.members for doomed in group(messages)]
    assert (2, 3, 4, 5, 6) in members
    assert (7, 8) in members
    for doomed in members:
        gone = tuple(messages[index].id for index in doomed)
        written = responses.messages(apply(messages, [Drop(gone, "window")]))
        assert responses.validate(written) == []


@pytest.mark.parametrize(
    "item",
    [
        {"type": "web_search_call", "id": "ws", "action": {"query": "q"}},
        {"type": "image_generation_call", "id": "ig", "result": "E" * 9999},
        {"type": "compaction", "id": "cmp", "encrypted_content": "E" * 9999},
        {"type": "item_reference", "id": "msg_1"},
        {"id": "msg_1"},
        {"type": "tool_search_call", "call_id": None, "arguments": {}},
        {"type": "an_item_of_tomorrow", "payload": {}},
    ],
)
def test_provider_items_are_kept_without_their_secrets(item: dict) -> None:
    message = responses.decode([item]).messages[0]
    assert isinstance(message.parts[0], Opaque)
    assert not message.is_from_user()
    assert "EEE" not in "".join(visible_texts(message))
    assert responses.messages([message, Message("user", (Text("hi"),))])[0] is item


def test_encrypted_reasoning_is_never_text() -> None:
    """F78: opaque bytes cost nothing, the visible summary is counted."""
    item = {**reasoning(text="short"), "encrypted_content": "E" * 50_000}
    assert list(visible_texts(responses.decode([item]).messages[0])) == ["short"]


def test_images_are_media_in_every_position() -> None:
    url = f"data:image/png;base64,{PNG}"
    image = {"type": "input_image", "image_url": url, "detail": "low"}
    shot = {"type": "computer_screenshot", "image_url": url}
    wire = [
        {"role": "user", "content": [image]},
        output("c", [image]),
        {"type": "computer_call_output", "call_id": "d", "output": shot},
    ]
    first, second, third = responses.decode(wire).messages
    found = [*first.parts, *second.results[0].content, *third.results[0].content]
    assert [isinstance(part, Media) and part.size > 0 for part in found] == [True] * 3


# --- recognising, hostile input ------------------------------------------------------------


def test_it_is_distinguished_from_similar_dialects() -> None:
    plain = [{"role": "user", "content": "hi"}]
    assert responses.recognises(conversation()) == 1.0
    assert responses.recognises({"input": "hi"}) > 0.5
    assert responses.recognises({"input": plain}) > 0.5
    assert responses.recognises({"messages": plain}) == 0.0
    assert responses.recognises(plain) < OpenAIChatDialect().recognises(plain)
    assert (
        OpenAIChatDialect().recognises(conversation())
        == AnthropicDialect().recognises(conversation())
        == 0.0
    )


@pytest.mark.parametrize(
    ("item", "field"),
    [
        ("hello", ""),
        ({"type": 3}, "type"),
        ({"type": "message", "content": "x"}, "role"),
        ({"role": "tool", "content": "x"}, "role"),
        ({"role": "user", "content": 3}, "content"),
        ({"role": "user", "content": [3]}, "content[0]"),
        ({"role": "user", "content": [{"type": "input_text"}]}, "content[0].text"),
        ({"type": "function_call", "name": "f"}, "call_id"),
        ({"type": "function_call", "call_id": "c"}, "name"),
        ({"type": "function_call_output", "output": "x"}, "call_id"),
        ({"type": "function_call_output", "call_id": "c", "output": 3}, "output"),
        ({"type": "reasoning", "summary": 3}, "summary"),
    ],
)
def test_bad_input_names_the_item_and_the_field(item: object, field: str) -> None:
    with pytest.raises(InputError) as caught:
        responses.decode([text_item("user", "x"), item])
    assert (caught.value.index, caught.value.field) == (1, field)


def test_values_nested_too_deeply_are_rejected() -> None:
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    for item in (
        {"type": "shell_call", "call_id": "c", "action": {"deep": deep}},
        {"type": "web_search_call", "action": deep},
        {"type": "reasoning", "id": "r", "summary": [deep]},
    ):
        with pytest.raises(InputError):
            responses.decode([item])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
TYPES = [
    *("message", "reasoning", "function_call", "function_call_output", "custom_tool_call"),
    *("custom_tool_call_output", "local_shell_call", "local_shell_call_output", "shell_call"),
    *("shell_call_output", "apply_patch_call", "computer_call", "computer_call_output"),
    *("tool_search_call", "tool_search_output", "compaction", "item_reference"),
]
KEYS = ["id", "call_id", "name", "input", "arguments", "output", "action", "summary", "content"]
blocks = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["input_text", "output_text", "refusal", "input_image"])
        | json_values
    },
    optional=dict.fromkeys(("text", "refusal", "image_url", "stdout", "source"), json_values),
)
items = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES) | json_values},
    optional={
        "role": st.sampled_from(["user", "assistant"]) | json_values,
        **{
            key: json_values | st.sampled_from(["a", "b"]) | st.lists(blocks, max_size=3)
            for key in KEYS
        },
    },
)
hostile = st.lists(items | json_values, max_size=4)


@given(hostile | st.dictionaries(st.sampled_from(["input", "instructions", "tools"]), hostile))
def test_hostile_input_is_rejected_or_round_trips(wire: object) -> None:
    responses.recognises(wire)
    assert all(str(violation) for violation in responses.validate(wire))
    try:
        transcript = responses.decode(wire)
    except InputError:
        return
    assert responses.encode(transcript) == wire
    edits = [Rewrite(message.id, 0, "cut", "clear") for message in transcript.messages]
    responses.messages(apply(transcript.messages, edits))
    for other in (OpenAIChatDialect(), AnthropicDialect()):
        other.encode(transcript)


@pytest.mark.corpus
def test_a_real_session_round_trips_without_violations() -> None:
    path = DATA / "codex-jdx-mise" / "rollout-019f53a8-9c1b.jsonl.gz"
    if not path.exists():
        pytest.skip(f"no transcripts at {DATA}")
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    records = [json.loads(line) for line in lines]
    wire = [record["payload"] for record in records if record["type"] == "response_item"]
    assert responses.encode(responses.decode(wire)) == wire
    assert responses.validate(wire) == []
    assert AnthropicDialect().validate(AnthropicDialect().encode(responses.decode(wire))) == []
