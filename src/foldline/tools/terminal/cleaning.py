"""Making what a program said safe to show: nothing in it is obeyed by a terminal."""

from __future__ import annotations

import re
from typing import Final

ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, cursor, screen
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # strings: titles, the clipboard
    r"|\x1b[ -/]*[0-~]?"  # anything else that begins with an escape
    r"|\x9b[0-?]*[ -/]*[@-~]"
)

CONTROLS: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
"""Control characters but tab and line break, and those that change the direction of text."""


def cleaned(data: bytes) -> str:
    """
    Return bytes as text that is safe to show.

    Args:
        data: What a program wrote; what is no UTF-8 in it is replaced.
    """
    text = data.decode("utf-8", "replace")
    if text.isascii() and text.isprintable():
        return text
    return CONTROLS.sub("", ESCAPES.sub("", text.replace("\r\n", "\n")))
