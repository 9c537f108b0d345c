from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.sample import foldline

from foldline.cli.options import archive_file, make_folder, voiced
from foldline.cli.output import Voice
from foldline.errors import StoreError


def test_the_archive_is_where_it_was_named_else_in_the_home_of_foldline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert archive_file(tmp_path / "mine.db") == tmp_path / "mine.db"
    assert archive_file(None) == tmp_path / "kept" / "archive.db"
    monkeypatch.delenv("FOLDLINE_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert archive_file(None).parent.name == "foldline"


def test_the_folder_of_an_archive_is_for_its_owner(tmp_path: Path) -> None:
    make_folder(tmp_path / "new" / "archive.db")
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be made"):
        make_folder(tmp_path / "file" / "archive.db")


def test_how_a_command_speaks_is_taken_out_of_its_options() -> None:
    rest = {"as_json": True, "quiet": False, "other": 1}
    assert voiced(rest) == Voice(json=True, quiet=False)
    assert rest == {"other": 1}


@pytest.mark.parametrize(
    ("group", "makes", "shows"),
    [
        ("memory", ("add", "Tea is served at four"), "list"),
        ("kb", ("add", "-", "--name", "Tea"), "ls"),
    ],
)
def test_the_place_is_named_before_or_after_the_subcommand(
    tmp_path: Path, group: str, makes: tuple[str, ...], shows: str
) -> None:
    file = tmp_path / "kept.db"
    text = b"Tea is served at four."
    assert foldline(group, "--file", file, *makes, stdin=text).exit_code == 0
    for words in (("--file", file, shows), (shows, "--file", file)):
        assert "Tea" in foldline(group, *words).stdout
    assert foldline(group, "--file", file, shows, "--file", tmp_path / "no.db").exit_code == 5


@pytest.mark.parametrize("words", [("stats", "a", "b"), ("note", "task"), ("compact", "--budget")])
def test_a_usage_error_is_one_closed_line(words: tuple[str, ...]) -> None:
    told = foldline(*words).stderr
    assert told.count("\n") == 1
    assert ". Try 'foldline" in told or ") Try 'foldline" in told
