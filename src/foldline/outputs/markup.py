"""HTML as text: one line a block, one line a row of a table; what attributes tell in brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from foldline.lazy import lazy_pattern

_SAMPLE = lazy_pattern(
    r"<(?:!doctype|html|head|body|div|table|tr|td|p|ul|li|span|a|h[1-6]|section|main)\b", re.I
)
_OPENING = lazy_pattern(r"<[a-zA-Z][^<>]*>")
_ATTRIBUTES = lazy_pattern(
    r"""\s(?:href|alt|title|value|content|datetime|id|data-[\w-]{1,30})=(["'])([^"'<>]{1,300})\1"""
)
_CELL = lazy_pattern(r"</t[dh]\s*>", re.I)
_INLINE = lazy_pattern(
    r"</?(?:a|abbr|b|bdi|cite|code|data|dfn|em|font|i|img|kbd|label|mark|q|s|samp|small|span|strong"
    r"|sub|sup|t[dh]|time|u|var|wbr)(?:\s[^<>]*)?/?>",
    re.I,
)
_TAG = lazy_pattern(r"<[/a-zA-Z!?][^<>]*>")

SILENT = ("script", "style", "svg", "template", "noscript")
"""Elements whose content nobody reads."""


def is_markup(sample: str) -> bool:
    """Return True if a text is HTML."""
    head = sample.lstrip()[:300].lower()
    if not head.startswith("<") and "<html" not in head:
        return False
    return len(_SAMPLE.findall(sample[:20_000])) >= 3


def markup_lines(text: str) -> list[str]:
    """
    Write HTML as lines of text.

    Args:
        text: The HTML; broken as it may be.

    Returns:
        A line for each block of text and each row of a table, cells parted by `` | ``.
    """
    for name in SILENT:
        text = "".join(_outside(text, f"<{name}", f"</{name}"))
    text = "".join(_outside(text, "<!--", "-->"))
    text = "".join(_on_one_line(text))
    text = _OPENING.sub(_show_attributes, text)
    text = _INLINE.sub("", _CELL.sub(" | ", text))
    blocks = unescape(_TAG.sub("\n", text)).split("\n")
    lines = (" ".join(block.split()).strip("| ") for block in blocks)
    return [line for line in lines if line]


def _show_attributes(tag: re.Match[str]) -> str:
    attributes = " ".join(f"[{value}]" for _, value in _ATTRIBUTES.findall(tag.group()))
    return f"{tag.group()} {attributes} " if attributes else tag.group()


def _outside(text: str, opening: str, closing: str) -> Iterator[str]:
    """Yield what stands between elements; one that is not closed ends with the text."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text
    place = 0
    while True:
        start = lowered.find(opening, place)
        if start < 0:
            yield text[place:]
            return
        yield text[place:start]
        place = lowered.find(closing, start)
        if place < 0:
            return
        place += len(closing) if closing == "-->" else 0


def _on_one_line(text: str) -> Iterator[str]:
    """Yield the text with its line feeds as spaces, but for preformatted blocks."""
    before, *blocks = text.split("<pre")
    yield before.replace("\n", " ")
    for block in blocks:
        inside, closing, behind = block.partition("</pre")
        yield f"<pre{inside}".replace("\n", "<br>")
        yield f"{closing}{behind}".replace("\n", " ")
