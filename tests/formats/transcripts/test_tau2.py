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
from foldline.formats.transcripts.tau import Tau2
from foldline.values.edits import Fold, Insert, Rewrite
from foldline.values.groups import group
from foldline.values.messages import Message, Text, ToolCall, ToolResult, Usage

FORMAT = Tau2()


def call(number: str, tool: str, requestor: str, **arguments: Any) -> dict[str, Any]:
    return {"id": number, "name": tool, "arguments": arguments, "requestor": requestor}


def result(
    number: str, content: str | None, requestor: str, error: bool = False
) -> dict[str, Any]:
    fields = {"id": number, "role": "tool", "content": content, "requestor": requestor}
    return {**fields, "error": error, "turn_idx": 4}


def results() -> dict[str, Any]:
    usage = {"completion_tokens": 3, "prompt_tokens": 9}
    messages = [
        {"role": "assistant", "content": "Hi!", "tool_calls": None, "turn_idx": 0, "usage": None},
        {"role": "user", "content": "Help – 帮助", "tool_calls": None, "usage": usage},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                call("a1", "find", "assistant", name="Ann"),
                call("a2", "find", "assistant", name="Bob"),
            ],
            "raw_data": {"copy": True},
        },
        result("a2", "none", "assistant", error=True),
        result("a1", "found", "assistant"),
        {"role": "user", "content": None, "tool_calls": [call("u1", "check", "user")]},
        result("u1", "Airplane mode", "user"),
    ]
    simulation = {"id": "s", "task_id": "40", "messages": messages, "trial": 2, "seed": 1}
    return {"timestamp": "t", "info": {}, "tasks": [], "simulations": [simulation]}


def test_both_sides_call_tools_and_results_pair_by_id() -> None:
    recording = assert_identity(FORMAT, source_of(results(), ensure_ascii=False))
    messages = messages_of(recording)
    assert recording.conversations[0].name == "task 40 trial 2"
    assert messages[5].role == "user"
    assert messages[5].parts == (ToolCall("u1", "check", "{}"),)
    assert not messages[5].is_from_user()
    assert [g.members for g in group(messages)] == [(0,), (1,), (2, 3, 4), (5, 6)]
    assert messages[3].results[0].is_error
    assert messages[1].usage == Usage(input=9, output=3)


def test_a_changed_message_keeps_requestor_and_other_fields() -> None:
    recording = FORMAT.decode(source_of(results(), ensure_ascii=False))
    messages = messages_of(recording)
    edits = [
        Rewrite(messages[6].id, 0, "[cleared]", "clear"),
        Rewrite(messages[2].id, 1, '{"name": "cut"}', "clear"),
    ]
    data, again = edited(FORMAT, recording, edits)
    wanted = results()
    wanted["simulations"][0]["messages"][6]["content"] = "[cleared]"
    wanted["simulations"][0]["messages"][2]["tool_calls"][1]["arguments"] = {"name": "cut"}
    assert data == json.dumps(wanted, indent=2, ensure_ascii=False).encode()
    assert messages_of(again)[2].calls[1].arguments == '{"name": "cut"}'


def test_new_messages_have_the_shape_of_the_file() -> None:
    recording = FORMAT.decode(source_of(results()))
    messages = messages_of(recording)
    lost = Message(
        "tool", (ToolResult("u1", (Text("no result recorded"),), is_error=True),), id="r"
    )
    edits = [
        Fold((messages[1].id,), Message("user", (Text("Summary."),), id="s")),
        Insert(messages[5].id, lost),
    ]
    data, again = edited(FORMAT, recording, edits)
    written = json.loads(data)["simulations"][0]["messages"]
    assert written[1] == {"role": "user", "content": "Summary."}
    assert written[6] == {
        "id": "u1",
        "role": "tool",
        "content": "no result recorded",
        "requestor": "assistant",
        "error": True,
    }
    assert messages_of(again)[6].results[0] == lost.results[0]


@pytest.mark.parametrize(
    ("position", "change", "field"),
    [
        (0, {"role": "nobody"}, "role"),
        (1, {"content": ["x"]}, "content"),
        (2, {"tool_calls": [{"name": "find"}]}, "tool_calls[0].id"),
        (3, {"id": None}, "id"),
    ],
)
def test_a_malformed_message_is_named(position: int, change: dict[str, Any], field: str) -> None:
    document = results()
    document["simulations"][0]["messages"][position] |= change
    with pytest.raises(InputError, match=r"^task 40 trial 2, ") as caught:
        FORMAT.decode(source_of(document))
    assert (caught.value.index, caught.value.field) == (position, field)


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", corpus_files("tau2"), ids=lambda p: p.name)
def test_real_files_come_back_byte_for_byte_and_survive_edits(path: Path) -> None:
    source = read(path)
    assert FORMAT.recognises(source) == 1.0
    recording = assert_identity(FORMAT, source)
    for index in (0, len(recording.conversations) - 1):
        assert_edits_survive(FORMAT, source, index)
