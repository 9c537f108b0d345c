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
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.formats.transcripts.swe_agent import SweAgent
from foldline.values.edits import Fold, Rewrite
from foldline.values.groups import group
from foldline.values.messages import Message, Text, Thinking, ToolCall, ToolResult

FORMAT = SweAgent()


def assistant(thought: str, action: str, **more: Any) -> dict[str, Any]:
    content = f"{thought}\n```\n{action}\n```"
    fields = {"role": "assistant", "content": content, "thought": thought, "action": action}
    return {**fields, "agent": "main", **more}


def user(content: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, "agent": "main", **more}


def old_protocol() -> dict[str, Any]:
    history = [
        {"role": "system", "content": "You are a programmer.", "agent": "main"},
        user("A demonstration.", is_demo=True),
        assistant("I submit.", "submit", is_demo=True),
        user("The task: mend it."),
        assistant("I look for c.", "c"),
        user("c: not found"),
        assistant("Again.", "ls -l"),
        user("total 0"),
        {"role": "assistant", "content": "Exit due to cost", "action": "exit", "agent": "main"},
    ]
    return {"environment": "swe_main", "trajectory": [], "history": history, "info": {}}


def function_calling() -> dict[str, Any]:
    calls = [
        {"id": number, "type": "function", "function": {"name": "bash", "arguments": '{"c":1}'}}
        for number in ("c1", "c2")
    ]
    history = [
        {"role": "system", "content": [{"type": "text", "text": "System."}]},
        user("The task.", message_type="observation"),
        {
            "role": "assistant",
            "content": "Both.",
            "action": "ls",
            "tool_calls": calls,
            "thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}],
        },
        {"role": "tool", "content": "output", "tool_call_ids": ["c1", "c2"]},
    ]
    return {"trajectory": [], "history": history, "info": {}}


def test_a_command_and_its_output_are_a_call_and_its_result() -> None:
    messages = messages_of(assert_identity(FORMAT, source_of(old_protocol())))
    assert messages[4].parts == (Text("I look for c."), ToolCall("step_4", "command", "c"))
    assert messages[5].parts == (ToolResult("step_4", (Text("c: not found"),), "command"),)
    assert [g.members for g in group(messages) if len(g.members) > 1] == [(4, 5), (6, 7)]
    assert all(g.state == "closed" for g in group(messages))


def test_the_task_after_a_demonstration_is_a_user_message() -> None:
    messages = messages_of(FORMAT.decode(source_of(old_protocol())))
    assert messages[3].is_from_user()
    assert [m.role for m in messages].count("user") == 2
    assert messages[2].text.endswith("submit\n```")
    assert messages[-1].calls == ()


def test_a_cleared_observation_changes_nothing_else_in_the_file() -> None:
    recording = FORMAT.decode(source_of(old_protocol()))
    messages = messages_of(recording)
    data, again = edited(FORMAT, recording, [Rewrite(messages[5].id, 0, "[cleared]", "clear")])
    wanted = old_protocol()
    wanted["history"][5]["content"] = "[cleared]"
    assert data == json.dumps(wanted, indent=2).encode()
    assert messages_of(again)[5].results[0].text == "[cleared]"


def test_a_shortened_command_is_changed_in_the_text_and_in_its_copies() -> None:
    recording = FORMAT.decode(source_of(old_protocol()))
    number = messages_of(recording)[6].id
    edits = [Rewrite(number, 0, "Said.", "truncate"), Rewrite(number, 1, "ls", "truncate")]
    data, again = edited(FORMAT, recording, edits)
    assert json.loads(data)["history"][6] == assistant("Said.", "ls")
    assert messages_of(again)[6].parts == (Text("Said."), ToolCall("step_6", "command", "ls"))


def test_a_snapshot_after_a_command_is_not_read_as_its_output() -> None:
    document = old_protocol()
    document["history"] = [
        *document["history"][:4],
        assistant("I wait.", "sleep 1"),
        user("x", is_demo=1),
    ]
    recording = FORMAT.decode(source_of(document))
    messages = messages_of(recording)
    snapshot = Message("user", (Text("Summary."),), id="s", origin="summarize")
    _, again = edited(FORMAT, recording, [Fold((messages[5].id,), snapshot)])
    assert messages_of(again)[5].is_from_user()


def test_function_calls_pair_by_the_list_of_ids() -> None:
    messages = messages_of(assert_identity(FORMAT, source_of(function_calling())))
    assert [r.call_id for r in messages[3].results] == ["c1", "c2"]
    assert [r.text for r in messages[3].results] == ["output", ""]
    assert messages[1].is_from_user()
    assert messages[2].parts[0] == Thinking("Hm.", signed=True)
    assert group(messages)[-1].members == (2, 3)


def test_removed_reasoning_is_not_written() -> None:
    recording = FORMAT.decode(source_of(function_calling()))
    edit = Rewrite(messages_of(recording)[2].id, 0, None, "reasoning")
    data, _ = edited(FORMAT, recording, [edit])
    assert json.loads(data)["history"][2]["thinking_blocks"] is None


def test_the_old_protocol_is_legal_on_another_wire() -> None:
    transcript = FORMAT.decode(source_of(old_protocol())).conversations[0].transcript
    wire = OpenAIChatDialect().encode(transcript)
    assert OpenAIChatDialect().validate(wire) == []
    assert wire[4]["tool_calls"][0]["function"]["arguments"] == '{"input": "c"}'


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"role": "robot"}, "role"),
        ({"content": 5}, "content"),
        ({"tool_calls": [{}]}, "tool_calls[0].function"),
    ],
)
def test_a_malformed_message_is_named(change: dict[str, Any], field: str) -> None:
    document = function_calling()
    document["history"][2] |= change
    with pytest.raises(InputError) as caught:
        FORMAT.decode(source_of(document))
    assert (caught.value.index, caught.value.field) == (2, field)


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", corpus_files("swe-agent"), ids=lambda p: p.name)
def test_real_files_come_back_byte_for_byte_and_survive_edits(path: Path) -> None:
    source = read(path)
    assert FORMAT.recognises(source) == 1.0
    recording = assert_identity(FORMAT, source)
    assert_edits_survive(FORMAT, source)
    wire = OpenAIChatDialect().encode(recording.conversations[0].transcript)
    assert OpenAIChatDialect().validate(wire) == []
