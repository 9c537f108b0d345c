"""What a program says is safe to show."""

import pytest

from foldline.tools.terminal.cleaning import cleaned

pytestmark = pytest.mark.requirement("T7")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain\tx\n", "plain\tx\n"),
        (b"a\x1b[1;31mb\x1b[0m", "ab"),
        (b"\x1b]52;c;cHduZWQ=\x07x\x1b]0;t\x1b\\y", "xy"),
        (b"\x1bP1$r\x1b\\z\x1bc", "z"),
        (b"\xc2\x9b2Jq\x00\x08\x7f", "q"),
        (b"l\r\nm\rn", "l\nmn"),
        ("a\u202eb\u2066c\u2028".encode(), "abc"),
        (b"caf\xe9", "caf\ufffd"),
        ("文é".encode(), "文é"),
    ],
)
def test_output_is_cleaned(data, text):
    assert cleaned(data) == text
