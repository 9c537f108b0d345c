from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.sample import write_conversation
from tests.corpus import corpus_files, requires_corpus
from tests.inspector.sample import claude_code, quiet

from foldline.errors import InputError
from foldline.inspector.file_reading import read_apart, read_content


def both(path: Path, conversation: int | None = None):
    here = read_content(path, "auto", conversation)
    return here, read_apart(path, "auto", conversation, quiet)


def test_a_separate_process_reads_the_same(tmp_path: Path) -> None:
    first, second = both(write_conversation(tmp_path / "s.json"))
    assert first == second
    assert [m.id for m in first.segments[0]] == [m.id for m in second.segments[0]]


def test_texts_of_any_kind_are_transferred_completely(tmp_path: Path) -> None:
    words = "half \ud800 a pair, \x00 \u2028 \n ü \U0001f600"
    path = claude_code(tmp_path / "s.jsonl", [("user", words), ("assistant", words)])
    first, second = both(path)
    assert first == second
    assert first.segments[0][0].text == words
    assert first.model == "claude-sonnet-4-5"


def test_nothing_in_the_working_directory_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json.py", "foldline.py", "zlib.py"):
        (tmp_path / name).write_text("raise SystemExit('taken over')")
    monkeypatch.chdir(tmp_path)
    assert both(write_conversation(tmp_path / "s.json"))[1].segments


def test_unreadable_input_is_the_same_error(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    for content, conversation in (("{}", None), ("", None), (json.dumps([]), 3)):
        path.write_text(content)
        with pytest.raises(InputError) as here:
            read_content(path, "auto", conversation)
        with pytest.raises(InputError) as apart:
            read_apart(path, "auto", conversation, quiet)
        assert (here.value.message, here.value.hint) == (apart.value.message, apart.value.hint)


@requires_corpus
@pytest.mark.corpus
def test_real_sessions_are_transferred_completely() -> None:
    files = [*corpus_files("claude-code-entire")[:2], *corpus_files("codex-jdx")[:1]]
    assert files
    for path in files:
        first, second = both(path)
        assert first == second
