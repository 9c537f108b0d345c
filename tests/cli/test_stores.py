from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.sample import foldline

from foldline.cli.stores import archive_file, existing, make_folder
from foldline.errors import StoreError


def test_the_archive_is_at_the_given_path_or_in_the_home_of_foldline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert archive_file(tmp_path / "mine.db") == tmp_path / "mine.db"
    assert archive_file(None) == tmp_path / "kept" / "archive.db"
    monkeypatch.delenv("FOLDLINE_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert archive_file(None).parent.name == "foldline"


def test_the_folder_of_an_archive_is_for_its_owner(tmp_path: Path) -> None:
    make_folder(tmp_path / "new" / "archive.db", "--archive")
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be created"):
        make_folder(tmp_path / "file" / "archive.db", "--archive")


def test_a_missing_store_is_an_error_that_names_the_creating_command(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    with pytest.raises(StoreError, match="'foldline memory add' makes it"):
        existing(path, "memory", made_by="memory add", option="--file")
    path.touch()
    assert existing(path, "memory", made_by="memory add", option="--file") == path


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("memory", "add", "words"), "Name another file with --file."),
        (("kb", "add", __file__), "Name another file with --file."),
        (("maintain", "."), "Name another folder with --home."),
        (
            ("compact", "{session}", "--budget", "20%"),
            "Name another file with --archive, or go without: --no-archive.",
        ),
    ],
)
def test_an_unwritable_home_is_reported_with_an_option_of_the_command(
    session: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], hint: str
) -> None:
    monkeypatch.setenv("FOLDLINE_HOME", "/dev/null/home")
    monkeypatch.chdir(session.parent)
    done = foldline(*(str(session) if word == "{session}" else word for word in words))
    assert done.exit_code == 5
    assert "/dev/null/home" in done.stderr
    assert done.stderr.endswith(f"Not a directory. {hint}\n")
