from __future__ import annotations

from tests.formats.responses_wire import (
    PNG,
    conversation,
    edited,
    responses,
    text_item,
)

from foldline.formats.anthropic import AnthropicDialect
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.values.edits import Drop, apply
from foldline.values.messages import Message, Text, ToolCall, ToolResult
from foldline.values.transcript import Transcript

# --- writing -------------------------------------------------------------------------------


def test_a_cleared_output_keeps_its_item_and_its_shape() -> None:
    wire = conversation()
    written = edited(wire, (5, "[cleared]"), (6, "[cleared]"))
    assert written[5] == {**wire[5], "output": "[cleared]"}
    assert written[6] == {**wire[6], "output": [{"type": "input_text", "text": "[cleared]"}]}
    assert all(new is old for new, old in zip(written[:5], wire[:5], strict=True))
    assert responses.validate(written) == []


def test_an_edited_message_keeps_its_fields_and_its_shape() -> None:
    wire = conversation()
    written = edited(wire, (1, "task"), (8, "ok"))
    assert written[1] == {"role": "user", "content": "task"}
    assert written[8] == {**wire[8], "content": [{"type": "output_text", "text": "ok"}]}


def test_changed_arguments_stay_the_json_text_of_an_object() -> None:
    """F18: the other parallel call and the reasoning of both are unchanged."""
    wire = conversation()
    written = edited(wire, (3, "[cleared]"), (4, '{"note": "cleared"}'))
    assert written[3] == {**wire[3], "arguments": '{"input": "[cleared]"}'}
    assert written[4] == {**wire[4], "arguments": '{"note": "cleared"}'}
    assert written[2] is wire[2]
    assert responses.validate(written) == []


def test_removed_reasoning_removes_the_ids_bound_to_it() -> None:
    """F21: an assistant item keeps its id only together with its reasoning."""
    wire = conversation()
    written = edited(wire, (2, None))
    assert [item.get("type") for item in written[2:4]] == ["function_call"] * 2
    assert all("id" not in item for item in written[2:4])
    assert written[6] is wire[7]
    assert written[7] is wire[8]
    assert responses.validate(written) == []


def test_a_changed_item_keeps_its_id_only_beside_its_reasoning() -> None:
    """F21: if the reasoning may already be stripped, a change removes the id."""
    assert edited(conversation(), (8, "ok"))[8]["id"] == "msg_1"
    alone = [
        text_item("user", "hi"),
        text_item("assistant", "long", id="msg_9"),
        text_item("user", "go"),
    ]
    assert responses.encode(responses.decode(alone))[1] is alone[1]
    assert "id" not in edited(alone, (1, "short"))[1]


def test_every_tail_that_starts_with_an_output_is_reported() -> None:
    """F06, F15: after any cut, an output without its call is a violation."""
    messages = responses.decode(conversation()).messages
    for cut in range(1, 10):
        gone = tuple(message.id for message in messages[:cut])
        written = responses.messages(apply(messages, [Drop(gone, "window")]))
        rules = {violation.rule for violation in responses.validate(written)}
        assert ("pairing" in rules) == (cut in (4, 5, 6))


# --- other dialects ------------------------------------------------------------------------


def test_a_chat_conversation_becomes_legal_items() -> None:
    function = {"name": "read", "arguments": "not json"}
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    wire = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "look"}, image]},
        {
            "role": "assistant",
            "content": "on it",
            "reasoning_content": "hm",
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "assistant", "content": "done"},
    ]
    tools = [{"type": "function", "function": {"name": "read", "parameters": {}}}]
    body = responses.encode(OpenAIChatDialect().decode({"messages": wire, "tools": tools}))
    kinds = ["message"] * 3 + ["function_call", "function_call_output", "message"]
    assert [item["type"] for item in body["input"]] == kinds
    assert body["input"][1]["content"][1]["image_url"] == image["image_url"]["url"]
    assert body["input"][3]["arguments"] == '{"input": "not json"}'
    assert body["tools"][0]["name"] == "read"
    assert responses.validate(body) == []


def test_texts_survive_conversion_to_anthropic_and_back() -> None:
    before = responses.decode(conversation())
    body = AnthropicDialect().encode(before)
    assert AnthropicDialect().validate(body) == []
    back = responses.encode(AnthropicDialect().decode(body))
    assert responses.validate(back) == []
    assert back["instructions"] == "Be brief."
    after = responses.decode(back).messages
    assert [m.text for m in after if m.text] == ["fix it", "fixed", "thanks"]
    assert [c for m in after for c in m.calls] == [c for m in before.messages for c in m.calls]
    assert [r.text for m in after for r in m.results] == ["one", "two"]


def test_calls_without_ids_get_the_same_ones_on_every_request() -> None:
    foreign = Transcript.of(
        [
            Message("user", (Text("go"),), dialect="x"),
            Message(
                "assistant", (ToolCall(None, "f", "{}"), ToolCall(None, "f", "{}")), dialect="x"
            ),
            Message("tool", (ToolResult(None, (Text("1"),), "f"),), dialect="x"),
            Message("tool", (ToolResult(None, (Text("2"),), "f"),), dialect="x"),
        ],
        "x",
    )
    written = responses.encode(foreign)
    assert len({item["call_id"] for item in written[1:]}) == 2
    assert responses.validate(written) == []
    assert responses.messages(foreign.messages[1:])[0] == written[1]


def test_an_answer_and_a_question_of_one_message_become_two_items() -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": "c", "content": "x"},
        {"type": "text", "text": "and?"},
    ]
    written = responses.encode(AnthropicDialect().decode([{"role": "user", "content": blocks}]))
    assert [item["type"] for item in written] == ["function_call_output", "message"]


def test_the_instructions_of_a_transcript_without_a_body_are_written() -> None:
    messages = responses.decode(conversation()).messages
    body = responses.encode(Transcript(messages, "openai-responses", system="Be kind."))
    assert body == {"instructions": "Be kind.", "input": conversation()}
