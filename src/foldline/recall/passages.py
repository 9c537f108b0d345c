"""Sections cut into passages: a paragraph, a block of lines, a few values of a record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from foldline.recall.lines import Line, essence, read_lines
from foldline.recall.sections import MessageSection

LEAST, MOST = 100, 300
"""
Characters of a passage: a paragraph ends it from the first number on, any line from the second.
"""

JSON_FROM: Final = 60
"""Lines of JSON longer than this, in characters, are read value by value."""

_TITLE: Final = re.compile(r"\s*(?:#{1,6} |\*\*[^*]{1,80}\*\*:?\s*$)")
_ENDS: Final = (". ", "! ", "? ", "; ", "。", "；", "！", "？")


@dataclass(frozen=True, slots=True)
class RecallPassage:
    """
    Lines of a section that are found together.

    Args:
        section: Where it stands.
        place: Its position among the passages of all sections.
        lines: What it says.
        text: The same as it is read: values of JSON behind their names.
    """

    section: MessageSection
    place: int
    lines: tuple[Line, ...]
    text: str


def cut_passages(sections: Iterable[MessageSection]) -> list[RecallPassage]:
    """Cut sections into passages, in order."""
    out = list[RecallPassage]()
    for section in sections:
        for block in _blocks(_readable(section.text)):
            lines = _trim(block)
            out.append(RecallPassage(section, len(out), lines, write_lines(lines)))
    return out


def _trim(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Leave out empty lines at both ends, numbered ones too."""
    full = [index for index, line in enumerate(lines) if essence(line.text)]
    return tuple(lines[full[0] : full[-1] + 1]) if full else tuple(lines[:1])


def write_lines(lines: Sequence[Line]) -> str:
    """Write lines; the name of a JSON value stands before its first line."""
    out, before = list[str](), ""
    for line in lines:
        name = line.path.removeprefix("$").removeprefix(".") if line.path != before else ""
        out.append(f"{name}: {line.text}" if name else line.text)
        before = line.path
    return "\n".join(out)


def _readable(text: str) -> Iterator[Line]:
    """Yield lines none of which is much longer than a passage."""
    for line in read_lines(text, JSON_FROM):
        if len(line.text) <= MOST:
            yield line
        else:
            yield from (Line(line.number, piece, line.path) for piece in _pieces(line.text))


def _pieces(text: str) -> Iterator[str]:
    """Cut a long line behind a sentence, or else a word, or else anywhere."""
    start = 0
    while len(text) - start > MOST:
        piece = text[start : start + MOST]
        end = max(piece.rfind(sign) for sign in _ENDS)
        if end < MOST // 3:
            end = piece.rfind(" ")
        end = end + 1 if end >= MOST // 3 else MOST
        yield text[start : start + end]
        start += end
    yield text[start:]


def _blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    block, size = list[Line](), 0
    for line in lines:
        blank = not line.text.strip()
        full = size + len(line.text) > MOST
        if block and (full or (size >= LEAST and (blank or _TITLE.match(line.text)))):
            yield block
            block, size = [], 0
        if blank and not block:
            continue
        block.append(line)
        size += len(line.text) + 1
    if block:
        yield block
