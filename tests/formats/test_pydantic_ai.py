import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai import BinaryContent, ImageUrl, ModelMessagesTypeAdapter
from pydantic_ai.messages import (
    FilePart,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from foldline import compact
from foldline.errors import InputError
from foldline.formats.registry import dialect
from foldline.values.edits import Rewrite, apply
from foldline.values.messages import (
    Media,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)

PYDANTIC = dialect("pydantic-ai")
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x02\x00\x00\x00\x03\x08\x02"

HISTORY: list[ModelRequest | ModelResponse] = [
    ModelRequest(
        [
            SystemPromptPart("You mend builds."),
            UserPromptPart(["Mend the build.", BinaryContent(data=PNG, media_type="image/png")]),
        ],
        instructions="Be brief.",
    ),
    ModelResponse(
        [
            ThinkingPart("Look first.", signature="c2ln", provider_name="anthropic", id="rs_1"),
            TextPart("I look.", id="msg_1"),
            ToolCallPart("read", {"path": "a.py"}, "call_1"),
            ToolCallPart("read", '{"path": "b.py"}', "call_2"),
        ],
        usage=RequestUsage(input_tokens=100, cache_read_tokens=60, output_tokens=9),
    ),
    ModelRequest(
        [
            ToolReturnPart("read", {"lines": ["x = 1"]}, "call_1", metadata={"size": 5}),
            ToolReturnPart("read", "There is no b.py.", "call_2", outcome="failed"),
        ]
    ),
    ModelResponse(
        [
            NativeToolCallPart("web_search", {"query": "mend"}, "s1", provider_name="openai"),
            NativeToolReturnPart("web_search", {"found": 3}, "s1", provider_name="openai"),
            FilePart(BinaryContent(data=PNG, media_type="image/png")),
            ToolCallPart("look", {}, "call_3", provider_details={"thought_signature": "c2ln"}),
        ]
    ),
    ModelRequest(
        [
            ToolReturnPart(
                "look", ["A chart:", BinaryContent(data=PNG, media_type="image/png")], "call_3"
            )
        ]
    ),
    ModelRequest([RetryFeedbackPart("Say more.", retry=RetryInfo(cause="model_retry"))]),
    ModelResponse([TextPart("Done.")]),
    ModelRequest([UserPromptPart([TextContent("And this?"), ImageUrl(url="https://x.y/a.png")])]),
]


@pytest.fixture
def wire() -> list[Any]:
    return ModelMessagesTypeAdapter.dump_python(HISTORY, mode="json")


def identified(wire: list[Any]) -> tuple[Message, ...]:
    return tuple(
        Message(m.role, m.parts, m.raw, m.dialect, f"m{index}", usage=m.usage)
        for index, m in enumerate(PYDANTIC.decode(wire).messages)
    )


def revived(wire: list[Any]) -> list[Any]:
    """Parse a history with the framework."""
    return ModelMessagesTypeAdapter.validate_json(json.dumps(wire))


# --- reading -------------------------------------------------------------------------------


@pytest.mark.requirement("K41")
def test_unchanged_values_are_written_as_the_original_objects(wire):
    transcript = PYDANTIC.decode(wire)
    written = PYDANTIC.encode(transcript)
    assert all(new is old for new, old in zip(written, wire, strict=True))
    assert PYDANTIC.validate(wire) == []
    assert PYDANTIC.recognises(wire) == 1.0


def test_every_kind_of_part_is_read(wire):
    messages = PYDANTIC.decode(wire).messages
    roles = ["user", "assistant", "tool", "assistant", "tool", "system", "assistant", "user"]
    assert [message.role for message in messages] == roles
    system, said, image = messages[0].parts
    assert isinstance(system, Opaque)
    assert system.text == "You mend builds."
    assert said == Text("Mend the build.")
    assert isinstance(image, Media)
    assert (image.media_type, image.width, image.height, image.size) == ("image/png", 2, 3, 27)
    thought, text, first, second = messages[1].parts
    assert thought == Thinking("Look first.", signed=True)
    assert text == Text("I look.")
    assert first == ToolCall("call_1", "read", '{"path": "a.py"}')
    assert second == ToolCall("call_2", "read", '{"path": "b.py"}')
    whole, failed = messages[2].results
    assert whole == ToolResult("call_1", (Text('{"lines": ["x = 1"]}'),), "read")
    assert failed.is_error
    assert [type(part) for part in messages[3].parts] == [Opaque, Opaque, Media, ToolCall]
    assert messages[3].calls[0].signed
    assert [type(part) for part in messages[4].results[0].content] == [Text, Media]
    assert messages[5].parts == (Opaque("retry-feedback", "Say more.", wire[5]["parts"][0]),)
    assert messages[7].text == "And this?"


def test_cached_tokens_are_counted_once(wire):
    usage = PYDANTIC.decode(wire).messages[1].usage
    assert usage is not None
    assert (usage.input, usage.cache_read, usage.output, usage.total) == (40, 60, 9, 109)


def test_cached_tokens_reported_apart_from_the_input_are_counted(wire):
    wire[1]["usage"] |= {"input_tokens": 12, "cache_read_tokens": 52_000}
    assert PYDANTIC.decode(wire).messages[1].usage == Usage(0, 9, 52_000)


def test_usage_of_several_requests_counts_the_last_window(wire):
    wire[1]["usage"]["input_tokens"] = 5_000
    wire[1]["metadata"] = {"__pydantic_ai__": {"context_input_tokens": 700}}
    usage = PYDANTIC.decode(wire).messages[1].usage
    assert usage is not None
    assert usage.total == 709


def test_an_old_retry_prompt_is_the_failed_result_of_its_call(wire):
    retry = {"content": "no", "tool_name": "read", "tool_call_id": "call_2"}
    wire[2]["parts"][1] = {**retry, "part_kind": "retry-prompt"}
    assert PYDANTIC.decode(wire).messages[2].results[1].is_error
    assert PYDANTIC.validate(wire) == []


# --- writing -------------------------------------------------------------------------------


def test_a_cleared_result_keeps_everything_but_its_content(wire):
    cleared = apply(identified(wire), [Rewrite("m2", 0, "[cleared]", "clear", "ab12")])
    written = PYDANTIC.messages(cleared)
    part = written[2]["parts"][0]
    assert part == {
        **{k: v for k, v in wire[2]["parts"][0].items() if k != "content_file_digests"},
        "content": "[cleared]",
    }
    assert written[2]["parts"][1] is wire[2]["parts"][1]
    assert written[1] is wire[1]
    again = revived(written)[2].parts[0]
    assert (again.content, again.metadata) == ("[cleared]", {"size": 5})


def test_media_stay_where_an_edit_keeps_them(wire):
    edit = Rewrite("m4", 0, "[cut]", "truncate", "ab12", keep_media=True)
    written = PYDANTIC.messages(apply(identified(wire), [edit]))
    content = revived(written)[4].parts[0].content
    assert content[0] == "[cut]"
    assert content[1].data == PNG


def test_a_cut_prompt_keeps_its_image(wire):
    written = PYDANTIC.messages(
        apply(identified(wire), [Rewrite("m0", 1, "Mend…", "truncate", "ab12")])
    )
    system, prompt = revived(written)[0].parts
    assert system.content == "You mend builds."
    assert prompt.content[0] == "Mend…"
    assert prompt.content[1].data == PNG
    assert written[0]["instructions"] == "Be brief."


@pytest.mark.requirement("F21")
def test_parts_lose_ids_bound_to_removed_reasoning(wire):
    written = PYDANTIC.messages(apply(identified(wire), [Rewrite("m1", 0, None, "reasoning")]))
    text, call, _ = revived(written)[1].parts
    assert (text.content, text.id) == ("I look.", None)
    assert call.tool_call_id == "call_1"


def test_a_signature_stays_on_its_call(wire):
    written = PYDANTIC.messages(
        apply(identified(wire), [Rewrite("m4", 0, "[cleared]", "clear", "ab12")])
    )
    assert written[3] is wire[3]


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_conversations_of_other_wires_become_valid_and_readable(name, wire):
    other = dialect(name)
    there = other.encode(PYDANTIC.decode(wire))
    assert other.validate(there) == []
    back = PYDANTIC.encode(other.decode(there))
    assert PYDANTIC.validate(back) == []
    assert "Mend the build." in str(revived(back)[0].parts) + str(revived(back)[1].parts)


@pytest.mark.requirement("K41")
def test_a_history_from_disk_is_compacted_in_its_own_format(wire):
    words = " ".join(f"line {number} of the file" for number in range(900))
    wire[2]["parts"][0]["content"] = words
    result = compact([*wire, *wire[6:7]], budget=3_000)
    assert result.receipt.status == "compacted"
    assert PYDANTIC.validate(result.messages) == []
    assert revived(result.messages)


# --- rules ---------------------------------------------------------------------------------


def test_a_result_without_its_call_and_a_call_without_its_result_are_reported(wire):
    rules = {violation.rule for violation in PYDANTIC.validate(wire[2:])}
    assert rules == {"pairing"}
    del wire[2]
    assert [violation.index for violation in PYDANTIC.validate(wire)] == [1, 1]


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ({"kind": "reply", "parts": []}, "type"),
        ("hello", "type"),
        ({"kind": "request", "parts": []}, "empty"),
        ({"kind": "request", "parts": ["text"]}, "type"),
        ({"kind": "request", "parts": [{"part_kind": "user-prompt", "content": ""}]}, "empty"),
        ({"kind": "request", "parts": [{"part_kind": "user-prompt", "content": 3}]}, "type"),
        ({"kind": "response", "parts": [{"part_kind": "tool-call", "args": {}}]}, "type"),
        ({"kind": "request", "parts": [{"part_kind": "tool-return"}]}, "pairing"),
    ],
)
def test_violations_are_reported(message, rule):
    assert rule in {violation.rule for violation in PYDANTIC.validate([message])}


@pytest.mark.parametrize(
    ("wire", "field"),
    [
        ([{"kind": "reply", "parts": []}], "kind"),
        ([{"kind": "request", "parts": {}}], "parts"),
        ([{"kind": "request", "parts": [7]}], "parts[0]"),
        ([{"kind": "request", "parts": [{"part_kind": "user-prompt"}]}], "parts[0].content"),
        (
            [{"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "f"}]}],
            "parts[0].tool_call_id",
        ),
    ],
)
def test_a_malformed_message_is_named(wire, field):
    with pytest.raises(InputError) as caught:
        PYDANTIC.decode(wire)
    assert (caught.value.index, caught.value.field) == (0, field)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
KINDS = ("user-prompt", "tool-return", "tool-call", "text", "thinking", "file", "retry-prompt")
PART = st.fixed_dictionaries(
    {"part_kind": st.sampled_from(KINDS)},
    optional=dict.fromkeys(("content", "tool_name", "tool_call_id", "args", "signature"), JSON),
)


@given(st.lists(PART | JSON, max_size=3), st.sampled_from(["request", "response"]))
def test_hostile_messages_are_read_or_rejected_without_a_crash(parts, kind):
    wire = [{"kind": kind, "parts": parts}]
    PYDANTIC.validate(wire)
    try:
        transcript = PYDANTIC.decode(wire)
    except InputError:
        return
    assert PYDANTIC.encode(transcript) == wire
