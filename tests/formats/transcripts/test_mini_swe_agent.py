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
from foldline.formats.transcripts.embedded import MiniSweAgent
from foldline.values.edits import Drop, Rewrite
from foldline.values.messages import Thinking, Usage

FORMAT = MiniSweAgent()
USAGE = {
    "prompt_tokens": 10,
    "completion_tokens": 4,
    "prompt_tokens_details": {"cached_tokens": 6},
}


def call(number: str, command: str) -> dict[str, Any]:
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    return {"id": number, "type": "function", "function": function}


def trajectory() -> dict[str, Any]:
    return {
        "info": {"exit_status": "Submitted", "model_stats": {"instance_cost": 1.50}},
        "messages": [
            {"role": "system", "content": "You act."},
            {"role": "user", "content": "Fix it."},
            {
                "role": "assistant",
                "content": "",
                "reasoning_content": "First look.",
                "tool_calls": [call("c1", "ls")],
                "extra": {"response": {"usage": USAGE, "choices": ["a copy of it all"]}},
            },
            {"role": "tool", "tool_call_id": "c1", "content": "a.py", "extra": {"raw": "a.py"}},
            {"role": "assistant", "content": None, "tool_calls": [call("c2", "submit")]},
            {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}},
        ],
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": "a__b-1",
    }


def test_the_outcome_is_not_a_message_and_extra_is_not_read() -> None:
    recording = assert_identity(FORMAT, source_of(trajectory()))
    messages = messages_of(recording)
    assert recording.conversations[0].name == "a__b-1"
    assert [m.role for m in messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert messages[2].parts[0] == Thinking("First look.")
    assert messages[2].usage == Usage(input=4, output=4, cache_read=6)
    assert "copy" not in messages[2].text


def test_an_unanswered_call_is_valid_data() -> None:
    messages = messages_of(FORMAT.decode(source_of(trajectory())))
    assert [c.id for c in messages[-1].calls] == ["c2"]


def test_a_cleared_result_keeps_its_other_fields_and_the_outcome_stays_last() -> None:
    recording = FORMAT.decode(source_of(trajectory()))
    result = messages_of(recording)[3]
    data, again = edited(FORMAT, recording, [Rewrite(result.id, 0, "[cleared]", "clear")])

    wanted = trajectory()
    wanted["messages"][3]["content"] = "[cleared]"
    assert json.loads(data) == wanted
    assert data == json.dumps(wanted, indent=2).encode()
    assert messages_of(again)[3].results[0].text == "[cleared]"


def test_the_outcome_is_kept_when_every_message_is_removed() -> None:
    recording = FORMAT.decode(source_of(trajectory()))
    gone = Drop(tuple(m.id for m in messages_of(recording)), "window")
    data, _ = edited(FORMAT, recording, [gone])
    assert [m["role"] for m in json.loads(data)["messages"]] == ["exit"]


def test_a_malformed_message_is_named() -> None:
    broken = trajectory()
    broken["messages"][2]["tool_calls"][0]["function"] = 7
    with pytest.raises(InputError) as caught:
        FORMAT.decode(source_of(broken))
    assert caught.value.index == 2
    assert "tool_calls[0].function" in caught.value.field


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", corpus_files("mini-swe-agent"), ids=lambda p: p.name)
def test_real_files_come_back_byte_for_byte_and_survive_edits(path: Path) -> None:
    source = read(path)
    assert FORMAT.recognises(source) == 1.0
    assert_identity(FORMAT, source)
    assert_edits_survive(FORMAT, source)
