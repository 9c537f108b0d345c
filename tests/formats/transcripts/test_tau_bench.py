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
from foldline.formats.transcripts.tau import TauBench
from foldline.values.edits import Rewrite
from foldline.values.groups import group
from foldline.values.messages import ToolCall

FORMAT = TauBench()


def run(task: int, trial: int = 0) -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    traj = [
        {"role": "user", "content": f"Task {task}"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "first"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "second"},
    ]
    return {"task_id": task, "reward": 0.0, "info": {}, "traj": traj, "trial": trial}


EXAMPLES = [
    {"messages_display": "user: 你好\nassistant: None\ntool: a: 1\nuser of it\nassistant: Done."},
    {"messages_display": "user: hi\nassistant: None", "split": "dev"},
]


def test_every_run_is_a_conversation_and_repeated_ids_pair_in_order() -> None:
    recording = assert_identity(FORMAT, source_of([run(1), run(1, 1), run(2)]))
    assert [c.name for c in recording.conversations] == [
        "task 1 trial 0",
        "task 1 trial 1",
        "task 2 trial 0",
    ]
    messages = messages_of(recording, 1)
    assert [g.members for g in group(messages)] == [(0,), (1, 2), (3, 4)]
    assert len({m.id for m in messages}) == 5


def test_runs_that_did_not_change_keep_their_text() -> None:
    recording = FORMAT.decode(source_of([run(1), run(2), run(3)], indent=1))
    result = messages_of(recording, 1)[4]
    data, _ = edited(FORMAT, recording, [Rewrite(result.id, 0, "[cleared]", "clear")], 1)
    wanted = [run(1), run(2), run(3)]
    wanted[1]["traj"][4]["content"] = "[cleared]"
    assert data == json.dumps(wanted, indent=1).encode()


def test_a_malformed_message_is_named_with_its_run() -> None:
    runs = [run(1), run(7, 3)]
    runs[1]["traj"][2]["content"] = 5
    with pytest.raises(InputError, match=r"^task 7 trial 3, message 2, field content: ") as caught:
        FORMAT.decode(source_of(runs))
    assert (caught.value.index, caught.value.field) == (2, "content")


def test_a_run_without_messages_is_named() -> None:
    with pytest.raises(InputError, match=r"\[1\].traj"):
        FORMAT.decode(source_of([run(1), {"task_id": 2, "traj": None}]))


def test_examples_are_read_from_their_text_and_an_unrecorded_call_is_paired() -> None:
    recording = assert_identity(FORMAT, source_of(EXAMPLES, lines=True, ensure_ascii=False))
    messages = messages_of(recording)
    assert [m.role for m in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[1].parts == (ToolCall("call_1", "unrecorded_tool", "{}"),)
    assert messages[2].results[0].text == "a: 1\nuser of it"
    assert messages_of(recording, 1)[1].text == "None"
    wire = OpenAIChatDialect().encode(recording.conversations[0].transcript)
    assert OpenAIChatDialect().validate(wire) == []


def test_a_changed_example_changes_one_line() -> None:
    source = source_of(EXAMPLES, lines=True, ensure_ascii=False)
    recording = FORMAT.decode(source)
    result = messages_of(recording)[2]
    data, again = edited(FORMAT, recording, [Rewrite(result.id, 0, "[cleared]", "clear")])
    lines = data.decode().splitlines()
    assert json.loads(lines[0])["messages_display"] == (
        "user: 你好\nassistant: None\ntool: [cleared]\nassistant: Done."
    )
    assert "你好" in lines[0]
    assert lines[1] == source.text.splitlines()[1]
    assert messages_of(again)[2].results[0].text == "[cleared]"


def test_text_without_roles_is_one_message_of_the_user() -> None:
    source = source_of([{"messages_display": "Hello.\nuser: hi"}], lines=True)
    (message,) = messages_of(assert_identity(FORMAT, source))
    assert (message.role, message.text) == ("user", "Hello.\nuser: hi")


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", corpus_files("tau-bench"), ids=lambda p: p.name)
def test_real_files_come_back_byte_for_byte_and_survive_edits(path: Path) -> None:
    source = read(path)
    assert FORMAT.recognises(source) == 1.0
    recording = assert_identity(FORMAT, source)
    for index in (0, len(recording.conversations) - 1):
        assert_edits_survive(FORMAT, source, index)
