from __future__ import annotations

import json
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
from foldline.formats.anthropic import AnthropicDialect
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.pi import Pi
from foldline.values.edits import Drop, Fold, Insert, Rewrite, apply
from foldline.values.messages import Media, Message, Text, Thinking, ToolResult, Usage

FORMAT = Pi()
HEADER = {"type": "session", "id": "s1", "timestamp": "t0", "cwd": "/repo"}
SNAPSHOT = Message("user", (Text("Summary of the work."),), id="0" * 32, origin="summarize")


def entry(message: Any) -> Any:
    return {"type": "message", "timestamp": "t1", "message": message}


def user(text: str) -> Any:
    return entry({"role": "user", "content": [{"type": "text", "text": text}]})


def answer(*blocks: Any, **more: Any) -> Any:
    usage = {"input": 10, "output": 2, "cacheRead": 7, "cacheWrite": 1}
    return entry({"role": "assistant", "content": list(blocks), "usage": usage, **more})


def call(number: str) -> Any:
    return {"type": "toolCall", "id": number, "name": "read", "arguments": {"path": number}}


def result(number: str, text: str) -> Any:
    content = [{"type": "text", "text": text}]
    about = {"toolCallId": number, "toolName": "read", "isError": False, "details": {"diff": "x"}}
    return entry({"role": "toolResult", "content": content, **about})


def turns() -> list[Any]:
    thought = {"type": "thinking", "thinking": "hm", "thinkingSignature": "c2ln"}
    shell = {"role": "bashExecution", "command": "ls", "output": "a.txt\n", "exitCode": 2}
    return [
        HEADER,
        user("Fix the bug. 修复"),
        answer(thought, {"type": "text", "text": "I look."}, call("c1"), call("c2")),
        result("c2", "two"),
        result("c1", "one"),
        {"type": "model_change", "timestamp": "t1", "modelId": "m"},
        entry(shell),
        entry({**shell, "command": "secret", "excludeFromContext": True}),
        answer(stopReason="aborted"),
        user("next"),
        answer({"type": "text", "text": "Done."}),
    ]


def compacted(first: int, summary: str = "What we did.") -> list[Any]:
    compaction = {"type": "compaction", "summary": summary, "firstKeptEntryIndex": first}
    return [*turns(), {**compaction, "tokensBefore": 9}, user("and now?")]


def linked(records: list[Any]) -> list[Any]:
    """Return entries in the newer form: each names the previous one."""
    out = [{**records[0], "version": 3}]
    for number, record in enumerate(records[1:], start=1):
        parent = f"e{number - 1}" if number > 1 else None
        kept = {k: v for k, v in record.items() if k != "firstKeptEntryIndex"}
        if "firstKeptEntryIndex" in record:
            kept["firstKeptEntryId"] = f"e{record['firstKeptEntryIndex']}"
        out.append({**kept, "id": f"e{number}", "parentId": parent})
    return out


def sheet(records: list[Any]) -> TranscriptSource:
    return source_of(records, lines=True, separators=(",", ":"), ensure_ascii=False)


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [m.text or " ".join(r.text for r in m.results) for m in messages]


def test_entries_become_messages() -> None:
    recording = assert_identity(FORMAT, sheet(turns()))
    messages = messages_of(recording)
    assert [m.role for m in messages] == [
        *("user", "assistant", "tool", "tool", "user", "user", "assistant")
    ]
    assert messages[1].parts[0] == Thinking("hm", signed=True)
    assert messages[1].calls[1].arguments == '{"path": "c2"}'
    assert messages[1].usage == Usage(10, 2, 7, 1)
    assert messages[2].results[0].call_id == "c2"
    assert messages[4].text == "Ran `ls`\n```\na.txt\n\n```\n\nCommand exited with code 2"


@pytest.mark.parametrize("form", [lambda records: records, linked])
def test_a_compaction_is_read_as_its_summary_and_the_kept_entries(form: Any) -> None:
    recording = assert_identity(FORMAT, sheet(form(compacted(9))))
    assert [c.name for c in recording.conversations] == ["segment 1 of 2", "segment 2 of 2"]
    assert len(messages_of(recording, 0)) == 7
    assert texts(messages_of(recording, -1)) == ["What we did.", "next", "Done.", "and now?"]


@pytest.mark.parametrize("form", [lambda records: records, linked])
def test_a_snapshot_in_place_of_a_summary_becomes_the_summary(form: Any) -> None:
    recording = FORMAT.decode(sheet(form(compacted(9))))
    now = messages_of(recording, -1)
    written, again = edited(FORMAT, recording, [Fold((now[0].id, now[1].id), SNAPSHOT)], index=-1)
    assert texts(messages_of(again, -1)) == ["Summary of the work.", "Done.", "and now?"]
    assert "What we did." not in written.decode()


@pytest.mark.parametrize("form", [lambda records: records, linked])
def test_summarised_entries_never_reappear(form: Any) -> None:
    recording = FORMAT.decode(sheet(form(compacted(9))))
    now = messages_of(recording, -1)
    _, again = edited(FORMAT, recording, [Drop((now[0].id, now[1].id), "window")], index=-1)
    assert texts(messages_of(again, -1)) == ["Done.", "and now?"]


@pytest.mark.parametrize("form", [lambda records: records, linked])
def test_a_snapshot_among_kept_entries_keeps_its_position(form: Any) -> None:
    recording = FORMAT.decode(sheet(form(compacted(1))))
    now = messages_of(recording, -1)
    edits = [Fold(tuple(m.id for m in now[1:6]), SNAPSHOT)]
    written, again = edited(FORMAT, recording, edits, index=-1)
    assert texts(messages_of(again, -1)) == [
        *("What we did.", "Summary of the work.", "next", "Done.", "and now?")
    ]
    assert FORMAT.encode(again) == written


def test_entries_that_were_not_kept_are_not_read() -> None:
    recording = FORMAT.decode(sheet(compacted(11)))
    now = messages_of(recording, -1)
    assert texts(now) == ["What we did.", "and now?"]
    _, again = edited(FORMAT, recording, [Insert(now[0].id, SNAPSHOT)], index=-1)
    assert texts(messages_of(again, -1)) == ["What we did.", "Summary of the work.", "and now?"]


def test_a_compaction_without_kept_entries_stays_empty_when_the_file_grows() -> None:
    recording = FORMAT.decode(sheet(compacted(11)))
    before = messages_of(recording, 0)
    _, again = edited(FORMAT, recording, [Insert(before[0].id, SNAPSHOT)], index=0)
    assert texts(messages_of(again, 0))[1] == "Summary of the work."
    assert texts(messages_of(again, -1)) == ["What we did.", "and now?"]


def test_a_thousand_compactions_are_not_a_million_messages() -> None:
    compaction = {"type": "compaction", "summary": "s", "firstKeptEntryIndex": 1}
    recording = assert_identity(FORMAT, sheet([HEADER, user("a"), *[compaction] * 1000]))
    assert len(recording.conversations) == 100
    assert "only the newest 100 of 1001 segments" in recording.warnings[0]


def test_an_abandoned_branch_is_not_read() -> None:
    records = linked(turns())
    records.append({**user("another way"), "id": "e99", "parentId": "e4"})
    recording = assert_identity(FORMAT, sheet(records))
    assert texts(messages_of(recording))[-2:] == ["one", "another way"]
    last = messages_of(recording)[-1]
    _, again = edited(FORMAT, recording, [Drop((last.id,), "window")])
    assert texts(messages_of(again)) == texts(messages_of(recording))[:-1]


def test_extension_messages_and_branch_summaries_are_part_of_the_prompt() -> None:
    more = [
        {"type": "custom_message", "customType": "x", "content": "Remember.", "display": False},
        {"type": "branch_summary", "fromId": "e1", "summary": "The other branch."},
        {"type": "custom", "customType": "x", "data": {"text": "state"}},
    ]
    recording = assert_identity(FORMAT, sheet([*turns(), *more]))
    messages = messages_of(recording)
    assert texts(messages)[-2:] == ["Remember.", "The other branch."]
    edits = [Rewrite(m.id, 0, "short", "truncate") for m in messages[-2:]]
    written, again = edited(FORMAT, recording, edits)
    assert texts(messages_of(again))[-2:] == ["short", "short"]
    assert json.loads(written.splitlines()[-2])["summary"] == "short"


def test_a_changed_result_loses_its_details_and_every_other_line_stays() -> None:
    source = sheet(turns())
    recording = FORMAT.decode(source)
    edits = [Rewrite(messages_of(recording)[3].id, 0, "[cleared]", "clear")]
    written, _ = edited(FORMAT, recording, edits)
    before, after = source.data.splitlines(), written.splitlines()
    assert [n for n in range(len(before)) if before[n] != after[n]] == [4]
    message = json.loads(after[4])["message"]
    assert message == {
        "role": "toolResult",
        "content": [{"type": "text", "text": "[cleared]"}],
        "toolCallId": "c1",
        "toolName": "read",
        "isError": False,
    }


def test_a_changed_command_becomes_a_user_message() -> None:
    recording = FORMAT.decode(sheet(turns()))
    edits = [Rewrite(messages_of(recording)[4].id, 0, "ran ls", "truncate")]
    written, again = edited(FORMAT, recording, edits)
    assert messages_of(again)[4].text == "ran ls"
    assert b'"bashExecution","command":"ls"' not in written


def test_new_results_and_linked_entries_are_found_from_the_end() -> None:
    recording = FORMAT.decode(sheet(linked(turns())))
    messages = messages_of(recording)
    late = Message("tool", (ToolResult("c9", (Text("none"),), "read"),), id="1" * 32)
    edits = [Insert(messages[1].id, late), Drop((messages[2].id, messages[3].id), "window")]
    _, again = edited(FORMAT, recording, edits)
    assert texts(messages_of(again))[1:3] == ["I look.", "none"]


def test_images_are_media() -> None:
    image = {"type": "image", "data": "iVBORw0KGgo" * 1000, "mimeType": "image/png"}
    records = turns()
    records[4]["message"]["content"].append(image)
    recording = FORMAT.decode(sheet(records))
    found = messages_of(recording)[3].results[0].content[1]
    assert isinstance(found, Media)
    assert found.size > 8000


def test_a_session_becomes_any_wire() -> None:
    messages = messages_of(FORMAT.decode(sheet(turns())))
    for dialect in (AnthropicDialect(), OpenAIChatDialect()):
        wire = dialect.messages(messages)
        again = dialect.decode(wire).messages
        assert [c.name for m in again for c in m.calls] == ["read", "read"]
        assert [r.text for m in again for r in m.results] == ["two", "one"]


def test_a_half_written_line_is_a_warning() -> None:
    data = sheet(turns()).data + b'{"type":"message","mess'
    recording = assert_identity(FORMAT, TranscriptSource.of(data))
    assert recording.warnings[0].startswith("line 12, the last one, is cut off")


def test_a_malformed_message_is_named_by_line_and_field() -> None:
    with pytest.raises(InputError, match=r"line 2.*content\[0\]\.text"):
        FORMAT.decode(sheet([HEADER, entry({"role": "user", "content": [{"type": "text"}]})]))


def test_every_kind_of_edit_survives() -> None:
    records = turns()
    for n in range(6):
        records += [answer(call(f"d{n}")), result(f"d{n}", f"result {n}")]
    assert_edits_survive(FORMAT, sheet(records))
    assert_edits_survive(FORMAT, sheet(linked(records)))


CORPUS = corpus_files("pi-")
COUNTS = {
    "before-compaction.jsonl.gz": [(352, 169), (328, 160), (442, 194)],
    "compact.jsonl.gz": [(664, 296), (437, 178)],
    "large-session.jsonl.gz": [(900, 391)],
}


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", CORPUS, ids=lambda p: p.name)
def test_a_real_session_is_read_and_written_back(path: Path) -> None:
    source = read(path)
    assert FORMAT.recognises(source) == 1.0
    recording = assert_identity(FORMAT, source)
    found = [c.transcript.messages for c in recording.conversations]
    counts = [(len(messages), sum(len(m.calls) for m in messages)) for messages in found]
    assert counts == COUNTS[path.name]
    messages = messages_of(recording, -1)
    for edits in edit_lists(messages):
        _, again = edited(FORMAT, recording, edits, index=-1)
        assert visible(messages_of(again, -1)) == visible(apply(messages, edits))
