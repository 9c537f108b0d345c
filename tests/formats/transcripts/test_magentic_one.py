from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.corpus import corpus_files, requires_corpus
from tests.formats.transcripts.editing import (
    assert_edits_survive,
    assert_identity,
    messages_of,
    read,
    source_of,
)

from foldline.errors import InputError
from foldline.formats.transcripts.embedded import MagenticOne

FORMAT = MagenticOne()
REAL = [path for path in corpus_files() if path.parent.name.startswith("magentic")]


def history() -> dict[str, Any]:
    said = [
        ("human", "Which fund grew most?"),
        ("Orchestrator (thought)", "Initial plan: look at the list of funds."),
        ("Orchestrator (-> WebSurfer)", "Please open the list."),
        ("WebSurfer", "The page shows twelve funds. " * 20),
        ("Orchestrator (termination condition)", "The answer is known."),
    ]
    return {"question": "Which?", "history": [{"content": c, "role": r} for r, c in said]}


def test_humans_are_read_as_user_and_agents_as_assistant() -> None:
    recording = assert_identity(FORMAT, source_of(history()))
    assert [m.role for m in messages_of(recording)] == ["user", *["assistant"] * 4]


def test_edits_survive() -> None:
    assert_edits_survive(FORMAT, source_of(history()))


@pytest.mark.parametrize("entries", [None, [], [{"role": "human", "content": "Hi"}], [5]])
def test_another_document_is_not_recognised(entries: Any) -> None:
    assert FORMAT.recognises(source_of({"history": entries})) == 0


def test_a_damaged_entry_is_named() -> None:
    with pytest.raises(InputError, match="message 0"):
        FORMAT.decode(source_of({"history": [{"role": 5}]}))


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_histories_are_read_and_written(path: Path) -> None:
    assert_identity(FORMAT, read(path))
    assert_edits_survive(FORMAT, read(path))
