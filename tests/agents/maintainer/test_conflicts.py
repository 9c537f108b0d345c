from __future__ import annotations

import pytest

from foldline import InputError
from foldline.agents.maintainer.conflicts import SourcePointer, find_pointer
from foldline.rooted_files import Root


@pytest.fixture
def root(tmp_path):
    (tmp_path / "a.py").write_text("one\ntwo\nthree\n")
    return Root(tmp_path)


@pytest.mark.requirement("E4.1")
def test_a_pointer_notices_a_change_at_its_place_and_none_elsewhere(root):
    taken = SourcePointer.parse("./a.py:2").with_hash(root)
    assert SourcePointer.parse(str(taken)) == taken
    assert taken.where == "a.py:2"
    assert taken.state(root) == "same"
    (root.path / "a.py").write_text("ONE\ntwo\nthree\nfour\n")
    assert taken.state(root) == "same"
    (root.path / "a.py").write_text("one\nTWO\n")
    assert taken.state(root) == "changed"
    (root.path / "a.py").unlink()
    assert taken.state(root) == "gone"


@pytest.mark.parametrize("text", ["", "a.py:0", "a.py:3-2", "a\nb"])
def test_an_invalid_pointer_is_refused(text):
    with pytest.raises(InputError):
        SourcePointer.parse(text)


@pytest.mark.parametrize("text", ["../x", "/etc/passwd", "b.py", "a.py:9", "a.py:2-9"])
def test_a_pointer_outside_the_codebase_is_refused(root, text):
    with pytest.raises(InputError):
        SourcePointer.parse(text).with_hash(root)


def test_a_link_is_not_followed(root, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "secret"
    other.write_text("s")
    (root.path / "link").symlink_to(other)
    with pytest.raises(InputError):
        SourcePointer.parse("link").with_hash(root)


def test_a_source_in_free_text_is_not_a_pointer():
    assert find_pointer("a talk with Ann") is None
    assert find_pointer("a.py:3") is None
    assert find_pointer("a.py:3@0123456789abcdef") == SourcePointer(
        "a.py", (3, 3), "0123456789abcdef"
    )
