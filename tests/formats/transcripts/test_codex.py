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

from foldline.errors import InputError
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.codex import Codex
from foldline.values.edits import Drop, Fold, Insert, Rewrite
from foldline.values.messages import Message, Text, ToolResult, Usage

FORMAT = Codex()
SNAPSHOT = Message("user", (Text("Summary of the work."),), id="0" * 32, origin="summarize")


def record(kind: str, payload: Any) -> Any:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}


def item(**payload: Any) -> Any:
    return record("response_item", payload)


def user(text: str, role: str = "user") -> Any:
    return item(type="message", role=role, content=[{"type": "input_text", "text": text}])


def event(kind: str, **more: Any) -> Any:
    return record("event_msg", {"type": kind, **more})


def tokens(given: int, cached: int, output: int) -> Any:
    usage = {"input_tokens": given, "cached_input_tokens": cached, "output_tokens": output}
    return event("token_count", info={"last_token_usage": usage})


def start() -> list[Any]:
    return [
        record(
            "session_meta",
            {
                "id": "r1",
                "base_instructions": {"text": "You are Codex."},
                "dynamic_tools": [{"name": "search"}],
            },
        ),
        user("<environment_context>cwd</environment_context>"),
        user("Fix the bug. 修复"),
        event("user_message", message="Fix the bug. 修复"),
        item(type="reasoning", id="rs1", summary=[], encrypted_content="c2VjcmV0"),
        item(type="function_call", name="shell", arguments='{"command":["ls"]}', call_id="c1"),
        item(type="custom_tool_call", name="apply_patch", input="*** Begin", call_id="c2"),
        tokens(1000, 400, 30),
        item(type="custom_tool_call_output", call_id="c2", output="patched"),
        item(type="function_call_output", call_id="c1", output="a.txt"),
        item(type="ghost_snapshot", ghost_commit={"id": "g"}),
        item(type="web_search_call", status="completed", action={"query": "q"}),
        item(type="message", role="assistant", content=[{"type": "output_text", "text": "Done."}]),
        event("agent_message", message="Done."),
    ]


def compacted(*texts: str) -> Any:
    history = [user(text)["payload"] for text in texts]
    history.append({"type": "compaction", "encrypted_content": "b3BhcXVl"})
    return record("compacted", {"message": "", "replacement_history": history, "window_number": 1})


def sheet(records: list[Any]) -> TranscriptSource:
    return source_of(records, lines=True, separators=(",", ":"), ensure_ascii=False)


def test_items_are_messages_and_events_are_not() -> None:
    recording = assert_identity(FORMAT, sheet(start()))
    assert recording.current.name == "r1"
    transcript = recording.current.transcript
    assert transcript.system == "You are Codex."
    assert transcript.tools == ({"name": "search"},)
    assert transcript.dialect == "openai-responses"
    assert [m.role for m in transcript.messages] == [
        *("user", "user", "assistant", "assistant", "assistant"),
        *("tool", "tool", "assistant", "assistant"),
    ]
    assert transcript.messages[3].calls[0].arguments == '{"command":["ls"]}'
    assert transcript.messages[4].calls[0].arguments == "*** Begin"
    assert transcript.messages[5].results[0].call_id == "c2"


def test_reported_tokens_belong_to_the_newest_item_of_the_model() -> None:
    messages = messages_of(FORMAT.decode(sheet(start())))
    assert [n for n, m in enumerate(messages) if m.usage] == [4]
    assert messages[4].usage == Usage(600, 30, 400)


def test_cached_tokens_never_exceed_input_tokens() -> None:
    messages = messages_of(FORMAT.decode(sheet([*start(), tokens(10, 60, 3)])))
    assert Usage(0, 3, 10) in [m.usage for m in messages]


def test_a_compaction_restarts_from_its_replacement_history() -> None:
    records = [*start(), compacted("Fix the bug. 修复"), user("and now?"), tokens(5, 0, 1)]
    recording = assert_identity(FORMAT, sheet(records))
    assert [c.name for c in recording.conversations] == ["segment 1 of 2", "segment 2 of 2"]
    assert len(messages_of(recording, 0)) == 9
    now = messages_of(recording, -1)
    assert [m.text for m in now] == ["Fix the bug. 修复", "", "and now?"]
    assert now[1].raw == {"type": "compaction", "encrypted_content": "b3BhcXVl"}
    assert recording.current.transcript.messages == now


def test_an_old_compaction_has_only_a_summary() -> None:
    records = [*start(), record("compacted", {"message": "We did it."}), user("more")]
    recording = assert_identity(FORMAT, sheet(records))
    assert [m.text for m in messages_of(recording, -1)] == ["We did it.", "more"]


def test_edits_of_a_replacement_history_are_written_there() -> None:
    records = [*start(), compacted("first", "second"), user("and now?")]
    recording = FORMAT.decode(sheet(records))
    now = messages_of(recording, -1)
    edits = [Fold((now[0].id, now[1].id), SNAPSHOT)]
    written, again = edited(FORMAT, recording, edits, index=-1)
    assert [m.text for m in messages_of(again, -1)] == ["Summary of the work.", "", "and now?"]
    before, after = sheet(records).data.splitlines(), written.splitlines()
    assert [n for n in range(len(before)) if before[n] != after[n]] == [14]
    payload = json.loads(after[14])["payload"]
    assert payload["window_number"] == 1
    assert [entry["type"] for entry in payload["replacement_history"]] == ["message", "compaction"]


def test_turns_that_were_rolled_back_are_not_read() -> None:
    later = [user("wrong"), event("thread_rolled_back", num_turns=1), user("right")]
    recording = assert_identity(FORMAT, sheet([*start(), *later]))
    assert [m.text for m in messages_of(recording)][-2:] == ["Done.", "right"]
    everything = event("thread_rolled_back", num_turns=99)
    messages = messages_of(FORMAT.decode(sheet([*start(), everything, user("anew")])))
    assert [m.text[:5] for m in messages] == ["<envi", "anew"]


def test_a_changed_item_changes_its_line_only() -> None:
    source = sheet(start())
    recording = FORMAT.decode(source)
    edits = [Rewrite(messages_of(recording)[6].id, 0, "[cleared]", "clear")]
    written, again = edited(FORMAT, recording, edits)
    before, after = source.data.splitlines(), written.splitlines()
    assert [n for n in range(len(before)) if before[n] != after[n]] == [9]
    assert json.loads(after[9])["payload"] == {
        "type": "function_call_output",
        "call_id": "c1",
        "output": "[cleared]",
    }
    assert messages_of(again)[6].results[0].text == "[cleared]"


def test_removed_and_new_messages_are_written() -> None:
    recording = FORMAT.decode(sheet(start()))
    messages = messages_of(recording)
    late = Message("tool", (ToolResult("c1", (Text("none"),)),), id="1" * 32)
    edits = [
        Drop((messages[6].id,), "window"),
        Insert(messages[5].id, late),
        Fold((messages[0].id, messages[1].id), SNAPSHOT),
    ]
    written, again = edited(FORMAT, recording, edits)
    assert messages_of(again)[0].text == "Summary of the work."
    assert [m.results[0].text for m in messages_of(again) if m.results] == ["patched", "none"]
    assert b"user_message" in written
    assert json.loads(written.splitlines()[1])["timestamp"] == "2026-01-01T00:00:00Z"


def test_opaque_reasoning_is_kept_byte_for_byte_or_removed_whole() -> None:
    recording = FORMAT.decode(sheet(start()))
    thought = messages_of(recording)[2]
    written, again = edited(FORMAT, recording, [Rewrite(thought.id, 0, None, "reasoning")])
    assert b"c2VjcmV0" not in written
    assert len(messages_of(again)) == 8


def test_a_malformed_item_is_named_by_line_and_field() -> None:
    with pytest.raises(InputError, match=r"line 2.*content"):
        FORMAT.decode(sheet([start()[0], item(type="message", role="user", content=5)]))


def test_every_kind_of_edit_survives() -> None:
    records = start()
    for n in range(6):
        call = {"name": "shell", "arguments": '{"n": 1}', "call_id": f"d{n}"}
        records += [
            item(type="function_call", **call),
            item(type="function_call_output", call_id=f"d{n}", output=f"result {n}"),
        ]
    assert_edits_survive(FORMAT, sheet(records))


CORPUS = [*corpus_files("codex-")]
CORPUS += [path for path in corpus_files("misc-formats-agent") if path.name.startswith("codex")]
COUNTS = {  # items before and after compactions, replacement histories included
    "rollout-019f2016-8a7a.jsonl.gz": (4, 540),
    "rollout-019f627f-f4b0.jsonl.gz": (3, 214),
    "rollout-019f43d1-80f7.jsonl.gz": (2, 336),
    "rollout-019f53a8-9c1b.jsonl.gz": (1, 161),
    "rollout-3.jsonl.gz": (1, 55),
    "codex-small.jsonl.gz": (7, 6),
}


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", CORPUS, ids=lambda p: p.name)
def test_a_real_rollout_is_read_and_written_back(path: Path) -> None:
    source = read(path)
    assert FORMAT.recognises(source) == 1.0
    recording = assert_identity(FORMAT, source)
    found = [c.transcript.messages for c in recording.conversations]
    calls = sum(len(m.calls) for messages in found for m in messages)
    if path.name in COUNTS:
        assert (len(found), calls) == COUNTS[path.name]


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", [p for p in CORPUS if p.name in COUNTS], ids=lambda p: p.name)
def test_edits_of_a_real_rollout_survive(path: Path) -> None:
    source = read(path)
    last = len(FORMAT.decode(source).conversations) - 1
    assert_edits_survive(FORMAT, source, last)
