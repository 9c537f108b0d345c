"""Outputs that were too long to be shown."""

import pytest

from foldline.errors import RecallError
from foldline.tools.terminal.keeping import Kept, page, shortened

pytestmark = pytest.mark.requirement("T7")


def test_short_text_is_whole_and_long_text_is_kept():
    kept = Kept()
    assert shortened("short", 100, kept) == ("short", "")
    text = "".join(f"{n:05}\n" for n in range(1_000))
    shown, handle = shortened(text, 600, kept)
    assert shown.startswith("00000\n")
    assert shown.endswith("00999\n")
    assert len(shown) < 700
    assert kept.kept(handle) == text
    assert page(kept, handle, 12, 6).text == "00002\n"
    assert page(kept, handle, 10**9).rest == 0


def test_the_oldest_make_room():
    kept = Kept(room=250)
    first = kept.keep("a" * 100)
    kept.keep("b" * 100)
    kept.keep("c" * 100)
    with pytest.raises(RecallError, match="Run the command again"):
        kept.kept(first)
