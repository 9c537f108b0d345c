import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus import corpus_files, requires_corpus

from foldline.errors import InputError
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.formats.registry import DIALECTS
from foldline.values.edits import Drop, Insert, Rewrite, apply
from foldline.values.groups import group
from foldline.values.messages import Media, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from foldline.values.transcript import Transcript

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
URI = f"data:image/png;base64,{PIXEL}"

KEYS = st.sampled_from(
    [
        *("role", "content", "tool_calls", "tool_call_id", "id", "function", "name", "arguments"),
        *("type", "text", "image_url", "function_call", "reasoning_content", "custom", "input"),
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
MESSAGES = st.builds(
    lambda role, rest: {**rest, "role": role},
    st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"]),
    st.dictionaries(KEYS, VALUES, max_size=5),
)


def call(number, name="f", arguments="{}"):
    function = {"name": name, "arguments": arguments}
    return {"id": number, "type": "function", "function": function}


def tool(number, content="x", **rest):
    return {"role": "tool", "tool_call_id": number, "content": content, **rest}


def user(content="hi"):
    return {"role": "user", "content": content}


def assistant(content=None, calls=(), **rest):
    extra = {"tool_calls": list(calls)} if calls else {}
    return {"role": "assistant", "content": content, **extra, **rest}


CHAT = [
    {"role": "system", "content": "Be brief."},
    user(),
    assistant(
        None,
        [call("1", "read", '{"path": "a"}'), call("2", "write", '{"n":1}')],
        reasoning_content="Hm.",
        extra={"cost": 1},
    ),
    tool("2", "B" * 300, name="write"),
    tool("1", [{"type": "text", "text": "A" * 300}]),
    assistant("Done.", name="bot"),
]
LEGACY = [
    user(),
    assistant(None, function_call={"name": "f", "arguments": '{"a": 1}'}),
    {"role": "function", "name": "f", "content": "result"},
    assistant("Done."),
]


def edited(wire, *edits):
    transcript = OpenAIChatDialect().decode(wire)
    made = [Rewrite(transcript.messages[m].id, part, text, "clear") for m, part, text in edits]
    return OpenAIChatDialect().encode(transcript.with_messages(apply(transcript.messages, made)))


class TestReading:
    def test_messages_become_neutral_parts(self):
        messages = OpenAIChatDialect().decode(CHAT).messages
        assert messages[2].parts == (
            Thinking("Hm."),
            ToolCall("1", "read", '{"path": "a"}'),
            ToolCall("2", "write", '{"n":1}'),
        )
        assert messages[4].results[0].text == "A" * 300
        assert messages[5].name == "bot"
        assert [g.members for g in group(messages)] == [(0,), (1,), (2, 3, 4), (5,)]

    def test_a_result_far_from_its_call_stays_in_its_group(self):
        late = [user(), assistant(None, [call("1")]), user("wait"), assistant("hm"), tool("1")]
        assert (1, 4) in [g.members for g in group(OpenAIChatDialect().decode(late).messages)]

    def test_the_older_function_call_pairs_by_name(self):
        groups = group(OpenAIChatDialect().decode(LEGACY).messages)
        assert [g.members for g in groups] == [(0,), (1, 2), (3,)]

    def test_free_text_calls(self):
        custom = {"id": "1", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
        messages = OpenAIChatDialect().decode([assistant(None, [custom])]).messages
        assert messages[0].calls == (ToolCall("1", "patch", "*** Begin"),)
        changed = edited([user(), assistant(None, [custom])], (1, 0, "short"))
        assert changed[1]["tool_calls"][0]["custom"] == {"name": "patch", "input": "short"}

    @pytest.mark.parametrize(
        ("block", "kind", "media_type"),
        [
            ({"type": "image_url", "image_url": {"url": URI}}, "image", "image/png"),
            ({"type": "image_url", "image_url": URI}, "image", "image/png"),
            ({"type": "input_image", "image_url": URI}, "image", "image/png"),
            (
                {"type": "input_audio", "input_audio": {"data": PIXEL, "format": "mp3"}},
                "audio",
                "audio/mp3",
            ),
            (
                {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PIXEL}"}},
                "document",
                "application/pdf",
            ),
            (
                {"type": "image", "source": {"media_type": "image/png", "data": PIXEL}},
                "image",
                "image/png",
            ),
        ],
    )
    def test_media_in_every_shape_is_media(self, block, kind, media_type):
        for message in (user([block]), tool("1", [block])):
            (part,) = OpenAIChatDialect().decode([message]).messages[0].parts
            media = part.content[0] if isinstance(part, ToolResult) else part
            assert isinstance(media, Media)
            assert (media.kind, media.media_type, media.size) == (
                kind,
                media_type,
                len(PIXEL) * 3 // 4,
            )

    def test_references_are_media_without_bytes(self):
        blocks = [
            {"type": "image_url", "image_url": {"url": "https://x.y/a.png", "detail": "low"}},
            {"type": "file", "file": {"file_id": "file-1"}},
        ]
        image, file = OpenAIChatDialect().decode([user(blocks)]).messages[0].parts
        assert (image, file) == (Media("image", detail="low"), Media("document"))

    def test_unknown_blocks_are_carried(self):
        wire = [user([{"type": "new_thing", "data": "QUJD"}, {"no": "type"}])]
        transcript = OpenAIChatDialect().decode(wire)
        assert [
            part.kind for part in transcript.messages[0].parts if isinstance(part, Opaque)
        ] == [*("new_thing", "unknown")]
        assert OpenAIChatDialect().encode(transcript) == wire

    @pytest.mark.parametrize(
        ("wire", "index", "field"),
        [
            ([user(), {"content": "x"}], 1, "role"),
            ([{"role": "model", "content": ""}], 0, "role"),
            ([{"role": ["user"], "content": ""}], 0, "role"),
            ([user(3)], 0, "content"),
            ([user([3])], 0, "content[0]"),
            ([user([{"type": "text"}])], 0, "content[0].text"),
            ([user([{"type": "image_url", "image_url": {}}])], 0, "content[0].image_url.url"),
            ([assistant(None, tool_calls={})], 0, "tool_calls"),
            ([assistant(None, [{"id": "1"}])], 0, "tool_calls[0].function"),
            ([assistant(None, [call("1", None)])], 0, "tool_calls[0].function.name"),
            ([assistant(None, [call(7)])], 0, "tool_calls[0].id"),
            ([{"role": "tool", "content": "x"}], 0, "tool_call_id"),
            ({"model": "m"}, None, "messages"),
            ({"messages": [], "tools": 3}, None, "tools"),
        ],
    )
    def test_bad_input_names_message_and_field(self, wire, index, field):
        with pytest.raises(InputError) as caught:
            OpenAIChatDialect().decode(wire)
        assert (caught.value.index, caught.value.field) == (index, field)


class TestWriting:
    @pytest.mark.parametrize("wire", [CHAT, LEGACY, []])
    def test_untouched_messages_are_the_same_objects(self, wire):
        out = OpenAIChatDialect().encode(OpenAIChatDialect().decode(wire))
        assert all(new is old for new, old in zip(out, wire, strict=True))
        body = {"model": "m", "messages": wire, "tools": [{"type": "function"}]}
        assert OpenAIChatDialect().encode(OpenAIChatDialect().decode(body)) == body

    def test_a_cleared_result_keeps_its_other_fields(self):
        out = edited(CHAT, (3, 0, "[cleared]"), (4, 0, "[cleared]"))
        assert out[3] == tool("2", "[cleared]", name="write")
        assert out[4]["tool_call_id"] == "1"
        assert [out[i] is CHAT[i] for i in (0, 1, 2, 5)] == [True] * 4
        assert OpenAIChatDialect().validate(out) == []

    def test_a_changed_call_leaves_its_neighbour_alone(self):
        out = edited(CHAT, (2, 1, '{"path": "?"}'), (2, 0, None))[2]
        assert out["tool_calls"][0] == call("1", "read", '{"path": "?"}')
        assert out["tool_calls"][1] is CHAT[2]["tool_calls"][1]
        assert "reasoning_content" not in out
        assert out["extra"] == {"cost": 1}

    def test_without_its_calls_a_message_must_still_say_something(self):
        kept = edited([user(), assistant("text", [call("1")])], (1, 1, None))
        assert kept[1] == {"role": "assistant", "content": "text"}
        assert edited([user(), assistant(None, [call("1")])], (1, 0, None)) == [user()]

    def test_the_older_function_call_stays_one(self):
        out = edited(LEGACY, (1, 0, "{}"), (2, 0, "short"))
        assert out[1]["function_call"] == {"name": "f", "arguments": "{}"}
        assert out[2] == {"role": "function", "name": "f", "content": "short"}
        assert OpenAIChatDialect().validate(out) == []

    @pytest.mark.parametrize("before", [None, {"a": 1}])
    def test_changed_arguments_are_text_even_where_an_object_stood(self, before):
        listed = [user(), assistant(None, [call("1", arguments=before)]), tool("1")]
        older = [user(), {**LEGACY[1], "function_call": {"name": "f", "arguments": before}}]
        changed = [edited(wire, (1, 0, '{"b": 2}')) for wire in (listed, older)]
        assert changed[0][1]["tool_calls"][0]["function"]["arguments"] == '{"b": 2}'
        assert changed[1][1]["function_call"]["arguments"] == '{"b": 2}'
        assert [OpenAIChatDialect().validate(wire) for wire in changed] == [[], []]

    def test_text_beside_an_image_changes_alone(self):
        image = {"type": "image_url", "image_url": {"url": URI}}
        out = edited([user([{"type": "text", "text": "long"}, image])], (0, 0, "short"))
        assert out[0]["content"] == [{"type": "text", "text": "short"}, image]

    def test_a_made_up_result_and_a_summary_are_legal(self):
        wire = [user(), assistant(None, [call("1"), call("2")]), tool("2"), assistant("x")]
        transcript = OpenAIChatDialect().decode(wire)
        first, second, *_ = transcript.messages
        closing = Message("tool", (ToolResult("1", (Text("none"),), "f"),), id="c")
        summary = Message("user", (Text("Summary."),), id="s")
        edits = [Insert(second.id, closing), Insert(first.id, summary), Drop((first.id,), "w")]
        out = OpenAIChatDialect().encode(
            transcript.with_messages(apply(transcript.messages, edits))
        )
        assert out == [user("Summary."), wire[1], tool("1", "none"), *wire[2:]]
        assert OpenAIChatDialect().validate(out) == []


class TestConversion:
    @pytest.mark.parametrize("name", DIALECTS)
    @pytest.mark.parametrize("wire", [CHAT, LEGACY])
    def test_every_other_dialect_accepts_it_and_gives_it_back(self, name, wire):
        other = DIALECTS[name]
        there = other.encode(OpenAIChatDialect().decode(wire))
        assert other.validate(there) == []
        back = OpenAIChatDialect().encode(other.decode(there))
        back = back["messages"] if isinstance(back, dict) else back
        assert OpenAIChatDialect().validate(back) == []
        before, after = (OpenAIChatDialect().decode(w).messages for w in (wire, back))
        assert [m.text for m in before if m.text] == [m.text for m in after if m.text]
        assert [json.loads(c.arguments) for m in before for c in m.calls] == [
            json.loads(c.arguments) for m in after for c in m.calls
        ]
        assert sorted(r.text for m in before for r in m.results) == sorted(
            r.text for m in after for r in m.results
        )

    def test_calls_without_ids_get_ones_that_stay_the_same(self):
        call_part = ToolCall(None, "f", "free text")
        result = ToolResult(None, (Text("x"),), "f")
        messages = [
            Message("user", (Text("q"),)),
            Message("assistant", (call_part,)),
            Message("tool", (result,)),
        ]
        transcript = Transcript.of(messages, "other")
        out = OpenAIChatDialect().encode(transcript)
        assert OpenAIChatDialect().validate(out) == []
        assert out[1]["tool_calls"][0]["function"]["arguments"] == '{"input": "free text"}'
        assert OpenAIChatDialect().messages(transcript.messages[1:]) == out[1:]

    def test_assistant_messages_of_one_turn_share_a_message(self):
        messages = [
            Message("user", (Text("q"),)),
            Message("assistant", (ToolCall("1", "f", "{}"),)),
            Message("assistant", (ToolCall("2", "f", "{}"),)),
            Message("tool", (ToolResult("1", (Text("x"),)), ToolResult("2", (Text("y"),)))),
        ]
        out = OpenAIChatDialect().encode(Transcript.of(messages, "other"))
        assert [m["role"] for m in out] == ["user", "assistant", "tool", "tool"]
        assert OpenAIChatDialect().validate(out) == []

    def test_a_system_text_becomes_the_first_message(self):
        contents = [{"role": "user", "parts": [{"text": "hi"}]}]
        wire = {"systemInstruction": "Be brief.", "contents": contents}
        out = OpenAIChatDialect().encode(DIALECTS["gemini"].decode(wire))
        assert out == [{"role": "system", "content": "Be brief."}, user()]


@given(VALUES | st.lists(MESSAGES | VALUES, max_size=4))
def test_hostile_input_raises_input_errors_and_never_crashes_validate(wire):
    try:
        transcript = OpenAIChatDialect().decode(wire)
    except InputError:
        pass
    else:
        assert OpenAIChatDialect().encode(transcript) == wire
    assert isinstance(OpenAIChatDialect().validate(wire), list)
    assert 0 <= OpenAIChatDialect().recognises(wire) <= 1


@pytest.mark.corpus
@requires_corpus
def test_a_real_completion_log_survives_unchanged():
    (file,) = (f for f in corpus_files("openhands-sdk") if f.suffix == ".json")
    wire = json.loads(file.read_bytes())["messages"]
    assert OpenAIChatDialect().encode(OpenAIChatDialect().decode(wire)) == wire
    assert OpenAIChatDialect().validate(wire) == []
