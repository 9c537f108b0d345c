from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.corpus import corpus_files, requires_corpus
from tests.formats.transcripts.editing import (
    assert_edits_survive,
    assert_identity,
    edited,
    messages_of,
    read,
    source_of,
)
from tests.growth import grows_linearly

from foldline.errors import InputError
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.gemini_cli import GeminiCli
from foldline.values.edits import Drop, Fold, Insert, Rewrite
from foldline.values.messages import Message, Text, ToolResult, Usage

FORMAT = GeminiCli()
HEADER = {"sessionId": "s1", "projectHash": "p1", "startTime": "t0", "lastUpdated": "t1"}
SNAPSHOT = Message("user", (Text("Summary of the work."),), id="0" * 32, origin="summarize")


def call(number: str, output: str = "content", **more: Any) -> Any:
    response = {"id": number, "name": "read_file", "response": {"output": output}}
    return {
        "id": number,
        "name": "read_file",
        "args": {"path": number},
        "result": [{"functionResponse": response}],
        "status": "success",
        "resultDisplay": output,
        **more,
    }


def chat(count: int = 0) -> list[Any]:
    tokens = {"input": 100, "output": 5, "cached": 40, "thoughts": 7, "tool": 0, "total": 112}
    thoughts = [{"subject": "Thinking", "description": "about it"}]
    records = [
        {"id": "1", "timestamp": "t", "type": "user", "content": "Fix the bug. 修复"},
        {"id": "2", "timestamp": "t", "type": "info", "content": "Update available!"},
        {
            "id": "3",
            "timestamp": "t",
            "type": "gemini",
            "content": "I look.",
            "thoughts": thoughts,
            "tokens": tokens,
            "toolCalls": [call("c1", "one"), call("c2", "two")],
        },
        {"id": "4", "timestamp": "t", "type": "user", "content": "/stats"},
        {"id": "5", "timestamp": "t", "type": "gemini", "content": "", "toolCalls": [call("c3")]},
        {"id": "6", "timestamp": "t", "type": "user", "content": [{"text": "next"}]},
        {"id": "7", "timestamp": "t", "type": "gemini", "content": "Done.", "tokens": tokens},
    ]
    more = {"type": "gemini", "content": ""}
    return [
        *records,
        *({"id": f"x{n}", **more, "toolCalls": [call(f"d{n}")]} for n in range(count)),
    ]


def document(records: list[Any], **layout: Any) -> TranscriptSource:
    return source_of({**HEADER, "messages": records}, ensure_ascii=False, **layout)


def lines(records: list[Any]) -> TranscriptSource:
    header = {**HEADER, "kind": "main"}
    layout: dict[str, Any] = {"separators": (",", ":"), "ensure_ascii": False}
    return source_of([header, *records, {"$set": {"lastUpdated": "t2"}}], lines=True, **layout)


def patched(records: list[Any]) -> TranscriptSource:
    return source_of([HEADER, {"$set": {"messages": records}}], lines=True)


FORMS = [document, lines, patched]


@pytest.mark.parametrize("form", FORMS)
def test_a_record_with_calls_is_read_as_calls_and_results(form: Any) -> None:
    recording = assert_identity(FORMAT, form(chat()))
    assert recording.current.name == "s1"
    assert recording.current.transcript.dialect == "gemini"
    messages = messages_of(recording)
    assert [m.role for m in messages] == [
        *("user", "assistant", "tool", "assistant", "tool", "user", "assistant")
    ]
    assert messages[1].text == "I look."
    assert [c.id for c in messages[1].calls] == ["c1", "c2"]
    assert [(r.call_id, r.text) for r in messages[2].results] == [("c1", "one"), ("c2", "two")]
    assert messages[1].usage == Usage(60, 12, 40)


def test_cached_tokens_never_exceed_input_tokens() -> None:
    tokens = {"input": 10, "output": 5, "cached": 40}
    record = {"id": "8", "timestamp": "t", "type": "gemini", "content": "Yes.", "tokens": tokens}
    assert messages_of(FORMAT.decode(document([*chat(), record])))[-1].usage == Usage(0, 5, 10)


@pytest.mark.parametrize("form", FORMS)
def test_a_changed_result_loses_its_display(form: Any) -> None:
    recording = FORMAT.decode(form(chat()))
    edits = [Rewrite(messages_of(recording)[2].id, 1, "[cleared]", "clear")]
    written, again = edited(FORMAT, recording, edits)
    assert [r.text for r in messages_of(again)[2].results] == ["one", "[cleared]"]
    text = written.decode()
    assert '"two"' not in text
    assert '"one"' in text
    assert "Update available!" in text


@pytest.mark.parametrize("form", FORMS)
def test_removed_and_new_messages_are_written(form: Any) -> None:
    recording = FORMAT.decode(form(chat()))
    messages = messages_of(recording)
    late = Message("tool", (ToolResult("c9", (Text("none"),), "ls"),), id="1" * 32)
    said = Message("assistant", (Text("I see."),), id="2" * 32)
    edits = [
        Fold((messages[1].id, messages[2].id), SNAPSHOT),
        Drop((messages[3].id, messages[4].id), "window"),
        Insert(messages[6].id, said),
        Insert(messages[6].id, late),
    ]
    written, again = edited(FORMAT, recording, edits)
    now = messages_of(again)
    assert [m.text for m in now if m.text] == [
        *("Fix the bug. 修复", "Summary of the work.", "next", "Done.", "I see.")
    ]
    assert [r.text for m in now for r in m.results] == ["none"]
    assert FORMAT.encode(again) == written


def test_removing_a_call_removes_its_result() -> None:
    recording = FORMAT.decode(document(chat()))
    messages = messages_of(recording)
    edits = [Rewrite(m.id, n, None, "window") for m, n in ((messages[1], 1), (messages[2], 0))]
    _, again = edited(FORMAT, recording, edits)
    assert [c.id for c in messages_of(again)[1].calls] == ["c2"]
    assert [r.call_id for r in messages_of(again)[2].results] == ["c2"]


def test_untouched_records_keep_their_text() -> None:
    source = document(chat(), indent=3)
    recording = FORMAT.decode(source)
    edits = [Rewrite(messages_of(recording)[0].id, 0, "Fix it.", "truncate")]
    written, _ = edited(FORMAT, recording, edits)
    assert written == source.data.replace("Fix the bug. 修复".encode(), b"Fix it.")


def test_a_later_line_replaces_an_earlier_one_and_a_rewind_drops_the_rest() -> None:
    records = [
        *chat()[:3],
        {**chat()[2], "content": "I look again."},
        *chat()[5:],
        {"$rewindTo": "6"},
        {"id": "8", "type": "user", "content": "another way"},
    ]
    recording = assert_identity(FORMAT, lines(records))
    messages = messages_of(recording)
    assert [m.text for m in messages] == [
        *("Fix the bug. 修复", "I look again.", "", "another way")
    ]
    _, again = edited(FORMAT, recording, [Rewrite(messages[2].id, 0, "[cleared]", "clear")])
    assert messages_of(again)[1].text == "I look again."
    assert [r.text for r in messages_of(again)[2].results] == ["[cleared]", "two"]
    _, again = edited(FORMAT, recording, [Drop((messages[1].id, messages[2].id), "window")])
    assert [m.text for m in messages_of(again)] == ["Fix the bug. 修复", "another way"]


def test_many_rewinds_of_a_long_chat_are_read_in_linear_time() -> None:
    def rewound(count: int) -> TranscriptSource:
        said = [{"id": f"{n}", "type": "info", "content": "hi"} for n in range(count)]
        back = [
            record
            for n in range(count)
            for record in ({"id": f"new {n}", "type": "info"}, {"$rewindTo": f"new {n}"})
        ]
        return lines([chat()[0], *said, *back])

    assert grows_linearly(FORMAT.decode, rewound, 500, 8_000)


def test_calls_repeated_in_the_content_are_read_once() -> None:
    records = chat()
    records[2]["content"] = [
        {"text": "I look."},
        {
            "functionCall": {"id": "c1", "name": "read_file", "args": {"path": "c1"}},
            "thoughtSignature": "c2ln",
        },
    ]
    recording = assert_identity(FORMAT, document(records))
    answer = messages_of(recording)[1]
    assert [(c.id, c.signed) for c in answer.calls] == [("c1", True), ("c2", False)]


def test_results_as_plain_text_and_older_shapes() -> None:
    records = chat()
    records[2]["toolCalls"][0]["result"] = "plain"
    records[6] = {"id": "7", "type": "model", "parts": [{"text": "Done."}]}
    messages = messages_of(assert_identity(FORMAT, document(records)))
    assert messages[2].results[0].text == "plain"
    assert messages[-1].text == "Done."


@pytest.mark.parametrize("form", FORMS)
def test_a_malformed_record_is_named(form: Any) -> None:
    records = chat()
    records[5]["content"] = 5
    with pytest.raises(InputError, match="message 5, field content"):
        FORMAT.decode(form(records))


@pytest.mark.parametrize("form", FORMS)
def test_every_kind_of_edit_survives(form: Any) -> None:
    assert_edits_survive(FORMAT, form(chat(6)))


CORPUS = [*corpus_files("gemini-cli")]
CORPUS += [path for path in corpus_files("misc-formats-agent") if path.name.startswith("gemini")]
CALLS = {"session-15f05963.json": 7, "session-f7633853.json": 13, "gemini-large.json": 2}


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", CORPUS, ids=lambda p: p.name)
def test_a_real_chat_is_read_and_written_back(path: Path) -> None:
    source = read(path)
    assert FORMAT.recognises(source) == 1.0
    recording = assert_identity(FORMAT, source)
    messages = messages_of(recording)
    if path.name in CALLS:
        assert sum(len(m.calls) for m in messages) == CALLS[path.name]
    assert_edits_survive(FORMAT, source)
    document_ = json.loads(source.data)
    records = document_.pop("messages")
    newer = source_of([{**document_, "kind": "main"}, *records], lines=True)
    assert messages_of(assert_identity(FORMAT, newer)) == messages
