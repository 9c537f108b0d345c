from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from tests.corpus import corpus_files, requires_corpus
from tests.inspector.sample import claude_code, quiet
from tests.inspector.sample import from_our_file as read

from foldline.errors import FoldlineError
from foldline.inspector.file_reading import mark, read_appended, read_content
from foldline.inspector.loading import read_growth
from foldline.inspector.trace import SessionTrace

TALK = [(("user", "assistant")[n % 2], f"sentence {n} about the tills") for n in range(40)]


def grow(tmp_path: Path, before: int) -> tuple[SessionTrace, Path]:
    """Read the start of a session, then let it grow."""
    path = claude_code(tmp_path / "s.jsonl", TALK)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:before]))
    trace = read(path)
    with path.open("ab") as file:
        file.write(b"".join(lines[before:]))
    return trace, path


@pytest.mark.parametrize("before", [2, 7, 39])
@pytest.mark.requirement("V10")
def test_reading_the_appended_part_equals_reading_the_whole_file(
    tmp_path: Path, before: int
) -> None:
    trace, path = grow(tmp_path, before)
    now = read_growth(trace, quiet)
    whole = read(path)
    assert now is not None
    assert (now.log, [m.id for m in now.log]) == (whole.log, [m.id for m in whole.log])
    assert now.timeline == whole.timeline
    assert now.stats == whole.stats
    assert all(new is old for new, old in zip(now.log, trace.log, strict=False))


def test_a_beginning_that_was_changed_is_noticed(tmp_path: Path) -> None:
    trace, path = grow(tmp_path, 20)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"sentence 3 ", b"sentence 4 ", 1))
    assert read_growth(trace, quiet) is None
    path.write_bytes(data[: len(data) // 4])
    assert read_growth(trace, quiet) is None


def test_a_replaced_file_is_read_as_a_whole(tmp_path: Path) -> None:
    trace, path = grow(tmp_path, 20)
    other = tmp_path / "other"
    other.write_bytes(path.read_bytes())
    other.replace(path)
    assert read_growth(trace, quiet) is None


def test_half_a_line_is_read_once_it_is_whole(tmp_path: Path) -> None:
    path = claude_code(tmp_path / "s.jsonl", TALK)
    data = path.read_bytes()
    last = data[:-1].rindex(b"\n") + 1
    path.write_bytes(data[: last + 30])
    trace = read(path)
    path.write_bytes(b"")  # the same file, written again
    path.write_bytes(data)
    now = read_growth(trace, quiet)
    assert now is not None
    assert now.log == read(path).log


def test_one_document_is_read_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps([{"role": "user", "content": "Hello"}], indent=1))
    assert mark(path, "wire", path.stat().st_size) is None


@requires_corpus
@pytest.mark.corpus
def test_growing_recorded_sessions_are_read_as_the_whole_file(tmp_path: Path) -> None:
    followed = 0
    for recorded in corpus_files("claude-code", "codex", "pi"):
        data = recorded.read_bytes()
        data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        lines = data.splitlines(keepends=True)
        path = tmp_path / "s.jsonl"
        whole = None
        for share in (0.5, 0.95):
            path.write_bytes(b"".join(lines[: max(2, int(share * len(lines)))]))
            try:
                before = read_content(path, "auto", None)
            except FoldlineError:
                continue  # not lines, or nothing was said yet
            marked = mark(path, before.format, path.stat().st_size)
            with path.open("ab") as file:
                file.write(b"".join(lines[max(2, int(share * len(lines))) :]))
            found = marked and read_appended(marked, before.segments[-1])
            if found:
                whole = whole or read_content(path, "auto", None).segments[-1]
                assert found[0] == whole, recorded
                assert [m.id for m in found[0]] == [m.id for m in whole], recorded
                followed += 1
    assert followed > 30
