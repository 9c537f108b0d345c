from __future__ import annotations

import os
from pathlib import Path

import pytest

from foldline.errors import InputError, StoreError
from foldline.notes.folder import PART, Folder
from foldline.notes.note import BrokenNote


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "notes")


@pytest.mark.requirement("T6")
@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "a\0b", "x" * 300]
)
def test_no_name_escapes_the_folder(folder: Folder, name: str) -> None:
    for use in (
        lambda: folder.read(name, 10),
        lambda: folder.create(name, b""),
        lambda: folder.replace(name, b""),
        lambda: folder.subfolder(name),
        lambda: folder.move(name, folder, "b"),
    ):
        with pytest.raises(InputError, match="not the name"):
            use()


@pytest.mark.requirement("T6")
def test_links_are_not_followed(folder: Folder, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s")
    (folder.path / "link.md").symlink_to(secret)
    with pytest.raises(BrokenNote, match="link"):
        folder.read("link.md", 10)
    folder.replace("link.md", b"mine")  # replaces the link, not its target
    assert secret.read_text() == "s"
    (tmp_path / "other").mkdir()
    (folder.path / "sub").symlink_to(tmp_path / "other")
    with pytest.raises(StoreError, match="link"):
        folder.subfolder("sub")


def test_a_pipe_or_a_folder_is_refused_without_blocking(folder: Folder) -> None:
    os.mkfifo(folder.path / "pipe.md")
    (folder.path / "sub.md").mkdir()
    for name in ("pipe.md", "sub.md"):
        with pytest.raises(BrokenNote, match="not a regular file"):
            folder.read(name, 10)


def test_a_file_that_is_too_large_is_not_read(folder: Folder) -> None:
    folder.create("a", b"x" * 11)
    with pytest.raises(BrokenNote, match="11 bytes"):
        folder.read("a", 10)


def test_a_new_file_never_takes_the_place_of_another(folder: Folder) -> None:
    folder.create("a", b"first")
    with pytest.raises(FileExistsError):
        folder.create("a", b"second")
    assert folder.read("a", 10)[0] == b"first"
    folder.create("b", b"b")
    with pytest.raises(StoreError, match="already exists"):
        folder.move("b", folder, "a")
    assert folder.names() == ["a", "b"]


def test_a_file_in_the_place_of_another_keeps_its_mode(folder: Folder) -> None:
    folder.create("a", b"first")
    (folder.path / "a").chmod(0o640)
    folder.replace("a", b"second")
    assert (folder.path / "a").stat().st_mode & 0o777 == 0o640
    assert folder.read("a", 10)[0] == b"second"


def test_old_temporary_files_of_a_crash_are_removed(folder: Folder) -> None:
    for name in ("old", "new"):
        (folder.path / f"{PART}{name}").write_text("half")
    os.utime(folder.path / f"{PART}old", (0, 0))
    folder.sweep()
    assert [path.name for path in folder.path.iterdir()] == [f"{PART}new"]
    assert folder.names() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder_is_an_error(folder: Folder) -> None:
    folder.path.chmod(0o500)
    with pytest.raises(StoreError, match="cannot be written"):
        folder.create("a", b"")


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be created"):
        Folder(tmp_path / "file" / "notes")
