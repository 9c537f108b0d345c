from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from tests.cli.sample import PLANTED, conversation, foldline, write_conversation

from foldline.settings.sources import data_folder


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """An archive with two sessions, one of them compacted."""
    for name, steps in (("long.json", 12), ("short.json", 3)):
        file = write_conversation(tmp_path / name, steps)
        foldline("compact", file, "--budget", "30%", "-o", tmp_path / "out.json")
    return data_folder() / "archive.db"


def listed() -> list[str]:
    told = json.loads(foldline("sessions", "list", "--json").stdout)
    return [one["name"] for one in told["sessions"]]


def test_the_sessions_are_listed_with_or_without_a_verb(kept: Path) -> None:
    assert listed() == ["short.json", "long.json"]
    for words in ((), ("list",)):
        done = foldline("sessions", *words)
        assert "long.json" in done.stdout
        assert "2 sessions." in done.stderr
    assert foldline("recall", "--list").stdout == foldline("sessions").stdout


def test_a_session_shows_what_its_compactions_did(kept: Path) -> None:
    told = json.loads(foldline("sessions", "show", "long.json", "--json").stdout)
    (receipt,) = told["receipts"]

    assert told["messages"] == len(conversation())
    assert receipt["tokens_after"] < receipt["tokens_before"]
    shown = foldline("sessions", "show", "long.json")
    assert f"{receipt['tokens_before']:,}" in shown.stdout
    assert "1 compaction" in shown.stderr


def test_an_export_has_the_wire_messages_and_is_private(kept: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert foldline("sessions", "export", "long.json", "-o", out).exit_code == 0
    lines = out.read_text().splitlines()

    assert [json.loads(line) for line in lines] == conversation()
    assert foldline("sessions", "export", "long.json").stdout == out.read_text()
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_an_export_never_overwrites_the_archive(kept: Path) -> None:
    before = kept.read_bytes()
    assert foldline("sessions", "export", "long.json", "-o", kept).exit_code == 2
    assert kept.read_bytes() == before


def test_a_deleted_session_is_erased_from_the_bytes_of_the_file(kept: Path) -> None:
    foldline("sessions", "delete", "short.json")
    done = foldline("sessions", "delete", "long.json")

    assert "Deleted 1 session" in done.stderr
    assert listed() == []
    for file in kept.parent.iterdir():
        assert PLANTED.encode() not in file.read_bytes()


def test_nothing_is_deleted_if_one_name_is_wrong(kept: Path) -> None:
    done = foldline("sessions", "delete", "long.json", "lang.json")
    assert done.exit_code == 3
    assert "lang.json" in done.stderr
    assert len(listed()) == 2


@pytest.mark.parametrize("words", [("--all",), ("--keep", "30d"), ("--max-size", "1MB"), ()])
def test_deleting_more_than_named_sessions_needs_yes(kept: Path, words: tuple[str, ...]) -> None:
    assert foldline("sessions", "delete", *words).exit_code == 2
    assert len(listed()) == 2


def test_age_size_and_all_select_the_deleted_sessions(kept: Path) -> None:
    def deleted_names(*words: str) -> list[str]:
        done = foldline("sessions", "delete", *words, "--yes", "--json")
        return sorted(json.loads(done.stdout)["deleted"])

    assert deleted_names("--keep", "1h") == []
    assert deleted_names("--max-size", "1KB") == [], "sessions of the last hour are in use"
    assert deleted_names("--all") == ["long.json", "short.json"]


@pytest.mark.parametrize(
    "words",
    [("show", "nope"), ("export", "nope"), ("delete", "nope"), ("delete", "\udc80")],
)
def test_a_missing_session_is_bad_input(kept: Path, words: tuple[str, ...]) -> None:
    done = foldline("sessions", *words)
    assert done.exit_code in (3, 5)
    assert "Unexpected" not in done.stderr


def test_no_archive_creates_none() -> None:
    for words in (("list",), ("show", "a"), ("delete", "--all", "--yes")):
        done = foldline("sessions", *words)
        assert done.exit_code == 5
        assert "no archive" in done.stderr
    assert not os.path.lexists(data_folder() / "archive.db")


def test_sessions_in_a_database_are_listed_exported_and_deleted(
    kept: Path, postgres_url: str
) -> None:
    assert foldline("archive", "copy", kept, postgres_url).exit_code == 0
    told = json.loads(foldline("sessions", "list", "--archive", postgres_url, "--json").stdout)
    assert {one["name"] for one in told["sessions"]} == {"short.json", "long.json"}
    whole = foldline("sessions", "export", "long.json", "--archive", postgres_url)
    assert [json.loads(line) for line in whole.stdout.splitlines()] == conversation()
    (receipt,) = json.loads(
        foldline("sessions", "--archive", postgres_url, "show", "long.json", "--json").stdout
    )["receipts"]
    handle = next(iter(receipt["recall"]))
    assert foldline("recall", handle, "--archive", postgres_url).exit_code == 0
    assert foldline("sessions", "delete", "long.json", "--archive", postgres_url).exit_code == 0


def test_a_database_that_cannot_be_reached_is_reported() -> None:
    pytest.importorskip("psycopg")
    done = foldline("sessions", "--archive", "postgresql://u@127.0.0.1:9/db")
    assert done.exit_code == 5
    assert "PostgreSQL at 127.0.0.1/db cannot be reached" in done.stderr


def test_the_url_of_a_database_is_never_taken_as_a_path(session: Path) -> None:
    words = ("compact", session, "--budget", "20%", "--archive", "postgresql://u@127.0.0.1:9/db")
    done = foldline(*words)
    assert done.exit_code == 2
    assert "this command takes a file, not a database" in done.stderr


def test_columns_that_do_not_fit_are_listed(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    shown = foldline("sessions")
    assert "changed" not in shown.stdout
    told = "Left out, since the terminal is 40 columns wide: compactions, size, changed."
    assert told in shown.stderr
    monkeypatch.setenv("COLUMNS", "100")
    assert "Left out" not in foldline("sessions").stderr
