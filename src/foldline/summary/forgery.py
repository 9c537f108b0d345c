"""
Forgery: a model's text must not pass for what this library writes itself.

Headings of the snapshot, first lines of snapshots, marks of shortened texts, and handles that
recall nothing lose what makes them look so; the words stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from foldline.strategies.stubs import CLEARED
from foldline.values.snapshot_mark import ATTACHMENT_HEADER, SNAPSHOT_HEADERS

_MARKS = "|".join(
    re.escape(re.split("[,，]", mark[1:])[0].strip())
    for mark in (*SNAPSHOT_HEADERS, ATTACHMENT_HEADER, CLEARED)
)
_ESCAPE = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_HEADING = re.compile(r"^[\s\u200c\u200d]*(?:[#\uff03]{1,6}\s+)+")
_MARK = re.compile(
    rf"\[(?=\s{{0,9}}(?:{_MARKS})|(?:…\s?)?[\d,.]{{1,15}} (?:tokens|characters)\b"
    r"[^\[\]]{0,200}?\brecall\b)",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^\[?([0-9a-f]{6,32})(?:\.\d{1,4})?(?![\w./-])")
_RECALL = re.compile(r"\brecall ([0-9a-f]{6,32})(?:\.\d{1,4})?(?!\w)", re.IGNORECASE)

_UNSEEN = [
    *range(32),
    *range(0x7F, 0xA0),
    0xAD,
    0x200B,
    *range(0x200E, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xE0000, 0xE0080),
]
_CONTROLS = {code: None for code in _UNSEEN if code != ord("\t")}
"""Signs that nobody sees: one before a heading would hide it here."""


def neutralize(account: str, is_known: Callable[[str], bool]) -> str:
    """
    Write an account so that no line of it can pass for a part of the snapshot.

    Args:
        account: What a model wrote.
        is_known: Whether some hexadecimal digits begin the id of a message.

    Returns:
        The account in ordinary lines, without empty ones.
    """

    def recalled(found: re.Match[str]) -> str:
        return found[0] if is_known(found[1].lower()) else "recall (no such step)"

    lines = []
    for line in _ESCAPE.sub("", account.encode("utf-8", "replace").decode("utf-8")).splitlines():
        bare = _HEADING.sub("", line.translate(_CONTROLS)).rstrip()
        bare = _RECALL.sub(recalled, _MARK.sub("(", bare))
        handle = _LEADING.match(bare)
        if handle is not None and not is_known(handle[1]):
            bare = f"- {bare}"
        lines.append(bare)
    return "\n".join(line for line in lines if line.strip())
