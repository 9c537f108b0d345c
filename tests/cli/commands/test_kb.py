"""``foldline kb``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.sample import foldline, start

GUIDE = "# Guide\n\n## Retries\n\nA failed request is tried again three times.\n"


def result_of(*words: object, stdin: bytes | None = None) -> dict[str, Any]:
    done = foldline("kb", *words, "--json", stdin=stdin)
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "guide.md").write_text(GUIDE)
    (folder / "zh.txt").write_text("上下文窗口以词元计数。")
    (folder / "data.bin").write_bytes(bytes(range(256)))
    return folder


@pytest.mark.requirement("T14")
def test_an_addition_is_found_in_another_process(docs: Path, tmp_path: Path) -> None:
    added = foldline("kb", "add", docs)
    assert (added.exit_code, added.stdout) == (0, "")
    assert "data.bin: is not text" in added.stderr
    assert "Documents: 2 added." in added.stderr
    out, _ = start("kb", "search", "how often is it tried again?", "--quiet").communicate(
        timeout=60
    )
    assert b"guide.md, lines 1-5 (Guide)" in out
    assert b"three times" in out
    found = result_of("search", "窗口 计数")
    assert found["schema"] == "foldline.kb.search/1"
    assert [row["document"] for row in found["results"]] == [str(docs / "zh.txt")]
    assert (tmp_path / "kept" / "knowledge.db").exists()


def test_documents_are_kept_in_a_database_by_its_url(docs: Path, postgres_url: str) -> None:
    foldline("kb", "--file", postgres_url, "add", docs)
    found = result_of("search", "窗口 计数", "--file", postgres_url)
    assert [row["document"] for row in found["results"]] == [str(docs / "zh.txt")]
    assert result_of("stats", "--file", postgres_url)["bytes"] > 0
    built = foldline(
        "context", "build", "--query", "how often is a request tried again?", "--kb", postgres_url
    )
    assert "three times" in built.stdout


def test_a_document_without_text_is_not_counted_as_added(tmp_path: Path) -> None:
    empty, blank = tmp_path / "empty.md", tmp_path / "blank.md"
    empty.write_text("")
    blank.write_text(" \n\n")
    assert "Documents: 2 without text." in foldline("kb", "add", empty, blank).stderr
    full = tmp_path / "full.md"
    full.write_text(GUIDE)
    shown = foldline("kb", "add", empty, full).stderr
    assert "Documents: 1 added, 1 without text." in shown


@pytest.mark.requirement("T14")
def test_a_folder_that_changed_is_added_as_it_is_now(docs: Path) -> None:
    assert len(result_of("add", docs)["documents"]) == 2
    (docs / "zh.txt").unlink()
    (docs / "guide.md").write_text(GUIDE + "\nMore.\n")
    again = result_of("add", docs)
    assert [one["outcome"] for one in again["documents"]] == ["replaced"]
    assert again["removed"] == [str(docs / "zh.txt")]
    assert "Documents: 1 unchanged." in foldline("kb", "add", docs).stderr
    assert result_of("add", docs, "--only", "*.txt")["documents"] == []


def test_an_unreadable_file_does_not_prevent_the_others(docs: Path, tmp_path: Path) -> None:
    wide = tmp_path / "utf16.json"
    wide.write_text('{"retries": "three times"}', encoding="utf-16")
    paths = (docs / "guide.md", docs / "data.bin", tmp_path / "missing.md", wide)
    done = foldline("kb", "add", *paths)
    assert done.exit_code == 3
    assert f"skipped {docs / 'data.bin'}: is not text." in done.stderr
    assert "missing.md cannot be read" in done.stderr
    assert "Documents: 2 added." in done.stderr
    assert "2 of 4 paths could not be read." in done.stderr
    again = foldline("kb", "add", *paths, "--json")
    assert again.exit_code == 3
    told = json.loads(again.stdout)
    assert [one["outcome"] for one in told["documents"]] == ["unchanged", "unchanged"]
    assert len(told["skipped"]) == 2


def test_stdin_has_a_name() -> None:
    assert foldline("kb", "add", "-", stdin=b"words").exit_code == 2
    result_of("add", "-", "--name", "notes.md", stdin=GUIDE.encode())
    assert result_of("ls")["documents"][0]["title"] == "Guide"
    assert foldline("kb", "add", "-", "x", "--name", "y").exit_code == 2


@pytest.mark.requirement("T14")
def test_no_evidence_is_reported_without_an_error(docs: Path) -> None:
    result_of("add", docs)
    done = foldline("kb", "search", "zebra quagga")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "No evidence" in done.stderr
    assert result_of("search", "zebra quagga")["evidence"] is False


def test_evidence_is_written_for_a_prompt(docs: Path) -> None:
    result_of("add", docs)
    done = foldline("kb", "search", "retries", "--budget", 200)
    assert done.stdout.startswith('<passage n="1" source="')
    assert result_of("search", "retries", "--budget", 200)["text"] + "\n" == done.stdout
    tiny = foldline("kb", "search", "retries", "--budget", 1)
    assert (tiny.exit_code, tiny.stdout) == (0, "")
    assert tiny.stderr == "1 passage found, but none fits into 1 token; raise --budget.\n"


def test_documents_are_listed_and_removed(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result_of("add", docs)
    monkeypatch.chdir(docs)
    assert "Guide" in foldline("kb", "ls").stdout
    assert "2 documents" in foldline("kb", "stats").stdout
    assert result_of("rm", "guide.md")["removed"] == [str(docs / "guide.md")]
    missing = foldline("kb", "rm", "guide.md")
    assert missing.exit_code == 3
    assert "'foldline kb ls'" in missing.stderr
    assert result_of("stats")["documents"] == 1
    assert "There is no document" in foldline("kb", "--namespace", "other", "ls").stderr


def test_namespaces_and_files_are_apart(docs: Path, tmp_path: Path) -> None:
    result_of("add", docs)
    foldline("kb", "--namespace", "other", "add", docs / "guide.md")
    assert "Other namespaces: other." in foldline("kb", "stats").stderr
    assert foldline("kb", "--file", tmp_path / "none.db", "search", "x").exit_code == 5
    (tmp_path / "bad.db").write_bytes(b"not a database" * 99)
    assert foldline("kb", "--file", tmp_path / "bad.db", "stats").exit_code == 5


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("add",), 2),
        (("add", "/nowhere/at/all"), 3),
        (("add", "/dev/null"), 3),
        (("search", "x", "--limit", "0"), 2),
        (("search", ""), 3),
        (("search", "x", "--min-strength", "2"), 2),
        (("--namespace", " ", "add", "/dev/null"), 3),
    ],
)
def test_wrong_arguments_are_reported(docs: Path, words: tuple[str, ...], code: int) -> None:
    result_of("add", docs)
    done = foldline("kb", *words)
    assert done.exit_code == code
    assert done.stdout == ""
