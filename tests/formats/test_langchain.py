import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)
from tests.corpus import corpus_files, requires_corpus

from foldline.errors import InputError
from foldline.formats.langchain import LangChainDialect
from foldline.formats.registry import DIALECTS
from foldline.values.edits import Insert, Rewrite, apply
from foldline.values.messages import Media, Message, Opaque, Text, Thinking, ToolCall, Usage
from foldline.values.transcript import Transcript

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
ARGS = {"path": "a.py", "body": "x" * 300}

KEYS = st.sampled_from(
    [
        *(
            "type",
            "content",
            "tool_calls",
            "additional_kwargs",
            "name",
            "args",
            "id",
            "tool_call_id",
        ),
        *(
            "text",
            "tool_use",
            "reasoning_content",
            "function",
            "arguments",
            "lc",
            "kwargs",
            "data",
        ),
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
MESSAGES = st.builds(
    lambda kind, rest: {**rest, "type": kind},
    st.sampled_from(["human", "ai", "tool", "system", "function", "chat", "remove"]),
    st.dictionaries(KEYS, VALUES, max_size=5),
)


def objects():
    """Return a conversation with calls in all three places."""
    return [
        SystemMessage("Be brief.", id="s"),
        HumanMessage("Fix it.", id="h"),
        AIMessage(
            content=[
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "c1", "name": "write", "input": ARGS},
                {"type": "tool_use", "id": "c2", "name": "read", "input": {"path": "b"}},
            ],
            tool_calls=[
                {"name": "write", "args": ARGS, "id": "c1"},
                {"name": "read", "args": {"path": "b"}, "id": "c2"},
            ],
            additional_kwargs={
                "reasoning_content": "Hm.",
                "tool_calls": [sent("c1", "write", ARGS), sent("c2", "read", {"path": "b"})],
            },
            usage_metadata={
                "input_tokens": 100,
                "output_tokens": 7,
                "total_tokens": 107,
                "input_token_details": {"cache_read": 60, "cache_creation": 30},
            },
            id="a",
        ),
        ToolMessage("written", tool_call_id="c1", id="t1", artifact={"rows": 3}),
        ToolMessage([{"type": "text", "text": "no such file"}], tool_call_id="c2", status="error"),
        AIMessage("Done.", id="z"),
    ]


def sent(number, name, args):
    function = {"name": name, "arguments": json.dumps(args)}
    return {"id": number, "type": "function", "function": function}


def state():
    return [message.model_dump() for message in objects()]


def constructors():
    return [dumpd(message) for message in objects()]


SHAPES = {
    "objects": objects,
    "state": state,
    "constructors": constructors,
    "type and data": lambda: messages_to_dict(objects()),
}


@pytest.fixture(params=SHAPES)
def wire(request):
    return SHAPES[request.param]()


def fields(item):
    if isinstance(item, dict):
        return item.get("kwargs") or item.get("data") or item
    return item.__dict__


def edited(wire, *edits):
    transcript = LangChainDialect().decode(wire)
    made = [Rewrite(transcript.messages[m].id, part, text, "clear") for m, part, text in edits]
    return LangChainDialect().encode(transcript.with_messages(apply(transcript.messages, made)))


class TestReading:
    def test_every_shape_reads_the_same(self, wire):
        transcript = LangChainDialect().decode(wire)
        messages = transcript.messages
        assert [m.role for m in messages] == [
            *("system", "user", "assistant", "tool", "tool", "assistant")
        ]
        assert messages[2].parts == (
            Thinking("Hm."),
            Text("Let me see."),
            ToolCall("c1", "write", json.dumps(ARGS)),
            ToolCall("c2", "read", '{"path": "b"}'),
        )
        assert messages[2].usage == Usage(10, 7, 60, 30)
        assert [r.is_error for m in messages for r in m.results] == [False, True]
        assert LangChainDialect().validate(wire) == []
        assert LangChainDialect().recognises(wire) == 1.0

    @pytest.mark.parametrize(
        ("given", "details", "usage"),
        [
            (12, {"cache_read": 52_000, "cache_creation": 300}, Usage(0, 5, 52_000, 300)),
            (12, {"cache_read": 10}, Usage(2, 5, 10, 0)),
        ],
    )
    def test_cached_tokens_reported_apart_from_the_input_are_counted(self, given, details, usage):
        reported = {"input_tokens": given, "output_tokens": 5, "input_token_details": details}
        wire = [{"type": "ai", "content": "Done.", "usage_metadata": reported}]
        assert LangChainDialect().decode(wire).messages[0].usage == usage

    def test_a_usage_of_no_tokens_is_a_usage(self):
        wire = [{"type": "ai", "content": "Done.", "usage_metadata": {"input_tokens": 0}}]
        assert LangChainDialect().decode(wire).messages[0].usage == Usage()

    def test_calls_are_read_once_wherever_they_stand(self):
        call = {"name": "f", "args": {}, "id": "1"}
        block = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
        for rest in (
            {"tool_calls": [call], "content": ""},
            {"tool_calls": [call], "content": [block]},
            {"content": [block]},
            {"content": [{"type": "tool_call", "id": "1", "name": "f", "args": {}}]},
            {"content": "", "additional_kwargs": {"tool_calls": [sent("1", "f", {})]}},
            {
                "tool_calls": [],
                "content": "",
                "additional_kwargs": {"tool_calls": [sent("1", "f", {})]},
            },
        ):
            (message,) = LangChainDialect().decode([{"type": "ai", **rest}]).messages
            assert message.parts == (ToolCall("1", "f", "{}"),)

    def test_calls_that_could_not_be_parsed_are_calls(self):
        invalid = {"name": "f", "args": '{"a":', "id": "1", "error": "bad"}
        message = {"type": "ai", "content": "", "tool_calls": [], "invalid_tool_calls": [invalid]}
        assert LangChainDialect().decode([message]).messages[0].calls == (
            ToolCall("1", "f", '{"a":'),
        )

    @pytest.mark.parametrize(
        ("block", "part"),
        [
            ({"type": "thinking", "thinking": "t", "signature": "s"}, Thinking("t", signed=True)),
            ({"type": "redacted_thinking", "data": "s"}, Thinking("", signed=True)),
            ({"type": "reasoning", "reasoning": "t"}, Thinking("t")),
            (
                {"type": "reasoning", "summary": [{"text": "t"}], "encrypted_content": "e"},
                Thinking("t", signed=True),
            ),
        ],
    )
    def test_reasoning_blocks(self, block, part):
        wire = [{"type": "ai", "content": [block, {"type": "text", "text": "x"}]}]
        assert LangChainDialect().decode(wire).messages[0].parts == (part, Text("x"))

    @pytest.mark.parametrize(
        "block",
        [
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
            {"type": "image_url", "image_url": f"data:image/png;base64,{PIXEL}"},
            {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"},
            {"type": "image", "source_type": "base64", "mime_type": "image/png", "data": PIXEL},
            {"type": "image", "base64": PIXEL, "mime_type": "image/png"},
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
            },
            {"type": "media", "mime_type": "image/png", "data": PIXEL},
        ],
    )
    def test_images_in_every_shape_are_media(self, block):
        (part,) = (
            LangChainDialect().decode([{"type": "human", "content": [block]}]).messages[0].parts
        )
        assert isinstance(part, Media)
        assert (part.kind, part.media_type, part.size) == (
            "image",
            "image/png",
            len(PIXEL) * 3 // 4,
        )

    @pytest.mark.parametrize(
        "block",
        [
            {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PIXEL}"}},
            {"type": "file", "base64": PIXEL, "mime_type": "application/pdf"},
            {"type": "media", "mime_type": "application/pdf", "data": PIXEL},
        ],
    )
    def test_documents_are_media(self, block):
        (part,) = (
            LangChainDialect().decode([{"type": "human", "content": [block]}]).messages[0].parts
        )
        assert isinstance(part, Media)
        assert (part.kind, part.media_type) == ("document", "application/pdf")

    def test_unknown_blocks_are_carried(self):
        wire = [{"type": "human", "content": [{"type": "new_thing", "text": "t", "data": "QUJD"}]}]
        transcript = LangChainDialect().decode(wire)
        assert transcript.messages[0].parts == (Opaque("new_thing", "t"),)
        assert LangChainDialect().encode(transcript) == wire

    def test_chunks_of_a_stream_are_messages(self):
        piece = {"name": "f", "args": '{"a": 1}', "id": "1", "index": 0}
        wire = [HumanMessage("q"), AIMessageChunk("x", tool_call_chunks=[piece])]
        message = LangChainDialect().decode(wire).messages[1]
        assert (message.role, message.calls) == ("assistant", (ToolCall("1", "f", '{"a": 1}'),))
        changed = edited(wire, (1, 1, '{"a": 2}'))[1]
        assert changed.tool_calls[0]["args"] == {"a": 2}
        assert changed.tool_call_chunks[0]["args"] == '{"a": 2}'

    @pytest.mark.parametrize(
        ("wire", "index", "field"),
        [
            ([{"type": "human", "content": "a"}, {"content": "b"}], 1, "type"),
            ([{"type": "narrator", "content": "a"}], 0, "type"),
            ([{"type": "tool", "content": "a"}], 0, "tool_call_id"),
            ([{"type": "ai", "content": "", "tool_calls": {}}], 0, "tool_calls"),
            ([{"type": "human", "content": 3}], 0, "content"),
            ([{"type": "human", "content": [3]}], 0, "content[0]"),
            (["hello"], 0, ""),
            ({"messages": "hello"}, None, "messages"),
            ("hello", None, ""),
        ],
    )
    def test_bad_input_names_message_and_field(self, wire, index, field):
        with pytest.raises(InputError) as caught:
            LangChainDialect().decode(wire)
        assert (caught.value.index, caught.value.field) == (index, field)


class TestWriting:
    def test_untouched_messages_are_the_same_objects(self, wire):
        out = LangChainDialect().encode(LangChainDialect().decode(wire))
        assert all(new is old for new, old in zip(out, wire, strict=True))

    def test_what_surrounds_the_messages_stays(self):
        for body in ({"messages": state(), "next": []}, {"values": {"messages": state(), "n": 1}}):
            assert LangChainDialect().encode(LangChainDialect().decode(body)) == body

    def test_changed_arguments_change_everywhere(self, wire):
        out = edited(wire, (2, 2, '{"path": "a.py"}'))
        changed = fields(out[2])
        assert changed["content"][1]["input"] == {"path": "a.py"}
        assert changed["tool_calls"][0]["args"] == {"path": "a.py"}
        assert changed["additional_kwargs"]["tool_calls"][0]["function"] == {
            "name": "write",
            "arguments": '{"path": "a.py"}',
        }
        assert changed["content"][2] == fields(wire[2])["content"][2]
        assert changed["tool_calls"][1] == fields(wire[2])["tool_calls"][1]
        assert "xxx" not in repr(out)
        assert (changed["id"], changed["usage_metadata"]["output_tokens"]) == ("a", 7)

    def test_a_dropped_call_is_dropped_everywhere(self, wire):
        changed = fields(edited(wire, (2, 2, None), (2, 0, None))[2])
        assert [block.get("id") for block in changed["content"]] == [None, "c2"]
        assert [call["id"] for call in changed["tool_calls"]] == ["c2"]
        assert changed["additional_kwargs"] == {"tool_calls": [sent("c2", "read", {"path": "b"})]}

    def test_a_cleared_result_keeps_its_id_status_and_artifact(self, wire):
        out = edited(wire, (3, 0, "[cleared]"), (4, 0, "[cleared]"))
        first, second = fields(out[3]), fields(out[4])
        assert (first["content"], first["id"]) == ("[cleared]", "t1")
        assert first["artifact"] == {"rows": 3}
        assert (second["content"], second["status"]) == (["[cleared]"], "error")
        assert [out[i] is wire[i] for i in range(6)] == [True, True, True, False, False, True]
        assert LangChainDialect().validate(out) == []

    def test_the_input_is_never_changed(self, wire):
        before = repr(wire)
        edited(wire, (2, 2, "{}"), (2, 0, None), (3, 0, "x"))
        assert repr(wire) == before

    @pytest.mark.parametrize(
        ("shape", "expected"),
        [
            ("objects", HumanMessage("Summary.")),
            ("state", {"type": "human", "content": "Summary."}),
            ("constructors", dumpd(HumanMessage("Summary."))),
            ("type and data", {"type": "human", "data": {"content": "Summary.", "type": "human"}}),
        ],
    )
    def test_a_summary_has_the_shape_of_the_conversation(self, shape, expected):
        transcript = LangChainDialect().decode(SHAPES[shape]())
        summary = Message("user", (Text("Summary."),), id="n")
        shown = apply(transcript.messages, [Insert(transcript.messages[0].id, summary)])
        assert LangChainDialect().encode(transcript.with_messages(shown))[1] == expected
        assert LangChainDialect().encode(transcript.with_messages([summary])) == [expected]

    def test_calls_that_stand_in_additional_kwargs_only(self):
        extra = {"function_call": {"name": "f", "arguments": '{"a": 1}'}, "refusal": None}
        wire = [{"type": "ai", "content": "", "additional_kwargs": extra}]
        (changed,) = edited([*wire, {"type": "human", "content": "x"}], (0, 0, "{}"))[:1]
        assert changed["additional_kwargs"]["function_call"] == {"name": "f", "arguments": "{}"}


class TestConversion:
    @pytest.mark.parametrize("name", DIALECTS)
    def test_every_other_dialect_accepts_it_and_gives_it_back(self, name, wire):
        other = DIALECTS[name]
        there = other.encode(LangChainDialect().decode(wire))
        assert other.validate(there) == []
        back = LangChainDialect().encode(other.decode(there))
        assert LangChainDialect().validate(back) == []
        said = [m for m in LangChainDialect().decode(back).messages if m.role != "system"]
        assert [c.name for m in said for c in m.calls] == ["write", "read"]
        assert [r.text for m in said for r in m.results] == ["written", "no such file"]
        assert said[-1].text == "Done."

    def test_media_travels_with_its_bytes(self):
        image = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
        pdf = {"inlineData": {"mimeType": "application/pdf", "data": PIXEL}}
        transcript = DIALECTS["gemini"].decode([{"role": "user", "parts": [image, pdf]}])
        (message,) = LangChainDialect().encode(transcript)
        assert [block["type"] for block in message["content"]] == ["image_url", "file"]
        assert DIALECTS["gemini"].encode(LangChainDialect().decode([message])) == [
            {"role": "user", "parts": [image, pdf]}
        ]

    def test_foreign_signed_thinking_is_left_out(self):
        parts = (Thinking("secret", signed=True), Thinking("open"), Text("hi"))
        out = LangChainDialect().encode(Transcript.of([Message("assistant", parts)], "other"))
        extra = {"reasoning_content": "open"}
        assert out == [{"type": "ai", "content": "hi", "additional_kwargs": extra}]


class TestHostileInput:
    @given(VALUES | st.lists(MESSAGES | VALUES, max_size=4))
    def test_only_input_errors_and_no_crash_in_validate(self, wire):
        try:
            transcript = LangChainDialect().decode(wire)
        except InputError:
            pass
        else:
            assert LangChainDialect().encode(transcript) == wire
        assert isinstance(LangChainDialect().validate(wire), list)
        assert 0 <= LangChainDialect().recognises(wire) <= 1


@pytest.mark.corpus
@requires_corpus
def test_real_threads_survive_unchanged():
    for file in corpus_files("langchain-"):
        data = file.read_bytes()
        wire = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        assert LangChainDialect().encode(LangChainDialect().decode(wire)) == wire
        # Two of the threads have one answer each in which the model wrote nothing.
        assert {violation.rule for violation in LangChainDialect().validate(wire)} <= {"empty"}
