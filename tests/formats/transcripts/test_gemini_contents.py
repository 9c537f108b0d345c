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
from foldline.formats.files import file_format, read_file
from foldline.formats.transcripts.embedded import GeminiContents
from foldline.values.edits import Rewrite
from foldline.values.groups import group

FORMAT = GeminiContents()


def contents() -> list[dict[str, Any]]:
    response = {"name": "look", "response": {"output": "found"}}
    call = {"functionCall": {"name": "look", "args": {}}, "thoughtSignature": "c2ln"}
    return [
        {"role": "user", "parts": [{"text": "<state_snapshot>before</state_snapshot>"}]},
        {"role": "model", "parts": [{"text": "Hm.", "thought": True}, call]},
        {"role": "user", "parts": [{"functionResponse": response}]},
        {"role": "model", "parts": [{"text": "Done."}]},
    ]


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (contents(), "contents"),
        ({"contents": contents(), "tools": []}, "contents"),
        ({"scenarioId": "s-1", "history": contents(), "questions": []}, "s-1"),
    ],
    ids=["list", "request", "wrapper"],
)
def test_contents_are_found_and_calls_without_ids_have_their_results(
    document: Any, name: str
) -> None:
    source = source_of(document)
    assert FORMAT.recognises(source) == 1.0
    recording = assert_identity(FORMAT, source)
    assert recording.conversations[0].name == name
    messages = messages_of(recording)
    assert (1, 2) in [g.members for g in group(messages)]

    data, again = edited(FORMAT, recording, [Rewrite(messages[2].id, 0, "[cleared]", "clear")])
    assert messages_of(again)[2].results[0].text == "[cleared]"
    assert data.count(b"c2ln") == 1
    assert json.loads(data) != document


@pytest.mark.parametrize("document", [{}, [], [{"parts": 1}], {"contents": []}, {"history": [1]}])
def test_other_documents_are_not_recognised(document: Any) -> None:
    source = source_of(document)
    assert FORMAT.recognises(source) == 0.0
    with pytest.raises(InputError):
        FORMAT.decode(source)


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", corpus_files("gemini-contents"), ids=lambda p: p.name)
def test_real_files_come_back_byte_for_byte_and_survive_edits(path: Path) -> None:
    source = read(path)
    assert FORMAT.recognises(source) == 1.0
    assert_identity(FORMAT, source)
    assert_edits_survive(FORMAT, source)


def test_messages_of_pydantic_ai_are_not_gemini_contents() -> None:
    messages = pytest.importorskip("pydantic_ai.messages")
    history = [
        messages.ModelRequest(parts=[messages.UserPromptPart(content="Why?")]),
        messages.ModelResponse(parts=[messages.TextPart(content="Because.")]),
    ]
    data = messages.ModelMessagesTypeAdapter.dump_json(history)
    there = read_file(data)
    assert (there.format, there.current.transcript.dialect) == ("wire", "pydantic-ai")
    assert file_format(there.format).encode(there) == data
