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
from foldline.formats.transcripts.embedded import LangGraph
from foldline.values.edits import Rewrite

FORMAT = LangGraph()


def plain() -> list[dict[str, Any]]:
    call = {"name": "look", "args": {"q": "汉"}, "id": "c1", "type": "tool_call"}
    return [
        {"type": "human", "content": [{"type": "text", "text": "Hi"}], "id": "m1"},
        {"type": "ai", "content": "", "tool_calls": [call], "id": "m2", "usage_metadata": None},
        {"type": "tool", "content": "found", "tool_call_id": "c1", "artifact": 1, "id": "m3"},
        {"type": "system", "content": "In the middle.", "id": "m4"},
        {"type": "ai", "content": "Done.", "tool_calls": [], "id": "m5"},
    ]


def serialized() -> list[dict[str, Any]]:
    names = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    return [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", names[item["type"]]],
            "kwargs": item,
        }
        for item in plain()
        if item["type"] in names
    ]


@pytest.mark.parametrize(
    "document",
    [
        {"values": {"messages": plain(), "title": "t"}, "next": []},
        {"channel_values": {"messages": plain()}},
        {"messages": plain()},
        plain(),
        serialized(),
    ],
    ids=["thread", "checkpoint", "messages", "list", "serialized"],
)
def test_messages_are_found_in_every_kind_of_state(document: Any) -> None:
    source = source_of(document, ensure_ascii=False)
    assert FORMAT.recognises(source) == 1.0
    recording = assert_identity(FORMAT, source)
    messages = messages_of(recording)
    assert messages[1].calls[0].arguments == '{"q": "汉"}'

    data, again = edited(FORMAT, recording, [Rewrite(messages[2].id, 0, "[cleared]", "clear")])
    written = data.decode().splitlines()
    changed = [
        new for old, new in zip(source.text.splitlines(), written, strict=True) if old != new
    ]
    assert len(changed) == 1
    assert '"content": "[cleared]"' in changed[0]
    assert messages_of(again)[2].results[0].text == "[cleared]"


def test_a_system_message_in_the_middle_keeps_its_position() -> None:
    messages = messages_of(FORMAT.decode(source_of(plain())))
    assert [m.role for m in messages] == ["user", "assistant", "tool", "system", "assistant"]


@pytest.mark.parametrize(
    "document",
    [[], {}, [{"role": "user", "content": "x"}], [{"type": "message", "content": []}], [1], 5],
)
def test_other_documents_are_not_recognised(document: Any) -> None:
    source = source_of(document)
    assert FORMAT.recognises(source) == 0.0
    with pytest.raises(InputError):
        FORMAT.decode(source)


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", corpus_files("langchain"), ids=lambda p: p.name)
def test_real_files_come_back_byte_for_byte_and_survive_edits(path: Path) -> None:
    source = read(path)
    assert FORMAT.recognises(source) == 1.0
    recording = assert_identity(FORMAT, source)
    assert_edits_survive(FORMAT, source)
    result = next(m for m in messages_of(recording) if m.results)
    data, _ = edited(FORMAT, recording, [Rewrite(result.id, 0, "[cleared]", "clear")])
    before, after = json.loads(source.text), json.loads(data)
    if isinstance(before, dict):
        del before["values"]["messages"], after["values"]["messages"]
        assert after == before
