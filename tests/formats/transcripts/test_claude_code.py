from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.corpus import corpus_files, requires_corpus
from tests.formats.transcripts.editing import (
    assert_edits_survive,
    assert_identity,
    edit_lists,
    edited,
    messages_of,
    read,
    source_of,
    visible,
)

from foldline.errors import InputError
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.claude_code import ClaudeCode
from foldline.values.edits import Drop, Fold, Insert, Move, Rewrite, apply
from foldline.values.messages import Message, Text, Thinking, ToolResult, Usage

FORMAT = ClaudeCode()
COMPACT = {"separators": (",", ":"), "ensure_ascii": False}


def line(number: int, kind: str, content: Any, parent: int | None = None, **more: Any) -> Any:
    message = {"role": kind, "content": content, **more.pop("message", {})}
    return {
        "parentUuid": None if parent is None else f"u{parent}",
        "isSidechain": False,
        "cwd": "/repo",
        "sessionId": "s1",
        "version": "2.1.7",
        "type": kind,
        "message": message,
        "uuid": f"u{number}",
        "timestamp": f"2026-01-0{number % 9 + 1}T00:00:00Z",
        **more,
    }


def assistant(number: int, block: Any, parent: int, message: str, output: int = 5) -> Any:
    usage = {"input_tokens": 100, "output_tokens": output, "cache_read_input_tokens": 40}
    about = {"id": message, "model": "claude", "stop_reason": None, "usage": usage}
    return line(number, "assistant", [block], parent, message=about, requestId="r")


def call(number: str) -> Any:
    return {"type": "tool_use", "id": number, "name": "Read", "input": {"path": number}}


def result(number: str, text: str = "content") -> Any:
    return [{"type": "tool_result", "tool_use_id": number, "content": text}]


def parallel() -> list[Any]:
    """Return one API message over four lines, with two calls whose results follow their lines."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    return [
        line(1, "user", "Fix the bug. 修复"),
        assistant(2, thought, 1, "m1", 1),
        assistant(3, {"type": "text", "text": "I look."}, 2, "m1", 2),
        assistant(4, call("t1"), 3, "m1", 3),
        assistant(5, call("t2"), 4, "m1", 9),
        line(6, "user", result("t2", "two"), 5, toolUseResult={"stdout": "two"}),
        line(7, "user", result("t1", "one"), 4, toolUseResult={"stdout": "one"}),
        {"type": "progress", "uuid": "u8", "parentUuid": "u7", "data": {"type": "bash_progress"}},
        assistant(9, {"type": "text", "text": "Done."}, 8, "m2"),
    ]


def sheet(records: list[Any], **layout: Any) -> TranscriptSource:
    return source_of(records, lines=True, **(COMPACT | layout))


def current(records: list[Any]) -> tuple[Message, ...]:
    return messages_of(FORMAT.decode(sheet(records)), -1)


def walk(data: bytes) -> list[str]:
    """Follow the parents from the last message line, as Claude Code does."""
    records = [json.loads(text) for text in data.decode().splitlines()]
    by_key = {record["uuid"]: record for record in records if "uuid" in record}
    spoken = [record for record in records if record.get("type") in ("user", "assistant")]
    keys, key = [], spoken[-1]["uuid"]
    while key is not None:
        keys.append(key)
        key = by_key[key]["parentUuid"]
    return keys[::-1]


def test_the_lines_of_one_answer_are_one_message_with_the_last_usage() -> None:
    messages = current(parallel())
    assert [m.role for m in messages] == ["user", "assistant", "tool", "tool", "assistant"]
    answer = messages[1]
    assert [type(part).__name__ for part in answer.parts] == [
        *("Thinking", "Text", "ToolCall", "ToolCall")
    ]
    assert answer.usage == Usage(100, 9, 40, 0)
    assert answer.raw["content"][0]["signature"] == "c2ln"
    assert set(answer.raw) == {"role", "content"}
    assert [m.results[0].text for m in messages[2:4]] == ["two", "one"]


def test_nothing_changed_is_the_same_bytes() -> None:
    assert_identity(FORMAT, sheet(parallel()))
    assert_identity(FORMAT, TranscriptSource.of(sheet(parallel()).data.rstrip(b"\n")))
    assert_identity(FORMAT, TranscriptSource.of(sheet(parallel()).data.replace(b"\n", b"\r\n")))
    assert_identity(FORMAT, TranscriptSource.of(b"\xef\xbb\xbf" + sheet(parallel()).data))


def test_invalid_utf8_and_unusual_separators_are_preserved() -> None:
    odd = [line(1, "user", "a\u2028b\x85c"), *parallel()[1:]]
    data = sheet(odd).data.replace(b"I look.", b"I look\xff\xfe.")
    recording = assert_identity(FORMAT, TranscriptSource.of(data))
    messages = messages_of(recording)
    assert messages[0].text == "a\u2028b\x85c"
    assert len(messages) == 5
    written, again = edited(FORMAT, recording, [Rewrite(messages[2].id, 0, "[cleared]", "clear")])
    assert b"I look\xff\xfe." in written
    assert messages_of(again)[2].results[0].text == "[cleared]"


def test_a_utf16_file_keeps_its_encoding() -> None:
    text = sheet(parallel()).data.decode()
    recording = assert_identity(
        FORMAT, TranscriptSource.of(b"\xff\xfe" + text.encode("utf-16-le"))
    )
    edits = [Rewrite(messages_of(recording)[2].id, 0, "[cleared]", "clear")]
    written, again = edited(FORMAT, recording, edits)
    assert written.startswith(b"\xff\xfe")
    assert messages_of(again)[2].results[0].text == "[cleared]"


def test_a_rewound_branch_is_kept_but_not_read() -> None:
    records = [
        *parallel(),
        line(10, "user", "the wrong thing", 9),
        assistant(11, {"type": "text", "text": "Wrong."}, 10, "m3"),
        line(12, "user", "the right thing", 9),
    ]
    recording = assert_identity(FORMAT, sheet(records))
    assert [m.text for m in messages_of(recording)][-2:] == ["Done.", "the right thing"]
    assert recording.warnings == ("2 lines on rewound branches are kept, but not read",)
    gone = Drop((messages_of(recording)[-1].id,), "window")
    data, again = edited(FORMAT, recording, [gone])
    assert [m.text for m in messages_of(again)][-1] == "Done."
    assert b"the wrong thing" not in data


def test_a_missing_parent_falls_back_to_the_order_of_the_file() -> None:
    records = parallel()
    records[1]["parentUuid"] = "gone"
    assert len(current(records)) == 5
    for record in records:
        record.pop("uuid", None)
        record.pop("parentUuid", None)
    assert len(current(records)) == 5


def test_a_cycle_of_parents_terminates() -> None:
    records = parallel()
    records[0]["parentUuid"] = "u9"
    assert len(current(records)) == 5


def test_sub_agents_are_skipped_unless_the_file_holds_nothing_else() -> None:
    aside = [line(20, "user", "task of the helper", isSidechain=True)]
    assert len(current([*parallel()[:4], *aside, *parallel()[4:]])) == 5
    alone = [record | {"isSidechain": True} for record in parallel() if record["type"] != "x"]
    assert len(current(alone)) == 5


def test_meta_lines_are_part_of_the_prompt_and_local_errors_are_not() -> None:
    skill = line(10, "user", [{"type": "text", "text": "Base directory"}], 9, isMeta=True)
    error = assistant(11, {"type": "text", "text": "API Error"}, 10, "m9")
    error["isApiErrorMessage"] = True
    assert [m.text for m in current([*parallel(), skill, error])][-1] == "Base directory"


def test_a_compaction_ends_a_segment_and_preserved_messages_follow_its_summary() -> None:
    metadata = {"preservedMessages": {"anchorUuid": "u11", "uuids": ["u9", "missing"]}}
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "u10",
        "parentUuid": None,
        "logicalParentUuid": "u9",
        "compactMetadata": metadata,
    }
    records = [
        *parallel(),
        line(13, "user", "/compact", 9),
        boundary,
        line(11, "user", "This session is being continued", 10, isCompactSummary=True),
        line(12, "user", "go on", 11),
    ]
    source = sheet(records)
    recording = assert_identity(FORMAT, source)
    assert [c.name for c in recording.conversations] == ["segment 1 of 2", "segment 2 of 2"]
    assert len(messages_of(recording, 0)) == 5
    now = messages_of(recording, -1)
    assert recording.current.transcript.messages == now
    assert [m.text for m in now] == ["This session is being continued", "Done.", "go on"]
    snapshot = Message("user", (Text("short"),), id="0" * 32, origin="summarize")
    written, again = edited(FORMAT, recording, [Fold((now[0].id,), snapshot)], index=-1)
    assert [m.text for m in messages_of(again, -1)] == ["short", "Done.", "go on"]
    assert messages_of(again, 0) == messages_of(recording, 0)
    assert walk(written)[0] == "u10"


def test_a_micro_compaction_is_reported() -> None:
    boundary = {
        "type": "system",
        "subtype": "microcompact_boundary",
        "microcompactMetadata": {"compactedToolIds": ["t1", "t2"]},
    }
    recording = FORMAT.decode(sheet([*parallel(), boundary]))
    assert "cleared 2 tool results" in recording.warnings[0]


def test_comments_and_a_half_written_last_line_are_warnings() -> None:
    data = b"// a comment\n" + sheet(parallel()).data + b'{"type":"user","mess'
    recording = assert_identity(FORMAT, TranscriptSource.of(data))
    assert len(messages_of(recording)) == 5
    assert recording.warnings == (
        "line 1 is a comment",
        "line 11, the last one, is cut off: it is kept, but not read",
    )


def test_a_changed_result_loses_its_copy_and_every_other_line_stays() -> None:
    source = sheet(parallel())
    recording = FORMAT.decode(source)
    edits = [Rewrite(messages_of(recording)[3].id, 0, "[cleared]", "clear")]
    written, again = edited(FORMAT, recording, edits)
    before, after = source.data.splitlines(), written.splitlines()
    assert [n for n in range(9) if before[n] != after[n]] == [6]
    changed = json.loads(after[6])
    assert "toolUseResult" not in changed
    assert changed["message"]["content"] == result("t1", "[cleared]")
    assert messages_of(again)[3].results[0].text == "[cleared]"


def test_removing_a_block_removes_its_line_and_keeps_the_chain_whole() -> None:
    recording = FORMAT.decode(sheet(parallel()))
    answer = messages_of(recording)[1]
    edits = [Rewrite(answer.id, 0, None, "reasoning"), Rewrite(answer.id, 1, None, "reasoning")]
    written, again = edited(FORMAT, recording, edits)
    assert not any(isinstance(part, Thinking) for part in messages_of(again)[1].parts)
    assert walk(written) == ["u1", "u4", "u7", "u8", "u9"]


def test_a_snapshot_is_a_compact_summary_in_the_chain() -> None:
    recording = FORMAT.decode(sheet(parallel()))
    messages = messages_of(recording)
    snapshot = Message("user", (Text("So far: one, two."),), id="1" * 32, origin="summarize")
    edits = [Fold(tuple(m.id for m in messages[1:4]), snapshot)]
    written, again = edited(FORMAT, recording, edits)
    assert [m.text for m in messages_of(again)] == [
        *("Fix the bug. 修复", "So far: one, two.", "Done.")
    ]
    record = next(r for r in map(json.loads, written.splitlines()) if "isCompactSummary" in r)
    assert record["sessionId"] == "s1"
    assert record["cwd"] == "/repo"
    assert record["timestamp"].startswith("2026-01-")
    assert walk(written) == ["u1", "u8", record["uuid"], "u9"]
    assert edited(FORMAT, recording, edits)[0] == written


def test_appended_and_moved_messages_are_on_the_path_to_the_root() -> None:
    recording = FORMAT.decode(sheet(parallel()))
    messages = messages_of(recording)
    answer = Message("tool", (ToolResult("t9", (Text("none"),)),), id="2" * 32)
    edits = [Move(messages[3].id, messages[1].id), Insert(messages[4].id, answer)]
    written, again = edited(FORMAT, recording, edits)
    texts = [m.results[0].text for m in messages_of(again) if m.results]
    assert texts == ["one", "two", "none"]
    assert walk(written)[-2:] == ["u9", json.loads(written.splitlines()[-1])["uuid"]]


def test_an_image_in_a_result_is_media_and_never_text() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 5000}
    blocks = [{"type": "tool_result", "tool_use_id": "t1", "content": []}]
    blocks[0]["content"] = [{"type": "image", "source": source}]
    records = [*parallel()[:4], line(5, "user", blocks, 4)]
    shown = current(records)[-1].results[0]
    assert shown.content[0].size > 40_000
    assert shown.text == ""


def test_unpaired_calls_and_results_are_valid_data() -> None:
    records = [line(1, "user", result("t0", "late")), *parallel()[1:5]]
    messages = current(records)
    assert [m.role for m in messages] == ["tool", "assistant"]
    assert len(messages[1].calls) == 2


@pytest.mark.parametrize(
    ("content", "where"),
    [(None, "line 1"), ([5], "content[0]"), ([{"type": "text", "text": 5}], "content[0].text")],
)
def test_a_malformed_message_is_named_by_line_and_field(content: Any, where: str) -> None:
    with pytest.raises(InputError) as caught:
        FORMAT.decode(sheet([line(1, "user", content)]))
    assert "line 1" in str(caught.value)
    assert where in str(caught.value)


def test_every_kind_of_edit_survives() -> None:
    records = parallel()
    for n in range(10, 30, 2):
        records += [
            assistant(n, call(f"t{n}"), n - 1, f"m{n}"),
            line(n + 1, "user", result(f"t{n}"), n),
        ]
    assert_edits_survive(FORMAT, sheet(records))


def test_equal_messages_of_other_identity_count_as_unchanged() -> None:
    source = sheet(parallel())
    recording = FORMAT.decode(source)
    pinned = tuple(replace(m, pinned=True) for m in messages_of(recording))
    there = recording.current.transcript.with_messages(pinned)
    assert FORMAT.encode(recording.with_transcript(0, there)) == source.data


CORPUS = [
    *(p for p in corpus_files("claude-code-") if ".jsonl" in p.name),
    *(p for p in corpus_files("misc-formats-git-ai") if "claude-code" in p.name),
]
CALLS = {
    "session-0.jsonl.gz": (3, 185),
    "session-6113e919.jsonl.gz": (4, 206),
    "session-0442a060.jsonl.gz": (3, 224),
    "session-847ff7d2.jsonl.gz": (2, 119),
    "session-062a8bdd.jsonl.gz": (2, 127),
    "session-839b35f7.jsonl.gz": (1, 104),
    "large-conversation.jsonl.gz": (1, 152),
}


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", CORPUS, ids=lambda p: p.name)
def test_a_real_session_is_read_and_written_back(path: Path) -> None:
    source = read(path)
    assert FORMAT.recognises(source) == 1.0
    recording = assert_identity(FORMAT, source)
    assert recording.current.transcript.messages
    if path.name in CALLS:
        found = [c.transcript.messages for c in recording.conversations]
        calls = sum(len(m.calls) for messages in found for m in messages)
        assert (len(found), calls) == CALLS[path.name]


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", [p for p in CORPUS if p.name in CALLS], ids=lambda p: p.name)
def test_edits_of_a_real_session_survive(path: Path) -> None:
    recording = FORMAT.decode(read(path))
    messages = messages_of(recording, -1)
    for edits in edit_lists(messages):
        _, again = edited(FORMAT, recording, edits, index=-1)
        assert visible(messages_of(again, -1)) == visible(apply(messages, edits))
        assert len(again.conversations) == len(recording.conversations)
