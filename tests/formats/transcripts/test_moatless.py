from __future__ import annotations

from typing import Any

import pytest
from tests.corpus import ROOT, requires_corpus
from tests.formats.transcripts.editing import (
    assert_edits_survive,
    assert_identity,
    messages_of,
    read,
    source_of,
)

from foldline.errors import InputError
from foldline.formats.transcripts.embedded import Moatless

FORMAT = Moatless()


def node(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"completions": {"build_action": {"model": "m", "input": list(messages)}}}


def trajectory() -> dict[str, Any]:
    asked = {"role": "user", "content": "Rewrite the loader of a.py."}
    call = {"type": "tool_use", "id": "call_1", "name": "ViewCode", "input": {"path": "a.py"}}
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": "x = 1\n" * 40}
    return {
        "metadata": {"instance_id": "a__b-1"},
        "agent": {"system_prompt": "You act."},
        "nodes": [
            {"message": "the task", "completions": {}},
            node(asked),
            node(
                asked,
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": [result]},
                {"role": "assistant", "content": "The loader reads a.py once."},
            ),
            {"completions": {}},
        ],
    }


def test_the_newest_request_is_the_conversation() -> None:
    recording = assert_identity(FORMAT, source_of(trajectory()))
    assert recording.current.name == "a__b-1"
    assert recording.current.transcript.system == "You act."
    assert len(messages_of(recording)) == 4


def test_edits_survive() -> None:
    assert_edits_survive(FORMAT, source_of(trajectory()))


@pytest.mark.parametrize("document", [{}, {"nodes": {}}, {"nodes": [None, {"completions": []}]}])
def test_a_document_of_another_kind_is_rejected(document: dict[str, Any]) -> None:
    source = source_of(document)
    assert FORMAT.recognises(source) == 0
    with pytest.raises(InputError, match="no request of Moatless"):
        FORMAT.decode(source)


@requires_corpus
@pytest.mark.corpus
def test_a_real_trajectory_is_read_and_written() -> None:
    source = read(ROOT / "moatless-tools" / "pytest-dev__pytest-11143.trajectory.json.gz")
    assert_identity(FORMAT, source)
    assert_edits_survive(FORMAT, source)
