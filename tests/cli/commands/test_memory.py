"""``foldline memory``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.sample import foldline


def result_of(*words: object, stdin: bytes | None = None) -> dict:
    done = foldline("memory", *words, "--json", stdin=stdin)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.requirement("T8")
def test_an_addition_is_found_in_another_process(tmp_path: Path) -> None:
    added = foldline("memory", "add", "The launch moved to May", "--importance", "0.8")
    assert (added.exit_code, added.stderr) == (0, "Added.\n")
    again = foldline("memory", "add", "-", stdin=b"the launch moved to MAY\n")
    assert again.stdout == added.stdout
    assert "refreshed" in again.stderr
    found = result_of("search", "when is the launch?")
    assert found["schema"] == "foldline.memory.search/1"
    assert [row["id"] for row in found["results"]] == [added.stdout.strip()]
    assert "launch" in foldline("memory", "search", "launch").stdout
    assert (tmp_path / "kept" / "memory.db").exists()


def test_memories_are_kept_in_a_database_by_its_url(postgres_url: str) -> None:
    foldline("memory", "--file", postgres_url, "add", "The launch moved to May")
    found = foldline("memory", "search", "launch", "--file", postgres_url, "--json")
    assert json.loads(found.stdout)["results"][0]["content"] == "The launch moved to May"
    counted = foldline("memory", "stats", "--file", postgres_url, "--json")
    assert json.loads(counted.stdout)["count"] == 1


def test_filters_narrow_down_a_search_and_a_list() -> None:
    for day, kind in (("2026-01-05", "episodic"), ("2026-02-05", "semantic")):
        result_of("add", f"apples on {day}", "--kind", kind, "--happened", day, "--session", day)
    for words in (("search", "apples"), ("list",)):
        rows = next(
            value for value in result_of(*words, "--since", "2026-02-01").values() if value != ""
            and isinstance(value, list)
        )  # fmt: skip
        assert [row["kind"] for row in rows] == ["semantic"]
    assert (
        result_of("search", "apples", "--session", "2026-01-05")["results"][0]["kind"]
        == "episodic"
    )
    assert result_of("search", "apples", "--min-importance", "0.9")["results"] == []
    assert result_of("list", "--kind", "working")["memories"] == []


def test_a_forgotten_memory_is_restored() -> None:
    result_of("add", "trivial", "--importance", "0.05")
    result_of("add", "old", "--happened", "2001-01-01")
    result_of("add", "vital", "--importance", "0.9", "--kind", "working")
    done = result_of("forget", "--below", "0.1")
    assert len(done["ids"]) == 1
    assert result_of("undo", done["batch"])["ids"] == done["ids"]
    again = foldline("memory", "undo", done["batch"])
    assert (again.exit_code, again.stdout) == (3, "")
    assert f"No forgotten memory has the number {done['batch']}." in again.stderr
    assert "brings them back" in foldline("memory", "forget", "--by", "time").stderr
    assert "1 memory" in foldline("memory", "consolidate").stderr
    assert "2 memories" in foldline("memory", "stats").stdout
    assert result_of("stats")["kinds"]["episodic"]["count"] == 2


def test_one_memory_is_shown_with_its_history_and_removed() -> None:
    name = result_of("add", "line one\nline two")["memory"]["id"]
    shown = foldline("memory", "show", name)
    assert shown.stdout == "line one\nline two\n"
    assert f"{name}@1" in shown.stderr
    assert foldline("memory", "rm", name).exit_code == 0
    assert result_of("show", name)["memory"] is None
    assert result_of("show", name)["history"][0]["state"] == "removed"


def test_users_and_files_are_kept_apart(tmp_path: Path) -> None:
    other = tmp_path / "new" / "other.db"
    assert foldline("memory", "--user", "ann", "add", "mine").exit_code == 0
    assert foldline("memory", "--file", other, "add", "elsewhere").exit_code == 0
    assert result_of("list")["memories"] == []
    assert json.loads(
        foldline("memory", "--user", "ann", "list", "--json").stdout
    )["memories"][0]["content"] == "mine"  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "words_told"),
    [
        (("search", "x"), 5, "There is no memory"),
        (("add", "  "), 3, "nothing to remember"),
        (("add", "x", "--kind", "perceptual"), 2, "perceptual"),
        (("add", "x", "--importance", "nan"), 2, "from 0 to 1"),
        (("clear",), 2, "--yes"),
        (("search",), 2, "QUERY"),
        (("search", " "), 3, "The query is empty."),
        (("list", "--since", "foo"), 2, "'foo' is not a date: write 2026-01-31"),
    ],
)
def test_errors_have_their_exit_codes(words: tuple, code: int, words_told: str) -> None:
    done = foldline("memory", *words)
    assert done.exit_code == code
    assert words_told in done.stderr


def test_no_match_is_reported_without_an_error() -> None:
    result_of("add", "something")
    done = foldline("memory", "search", "zebra")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "No memory matches." in done.stderr
    assert foldline("memory", "search", "zebra", "-q").stderr == ""
    assert foldline("memory", "clear", "--yes").stderr == "Erased 1 memory.\n"
    assert foldline("memory", "list").stderr == "There are no memories.\n"


def test_an_unknown_id_is_bad_input() -> None:
    result_of("add", "something")
    for command in ("rm", "show"):
        assert foldline("memory", command, "nobody").exit_code == 3


def test_content_cannot_control_the_terminal() -> None:
    result_of("add", "evil \x1b[2J text")
    assert "\x1b" not in foldline("memory", "list").stdout
