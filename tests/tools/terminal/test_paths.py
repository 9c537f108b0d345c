"""Where a path leads."""

import os

import pytest

from foldline.tools.terminal.paths import Place
from foldline.tools.terminal.refusal import Beyond, Refused

pytestmark = pytest.mark.requirement("T7")


def test_inside_and_outside(place, project):
    for path in ("README.md", "./src/../README.md", f"{place.workspace}/src", "inner/app.py",
                 "missing", "/dev/null"):  # fmt: skip
        place.check(path)
    (project / "loop").symlink_to("loop")
    place.check("loop")
    for path in ("..", "../outside", "link", "linked/x", "/etc/passwd", "src/../../outside",
                 f"{place.workspace}-evil/x", "/dev/stdin", "/proc/self"):  # fmt: skip
        with pytest.raises(Beyond) as beyond:
            place.check(path)
        assert beyond.value.risk == "outside"
    place.check_name("link")
    with pytest.raises(Beyond):
        place.check_name("linked/secret.txt")


def test_what_blocks_is_refused(place, project):
    os.mkfifo(project / "pipe")
    with pytest.raises(Refused, match="pipe"):
        place.check("pipe")
    with pytest.raises(Refused, match="empty"):
        place.check("")


def test_a_place_knows_when_it_was_replaced(project, place):
    inner = place.moved("src")
    assert inner.is_there()
    (project / "src").rename(project / "was")
    assert not inner.is_there()
    (project / "src").mkdir()
    assert not inner.is_there()
    with pytest.raises(Refused):
        place.moved("README.md")
    assert place.moved("docs").shown == "docs"
    assert Place.at(place.workspace).allowing("/etc").resolved("/etc/passwd") == "/etc/passwd"
