from __future__ import annotations

import json

from tests.formats.anthropic_wire import PNG, answer, anthropic, conversation, edited, thought, use

from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.formats.openai_responses import OpenAIResponsesDialect
from foldline.values.edits import Drop, Rewrite, apply
from foldline.values.groups import group
from foldline.values.messages import Message, Text, ToolResult
from foldline.values.transcript import Transcript

# --- writing -------------------------------------------------------------------------------


def test_a_cleared_result_keeps_its_block_and_its_neighbour() -> None:
    wire = conversation()
    written = edited(wire, (2, 1, "[cleared]"))
    assert written[2]["content"][0] is wire[2]["content"][0]
    assert written[2]["content"][1] == {**wire[2]["content"][1], "content": "[cleared]"}
    assert written[:2] == wire[:2]
    assert anthropic.validate(written) == []


def test_a_cleared_result_keeps_the_shape_of_its_content() -> None:
    written = edited(conversation(), (2, 0, "[cleared]"))
    assert written[2]["content"][0]["content"] == [{"type": "text", "text": "[cleared]"}]


def test_images_of_a_truncated_result_can_stay() -> None:
    wire = conversation()
    messages = anthropic.decode(wire).messages
    edit = Rewrite(messages[2].id, 0, "cut", "truncate", keep_media=True)
    content = anthropic.messages(apply(messages, [edit]))[2]["content"][0]["content"]
    assert content[0] == {"type": "text", "text": "cut"}
    assert content[1] is wire[2]["content"][0]["content"][1]


def test_an_edited_string_stays_a_string_and_an_edited_block_stays_a_block() -> None:
    written = edited(conversation(), (0, 0, "task"), (4, 0, "ok"))
    assert written[0] == {"role": "user", "content": "task"}
    assert written[4] == {"role": "user", "content": [{"type": "text", "text": "ok"}]}


def test_a_cache_breakpoint_survives_the_edit_of_its_text() -> None:
    mark = {"type": "ephemeral"}
    block = {"type": "text", "text": "long", "cache_control": mark}
    written = edited([{"role": "user", "content": [block]}], (0, 0, "short"))
    assert written[0]["content"] == [{**block, "text": "short"}]


def test_clearing_the_arguments_of_one_parallel_call_leaves_its_turn_whole() -> None:
    """F18: the calls of one step stay in one message, signed reasoning first and untouched."""
    wire = conversation()
    written = edited(wire, (1, 2, '{"note": "cleared"}'))
    blocks = written[1]["content"]
    assert blocks[0] is wire[1]["content"][0]
    assert blocks[1] is wire[1]["content"][1]
    assert blocks[2] == {**use("b"), "input": {"note": "cleared"}}
    assert anthropic.validate(written) == []


def test_arguments_that_are_no_longer_an_object_are_wrapped() -> None:
    written = edited(conversation(), (1, 1, "[cleared: 9 lines]"))
    assert written[1]["content"][1]["input"] == {"input": "[cleared: 9 lines]"}
    assert anthropic.validate(written) == []


def test_changed_arguments_are_an_object_even_if_they_were_text() -> None:
    wire = conversation()
    wire[1]["content"][2]["input"] = "ls"
    written = edited(wire, (1, 2, '{"note": "cleared"}'))
    assert written[1]["content"][2]["input"] == {"note": "cleared"}
    assert anthropic.validate(written) == []


def test_reasoning_is_kept_unchanged_or_removed_whole() -> None:
    """F19: a tool loop in the kept tail is legal with its thinking and without it."""
    wire = conversation()
    kept, bare = edited(wire, (0, 0, "summary")), edited(wire, (1, 0, None))
    assert kept[1] is wire[1]
    assert [block["type"] for block in bare[1]["content"]] == ["tool_use", "tool_use"]
    assert anthropic.validate(kept) == anthropic.validate(bare) == []


def test_a_message_without_remaining_content_is_not_written() -> None:
    wire = [*conversation()[:1], {"role": "assistant", "content": [thought()]}]
    assert edited(wire, (1, 0, None)) == wire[:1]


def test_messages_of_this_wire_stay_one_wire_message_each() -> None:
    separate = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [use("a"), use("b")]},
        {"role": "user", "content": [answer("a")]},
        {"role": "user", "content": [answer("b")]},
    ]
    written = edited(separate, (3, 0, "[cleared]"))
    assert len(written) == 4
    assert written[2] is separate[2]
    assert anthropic.validate(written) == []


def test_results_made_by_foldline_become_one_user_message() -> None:
    """F07: calls that were never answered are closed in one turn."""
    made = [
        Message("tool", (ToolResult("a", (Text("none recorded"),), is_error=True),), id="1"),
        Message("tool", (ToolResult("b", ()),), id="2"),
    ]
    messages = (*anthropic.decode(conversation()[:2]).messages, *made)
    written = anthropic.messages(messages)
    assert written[2:] == [
        {"role": "user", "content": [answer("a", "none recorded", is_error=True), answer("b", "")]}
    ]
    assert anthropic.validate([*written, {"role": "user", "content": "go on"}]) == []


def test_a_failed_result_is_never_empty() -> None:
    made = Message("tool", (ToolResult("a", (), is_error=True),))
    assert anthropic.messages([made])[0]["content"][0]["content"]


def test_every_tail_that_starts_with_a_result_is_reported() -> None:
    """F06, F15: after any cut, a result without its call is a violation."""
    messages = anthropic.decode(conversation()).messages
    for cut in range(1, 5):
        gone = tuple(message.id for message in messages[:cut])
        written = anthropic.messages(apply(messages, [Drop(gone, "window")]))
        rules = {violation.rule for violation in anthropic.validate(written)}
        assert ("pairing" in rules) == (cut == 2)


def test_dropping_whole_groups_never_breaks_the_pairing() -> None:
    """F02, F05: calls and results move together."""
    messages = anthropic.decode(conversation()).messages
    for doomed in group(messages):
        gone = tuple(messages[index].id for index in doomed.members)
        written = anthropic.messages(apply(messages, [Drop(gone, "window")]))
        rules = {violation.rule for violation in anthropic.validate(written)}
        assert rules <= {"first"}


# --- other dialects ------------------------------------------------------------------------


def chat() -> list[dict]:
    def call(number: str, arguments: str) -> dict:
        function = {"name": "read", "arguments": arguments}
        return {"id": number, "type": "function", "function": function}

    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "look"}, image]},
        {
            "role": "assistant",
            "content": "on it",
            "tool_calls": [call("functions.read:0", '{"path": "x"}'), call("c2", "not json")],
        },
        {"role": "tool", "tool_call_id": "functions.read:0", "content": "one"},
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
        {"role": "assistant", "content": "done"},
    ]


def test_a_chat_conversation_becomes_a_legal_body() -> None:
    tools = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
    body = anthropic.encode(OpenAIChatDialect().decode({"messages": chat(), "tools": tools}))
    schema = {"name": "read", "description": "", "input_schema": {"type": "object"}}
    assert body["system"] == "Be brief."
    assert body["tools"] == [schema]
    assert [message["role"] for message in body["messages"]] == ["user", "assistant"] * 2
    calls = [block for block in body["messages"][1]["content"] if block["type"] == "tool_use"]
    assert [call["id"] for call in calls] == ["functions_read_0", "c2"]
    assert [call["input"] for call in calls] == [{"path": "x"}, {"input": "not json"}]
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    assert body["messages"][0]["content"][1] == {"type": "image", "source": source}
    assert anthropic.validate(body) == []


def test_texts_survive_conversion_to_chat_and_back() -> None:
    there = OpenAIChatDialect().messages(anthropic.decode(conversation()).messages)
    back = anthropic.decode(anthropic.encode(OpenAIChatDialect().decode(there))).messages
    before = anthropic.decode(conversation()).messages
    assert [m.text for m in back] == [m.text for m in before]
    assert [[c.arguments for c in m.calls] for m in back] == [
        [c.arguments for c in m.calls] for m in before
    ]


def test_repeated_call_ids_of_another_wire_become_unique() -> None:
    step = chat()[2:5]
    wire = [chat()[1], *step, *step]
    written = anthropic.encode(OpenAIChatDialect().decode(wire))
    assert anthropic.validate(written) == []


def test_system_messages_in_the_middle_become_user_text() -> None:
    wire = [*chat()[1:], {"role": "system", "content": "now in French"}]
    written = anthropic.encode(OpenAIChatDialect().decode(wire))
    assert written[-1]["content"] == [{"type": "text", "text": "now in French"}]
    assert anthropic.validate(written) == []


def test_reasoning_of_another_provider_is_omitted() -> None:
    items = [
        {"role": "user", "content": "go"},
        {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "E" * 99},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
    ]
    written = anthropic.encode(OpenAIResponsesDialect().decode(items))
    assert "EEE" not in json.dumps(written)
    assert anthropic.validate(written) == []


def test_the_system_text_of_a_transcript_without_a_body_is_written() -> None:
    messages = anthropic.decode(conversation()).messages
    body = anthropic.encode(Transcript(messages, "anthropic", system="Be brief."))
    assert body == {"system": "Be brief.", "messages": conversation()}
