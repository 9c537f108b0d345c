import os
import stat

import pytest

from foldline.atomic_files import replace_file


def test_a_file_is_replaced_atomically_and_nothing_is_left_over(tmp_path):
    path = tmp_path / "a.json"
    replace_file(path, b"one")
    replace_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


def test_a_failed_write_keeps_the_old_content(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    replace_file(path, b"one")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"two")
    assert path.read_bytes() == b"one"
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


def test_a_folder_that_cannot_be_opened_can_still_be_written(tmp_path, monkeypatch):
    path, open_before = tmp_path / "a.json", os.open

    def refuse_folders(place, *rest, **named):
        if place == tmp_path:
            raise PermissionError(13, "Permission denied")
        return open_before(place, *rest, **named)

    monkeypatch.setattr(os, "open", refuse_folders)
    replace_file(path, b"one")
    assert path.read_bytes() == b"one"


def test_a_folder_that_cannot_be_synced_is_an_error(tmp_path, monkeypatch):
    sync_before = os.fsync

    def refuse_folders(number):
        if stat.S_ISDIR(os.fstat(number).st_mode):
            raise PermissionError(1, "Operation not permitted")
        sync_before(number)

    monkeypatch.setattr(os, "fsync", refuse_folders)
    with pytest.raises(PermissionError, match="not permitted"):
        replace_file(tmp_path / "a.json", b"one")
