import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus import corpus_files, requires_corpus

from foldline.errors import InputError
from foldline.formats.gemini import SKIP_SIGNATURE, GeminiDialect
from foldline.formats.registry import DIALECTS
from foldline.values.edits import Drop, Insert, Rewrite, apply
from foldline.values.groups import group, pair
from foldline.values.messages import Media, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from foldline.values.transcript import Transcript

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
WORDS = st.sampled_from(
    [
        *("role", "parts", "text", "thought", "functionCall", "function_response", "response"),
        *("name", "args", "id", "inlineData", "data", "user", "model", "contents", "output"),
    ]
)
VALUES = st.recursive(
    JSON | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)
CONTENTS = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "model"]),
        "parts": st.lists(st.dictionaries(WORDS, VALUES, max_size=3), max_size=3),
    }
)


def user(*parts):
    return {"role": "user", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


def model(*parts):
    return {"role": "model", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


def call(name, signature=None, number=None, **args):
    function = {"name": name, "args": args} | ({"id": number} if number else {})
    return {"functionCall": function} | ({"thoughtSignature": signature} if signature else {})


def answer(name, response, number=None):
    function = {"name": name, "response": response} | ({"id": number} if number else {})
    return {"functionResponse": function}


CHAT = [
    user("Fix it."),
    model({"text": "Hm.", "thought": True}, call("read", "sig", path="a"), call("read", path="b")),
    user(answer("read", {"output": "A" * 500, "exitCode": 0}), answer("read", {"error": "gone"})),
    model("Done."),
]
SNAKE = [
    user("Look."),
    {
        "role": "model",
        "parts": [
            {
                "text": None,
                "thought": None,
                "function_call": {"id": None, "name": "f", "args": {"x": 1}},
                "thought_signature": "s",
            }
        ],
    },
    {
        "role": "user",
        "parts": [
            {"function_response": {"id": None, "name": "f", "response": {"result": "long " * 50}}}
        ],
    },
]


def rewritten(wire, message, part, text):
    transcript = GeminiDialect().decode(wire)
    edit = Rewrite(transcript.messages[message].id, part, text, "clear", "h1")
    return GeminiDialect().encode(transcript.with_messages(apply(transcript.messages, [edit])))


class TestReading:
    def test_parts_become_neutral_parts(self):
        messages = GeminiDialect().decode(CHAT).messages
        assert [m.role for m in messages] == ["user", "assistant", "tool", "assistant"]
        assert messages[1].parts[0] == Thinking("Hm.")
        assert messages[1].parts[1] == ToolCall(None, "read", '{"path": "a"}', signed=True)
        assert [r.text for r in messages[2].results] == ["A" * 500, "gone"]
        assert [r.is_error for r in messages[2].results] == [False, True]

    def test_calls_without_ids_pair_by_name_and_order(self):
        pairing = pair(GeminiDialect().decode(CHAT).messages)
        assert len(pairing.answers) == 2
        assert not pairing.open
        assert not pairing.orphans

    @pytest.mark.parametrize(("call_id", "result_id"), [(None, "r1"), ("c1", None), ("c1", "c1")])
    def test_an_id_on_one_side_only_still_pairs(self, call_id, result_id):
        wire = [
            user("go"),
            model(call("f", number=call_id)),
            user(answer("f", {"output": "x"}, result_id)),
        ]
        transcript = GeminiDialect().decode(wire)
        assert [g.state for g in group(transcript.messages)] == ["closed", "closed"]
        assert GeminiDialect().encode(transcript) == wire

    def test_snake_case_dumps_of_the_sdk_are_read_and_kept(self):
        messages = GeminiDialect().decode(SNAKE).messages
        assert messages[1].calls == (ToolCall(None, "f", '{"x": 1}', signed=True),)
        assert messages[2].results[0].text == "long " * 50
        changed = rewritten(SNAKE, 2, 0, "short")
        inner = changed[2]["parts"][0]["function_response"]
        assert inner == {"id": None, "name": "f", "response": {"result": "short"}}

    def test_results_beside_text_stay_a_user_message(self):
        message = (
            GeminiDialect().decode([user(answer("f", {"output": "x"}), "and now?")]).messages[0]
        )
        assert message.role == "user"
        assert message.is_from_user()

    @pytest.mark.parametrize(
        "part",
        [
            {"inlineData": {"mimeType": "image/png", "data": PIXEL}},
            {"inline_data": {"mime_type": "image/png", "data": PIXEL}},
            {"fileData": {"mimeType": "image/png", "fileUri": "gs://bucket/a.png"}},
            {"file_data": {"mime_type": "image/png", "file_uri": "gs://bucket/a.png"}},
        ],
    )
    def test_media_is_never_text(self, part):
        (found,) = GeminiDialect().decode([user(part)]).messages[0].parts
        assert isinstance(found, Media)
        assert (found.kind, found.media_type) == ("image", "image/png")

    def test_media_in_a_function_response(self):
        part = answer("shot", {"output": "taken"})
        part["functionResponse"]["parts"] = [
            {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
        ]
        (result,) = GeminiDialect().decode([user(part)]).messages[0].results
        assert [type(piece) for piece in result.content] == [Text, Media]
        changed = rewritten([user("x"), model(call("shot")), user(part)], 2, 0, "cleared")
        assert changed[2]["parts"][0]["functionResponse"]["parts"] == []

    def test_unknown_and_code_parts_are_carried(self):
        wire = [
            model(
                {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
                {"brandNew": {"a": 1}},
                {"thoughtSignature": "s"},
                {"text": "", "thoughtSignature": "s"},
            )
        ]
        transcript = GeminiDialect().decode(wire)
        parts = transcript.messages[0].parts
        assert [(p.kind, p.text) for p in parts if isinstance(p, Opaque)] == [
            ("executableCode", "print(1)"),
            ("codeExecutionResult", "1"),
            ("brandNew", ""),
        ]
        assert parts[3:] == (Thinking("", signed=True), Thinking("", signed=True))
        assert GeminiDialect().encode(transcript) == wire

    def test_a_large_field_beside_the_answer_is_read_too(self):
        response = {"output": "ok", "log": "L" * 5000, "exitCode": 3}
        wire = [user("x"), model(call("run")), user(answer("run", response))]
        assert "LLLL" in GeminiDialect().decode(wire).messages[2].results[0].text
        changed = rewritten(wire, 2, 0, "short")[2]["parts"][0]["functionResponse"]["response"]
        assert changed == {"exitCode": 3, "output": "short"}

    @pytest.mark.parametrize("key", ["systemInstruction", "system_instruction"])
    @pytest.mark.parametrize("value", ["Be brief.", {"parts": [{"text": "Be brief."}]}])
    def test_a_request_keeps_its_system_text_and_tools(self, key, value):
        wire = {"contents": CHAT, key: value, "tools": [{"googleSearch": {}}], "model": "m"}
        transcript = GeminiDialect().decode(wire)
        assert transcript.system == "Be brief."
        assert transcript.tools == ({"googleSearch": {}},)
        assert GeminiDialect().encode(transcript) == wire

    def test_the_sdk_has_them_under_config(self):
        wire = {"contents": CHAT, "config": {"system_instruction": "Be brief.", "tools": [{}]}}
        transcript = GeminiDialect().decode(wire)
        assert (transcript.system, transcript.tools) == ("Be brief.", ({},))

    @pytest.mark.parametrize(
        ("wire", "index", "field"),
        [
            ([user("a"), {"parts": []}], 1, "role"),
            ([{"role": "assistant", "parts": []}], 0, "role"),
            ([{"role": "user", "parts": "hi"}], 0, "parts"),
            ([user("a", {"text": 3})], 0, "parts[1].text"),
            ([model({"functionCall": {"args": {}}})], 0, "parts[0].functionCall.name"),
            (
                [user({"functionResponse": {"response": []}})],
                0,
                "parts[0].functionResponse.response",
            ),
            ([None], 0, ""),
            ({"contents": "hi"}, None, "contents"),
        ],
    )
    def test_bad_input_names_message_and_field(self, wire, index, field):
        with pytest.raises(InputError) as caught:
            GeminiDialect().decode(wire)
        assert (caught.value.index, caught.value.field) == (index, field)


class TestWriting:
    @pytest.mark.parametrize("wire", [CHAT, SNAKE, []])
    def test_untouched_messages_are_the_same_objects(self, wire):
        out = GeminiDialect().encode(GeminiDialect().decode(wire))
        assert all(new is old for new, old in zip(out, wire, strict=True))

    def test_a_cleared_result_keeps_its_key_and_the_exit_code(self):
        changed = rewritten(CHAT, 2, 0, "[cleared]")
        assert changed[2]["parts"][0] == answer("read", {"output": "[cleared]", "exitCode": 0})
        assert changed[2]["parts"][1] is CHAT[2]["parts"][1]
        assert [changed[i] is CHAT[i] for i in range(4)] == [True, True, False, True]
        assert rewritten(CHAT, 2, 1, "x")[2]["parts"][1] == answer("read", {"error": "x"})

    def test_arguments_stay_an_object(self):
        changed = rewritten(CHAT, 1, 2, "[cleared]")[1]["parts"][2]
        assert changed["functionCall"]["args"] == {"input": "[cleared]"}
        assert rewritten(CHAT, 1, 2, '{"path": "?"}')[1]["parts"][2] == call("read", path="?")

    def test_the_first_of_parallel_calls_stays_signed(self):
        assert rewritten(CHAT, 1, 2, "{}")[1]["parts"][1] is CHAT[1]["parts"][1]
        dropped = rewritten(CHAT, 1, 1, None)[1]
        assert [p.get("thoughtSignature") for p in dropped["parts"]] == [None, SKIP_SIGNATURE]
        cleared = rewritten(CHAT, 1, 1, "{}")[1]
        assert cleared["parts"][1] == call("read", SKIP_SIGNATURE)
        assert cleared["parts"][2] is CHAT[1]["parts"][2]

    def test_a_message_with_nothing_left_is_not_written(self):
        assert rewritten(CHAT, 3, 0, None) == CHAT[:3]

    def test_a_summary_before_a_kept_call_is_legal(self):
        transcript = GeminiDialect().decode(CHAT)
        first, *rest = transcript.messages
        summary = Message("user", (Text("Summary."),), id="s")
        edits = [Insert(first.id, summary, "summarize"), Drop((first.id, rest[-1].id), "window")]
        out = GeminiDialect().encode(transcript.with_messages(apply(transcript.messages, edits)))
        assert out == [user("Summary."), *CHAT[1:3]]
        assert GeminiDialect().validate(out) == []

    def test_a_made_up_result_joins_the_results_of_its_turn(self):
        wire = [user("go"), model(call("f", number="1"), call("g", number="2"))]
        wire.append(user(answer("g", {"output": "ok"}, "2")))
        transcript = GeminiDialect().decode([*wire, model("on")])
        closing = Message("tool", (ToolResult("1", (Text("none"),), "f", is_error=True),), id="c")
        edits = [Insert(transcript.messages[1].id, closing)]
        out = GeminiDialect().encode(transcript.with_messages(apply(transcript.messages, edits)))
        assert out[2] == user(answer("f", {"error": "none"}, "1"), wire[2]["parts"][0])
        assert GeminiDialect().validate(out) == []


class TestConversion:
    @pytest.mark.parametrize("name", DIALECTS)
    @pytest.mark.parametrize("wire", [CHAT, SNAKE])
    def test_every_other_dialect_accepts_it_and_gives_it_back(self, name, wire):
        other = DIALECTS[name]
        there = other.encode(GeminiDialect().decode(wire))
        assert other.validate(there) == []
        back = GeminiDialect().encode(other.decode(there))
        assert GeminiDialect().validate(back) == []
        before, after = (GeminiDialect().decode(w).messages for w in (wire, back))
        assert [m.role for m in before] == [m.role for m in after]
        assert [c.arguments for m in before for c in m.calls] == [
            c.arguments for m in after for c in m.calls
        ]
        assert [r.text for m in before for r in m.results] == [
            r.text for m in after for r in m.results
        ]

    def test_system_messages_go_where_gemini_has_them(self):
        chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
        tool = {"name": "f", "description": "d", "parameters": {"type": "object"}}
        wire = {"messages": chat, "tools": [{"type": "function", "function": tool}]}
        out = GeminiDialect().encode(DIALECTS["openai-chat"].decode(wire))
        assert out == {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [{"functionDeclarations": [tool]}],
            "contents": [user("Hi")],
        }

    def test_a_conversation_that_starts_with_the_model_gets_a_user_turn(self):
        transcript = DIALECTS["openai-chat"].decode([{"role": "assistant", "content": "Hello"}])
        assert GeminiDialect().validate(GeminiDialect().encode(transcript)) == []

    def test_images_travel_with_their_bytes(self):
        block = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        transcript = DIALECTS["openai-chat"].decode([{"role": "user", "content": [block]}])
        out = GeminiDialect().encode(transcript)
        assert out == [user({"inlineData": {"mimeType": "image/png", "data": PIXEL}})]
        assert DIALECTS["openai-chat"].encode(GeminiDialect().decode(out)) == [
            {"role": "user", "content": [block]}
        ]

    def test_foreign_signed_thinking_is_left_out(self):
        parts = (Thinking("secret", signed=True), Thinking("open"), Text("hi"))
        messages = (Message("user", (Text("q"),)), Message("assistant", parts))
        out = GeminiDialect().encode(Transcript.of(messages, "other"))
        assert out[1] == model({"text": "open", "thought": True}, "hi")


class TestHostileInput:
    @given(VALUES | st.lists(CONTENTS | VALUES, max_size=4))
    def test_only_input_errors_and_no_crash_in_validate(self, wire):
        try:
            transcript = GeminiDialect().decode(wire)
        except InputError:
            pass
        else:
            assert GeminiDialect().encode(transcript) == wire
        assert isinstance(GeminiDialect().validate(wire), list)
        assert 0 <= GeminiDialect().recognises(wire) <= 1

    def test_deep_nesting_is_an_input_error(self):
        deep = []
        for _ in range(5000):
            deep = [deep]
        with pytest.raises(InputError):
            GeminiDialect().decode([user({"brandNew": deep})])
        with pytest.raises(InputError):
            GeminiDialect().decode([model({"functionCall": {"name": "f", "args": {"a": deep}}})])


@pytest.mark.corpus
@requires_corpus
def test_real_contents_survive_unchanged():
    for file in corpus_files("gemini-contents-"):
        data = file.read_bytes()
        wire = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        wire = wire["history"] if isinstance(wire, dict) else wire
        transcript = GeminiDialect().decode(wire)
        assert GeminiDialect().encode(transcript) == wire
        # One of the files has a single answer whose call is not in it.
        assert len(GeminiDialect().validate(wire)) == len(pair(transcript.messages).orphans)
