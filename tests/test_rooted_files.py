import os
import threading

import pytest

from foldline import rooted_files as rooted
from foldline.errors import InputError, StoreError
from foldline.rooted_files import Root, TooLarge


@pytest.fixture
def root(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    return Root(tmp_path / "project")


@pytest.mark.requirement("H18")
@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "a/../../secret.txt",
        "/etc/passwd",
        "",
        " ",
        ".",
        "..",
        "a\0b",
        "a\nb",
        "x" * 1_001,
        "/".join("d" * 40),
        "\ud83d",
        "~/../..",
    ],
)
def test_invalid_paths_and_paths_outside_are_rejected(root, path):
    if path == "~/../..":
        path = "~/../../x"
    with pytest.raises(InputError):
        root.parts(path)


def test_paths_inside_are_relative_or_absolute_and_may_contain_dots(root, tmp_path):
    assert root.parts("a/./b/../c.txt") == ("a", "c.txt")
    assert root.parts(f"{root.path}/a.txt") == ("a.txt",)
    (tmp_path / "alias").symlink_to(root.path)
    assert Root(tmp_path / "alias").parts(f"{tmp_path}/alias/a.txt") == ("a.txt",)


@pytest.mark.requirement("H18")
def test_no_link_is_followed_at_the_end_or_within_a_path(root, tmp_path):
    (root.path / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root.path / "up").symlink_to(tmp_path)
    for parts in (("link.txt",), ("up", "secret.txt")):
        with pytest.raises(OSError):  # noqa: PT011  # which one depends on the system
            root.read(parts, 100)
    with pytest.raises(OSError):  # noqa: PT011  # as above
        root.replace(("up", "new.txt"), b"x")
    root.replace(("link.txt",), b"mine")
    assert (tmp_path / "secret.txt").read_text() == "secret"
    assert not (tmp_path / "new.txt").exists()
    assert (root.path / "link.txt").read_text() == "mine"


def test_irregular_and_too_large_files_are_not_read(root):
    os.mkfifo(root.path / "pipe")
    (root.path / "large").write_bytes(b"x" * 101)
    with pytest.raises(OSError, match="not a regular file"):
        root.read(("pipe",), 100)
    with pytest.raises(TooLarge, match="100 bytes"):
        root.read(("large",), 100)
    assert root.read(("large",), 101).data == b"x" * 101


@pytest.mark.requirement("H18")
def test_a_file_is_replaced_atomically_with_its_mode_and_nothing_is_left_over(root, monkeypatch):
    root.replace(("a", "b", "run.sh"), b"one", 0o755)
    path = root.path / "a" / "b" / "run.sh"
    assert path.stat().st_mode & 0o777 == 0o755

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(rooted.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        root.replace(("a", "b", "run.sh"), b"two")
    assert path.read_bytes() == b"one"
    assert [one.name for one in path.parent.iterdir()] == ["run.sh"]


def test_a_lock_timeout_is_reported(root, monkeypatch):
    monkeypatch.setattr(rooted, "PATIENCE", 0.05)
    inside, done = threading.Event(), threading.Event()

    def hold():
        with Root(root.path).locked():
            inside.set()
            done.wait(10)

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    assert inside.wait(10)
    with pytest.raises(StoreError, match="keeps changing files"), root.locked():
        pass
    done.set()
    thread.join(10)
    with root.locked():
        pass


def test_a_root_is_a_folder(tmp_path):
    with pytest.raises(StoreError, match="not a folder"):
        Root(tmp_path / "none")
