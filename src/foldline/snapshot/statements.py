"""
Statements: texts cut into pieces that tell something on their own.

Prose is cut into paragraphs, and a heading or "the cause:" stays with what it announces; tool
outputs are cut into whole lines, some neighbouring ones together. A statement is a slice of its
text, so that nothing is copied before it is chosen.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Final, TypeAlias

from foldline.lazy import lazy_pattern
from foldline.outputs.source_code import COMMENT, DEFINITION, FEWEST, FEWEST_DEFINITIONS, is_code

Slice: TypeAlias = tuple[int, int]
"""Where a statement begins and ends in its text."""

PARAGRAPH: Final = 480
"""Characters of a paragraph that is not cut at its lines or sentences."""

BLOCK, LONG, COARSEST = 174, 1_000, 3.0
"""
Characters of neighbouring lines of an output that make one statement, of how long an output, and
how many times as many of a longer one at most: they grow with the root of its length.
"""

REST: Final = 58
"""Characters of the last lines of an output that make no statement of their own."""

OPENERS, COMMENTS = (":", "{", "(", "["), ("#", "//", "/*", "@")
"""How lines end and begin that say little without the next one."""

COLONS: Final = (":", "：")
"""How a text ends that announces what follows."""

LINE: Final = 400
"""Characters of a line of an output that is not cut at a sentence or clause."""

ANNOUNCING: Final = 160
"""Characters of a paragraph that only announces what follows."""

_BREAK = lazy_pattern(r"\n[ \t\r]*\n\s*")
_SENTENCE_END = lazy_pattern(
    r"\s(?<=[.!?]\s)(?<!\A\d\.\s)(?<!\A\d\d\.\s)(?<![\s(]\d\.\s)(?<![\s(]\d\d\.\s)"
    r"(?<!e\.g\.\s)(?<!i\.e\.\s)\s*"
)
_SENTENCE_END_EAST = lazy_pattern(
    r"(?<=[.!?])(?<!\A\d\.)(?<!\A\d\d\.)(?<![\s(]\d\.)(?<![\s(]\d\d\.)(?<!e\.g\.)(?<!i\.e\.)\s+|(?<=[。！？])"
)
"""
Where a sentence ends, behind its sign, and the same where there may be signs of East Asia; a small
number is taken for that of an item.
"""

_EAST_ENDS: Final = "。！？"

_TITLE = lazy_pattern(r"#{1,6} |\*\*[^*\n]{1,150}\*\*:?$")
_CLAUSE_END = lazy_pattern(r"[,;}\]] ?|\\n|\s")
_LINE_NUMBER: Final = r"[ \t]{0,8}\d{1,6}(?:→|\t|[^\S\n]\|[^\S\n]|[-:](?!\d))"
_NUMBERED, _NUMBERS = lazy_pattern(_LINE_NUMBER), lazy_pattern(f"\n{_LINE_NUMBER}")


def prose(text: str) -> list[Slice]:
    """Cut what somebody wrote into paragraphs; a long one at its lines or sentences."""
    found: list[Slice] = []
    held = -1
    for start, end in _paragraphs(text):
        if _announces(text[start:end]):
            held = start if held < 0 else held
            continue
        begin = start if held < 0 else held
        held = _announcing_line(text, start, end)
        found += _divide(text, begin, end if held < 0 else _strip(text, start, held)[1])
    if held >= 0:
        found += _divide(text, held, len(text.rstrip()))
    return found


def _paragraphs(text: str) -> Iterator[Slice]:
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    for gap in _BREAK.finditer(text, start, max(start, end)):
        yield start, gap.start()
        start = gap.end()
    if start < end:
        yield start, end


def _announces(paragraph: str) -> bool:
    """Return True if a paragraph says nothing without the one behind it."""
    if len(paragraph) >= ANNOUNCING:
        return False
    bare = paragraph.strip()
    return bare.endswith(COLONS) or _TITLE.match(bare) is not None


def _announcing_line(text: str, start: int, end: int) -> int:
    """Return where the last line of a paragraph begins that announces the next one, else -1."""
    begin = text.rfind("\n", start, end) + 1
    return begin if begin > start and _announces(text[begin:end]) else -1


def _divide(text: str, start: int, end: int) -> Iterator[Slice]:
    if end - start <= PARAGRAPH:
        yield start, end
        return
    begin, previous = start, start
    for place in _ends(text, start, end):
        enough = place - begin > PARAGRAPH and previous > begin
        if enough and not _announces(_last_line(text, begin, previous)):
            yield from _pieces(text, *_strip(text, begin, previous), 2 * PARAGRAPH)
            begin = previous
        previous = place
    yield from _pieces(text, *_strip(text, begin, end), 2 * PARAGRAPH)


def _ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where lines end, and the sentences of lines that are too long."""
    most = PARAGRAPH if text.find("\n", start, end) < 0 else 2 * PARAGRAPH
    begin = start
    while begin < end:
        feed = text.find("\n", begin + 1, end)
        stop = end if feed < 0 else feed
        if stop - begin > most:
            for gap in _sentence_end(text, begin, stop).finditer(text, begin, stop):
                yield gap.start()
        yield stop
        begin = stop


def _sentence_end(text: str, start: int, end: int) -> re.Pattern[str]:
    """Return the pattern for where sentences of a part of a text end."""
    for sign in _EAST_ENDS:
        if text.find(sign, max(0, start - 1), end) >= 0:
            return _SENTENCE_END_EAST
    return _SENTENCE_END


def _last_line(text: str, start: int, end: int) -> str:
    """Return the last line, as much of it as tells whether it announces something."""
    return text[max(start, end - ANNOUNCING + 1) : end].rstrip().rpartition("\n")[2]


def _strip(text: str, start: int, end: int) -> Slice:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def _pieces(text: str, start: int, end: int, most: int) -> Iterator[Slice]:
    """Cut a long line behind sentences, or else clauses; blank pieces are left out."""
    while start < end:
        stop = min(end, start + most)
        if stop < end:
            clauses = _CLAUSE_END.finditer(text, start + most * 3 // 4, stop)
            ends = _sentence_end(text, start, stop).finditer(text, start + most // 4, stop)
            gaps = [*ends] or [*clauses]
            stop = gaps[-1].end() if gaps else stop
        if not text[start:stop].isspace():
            yield start, stop
        start = stop


def blocks(text: str) -> list[Slice]:
    """
    Cut an output into blocks of whole lines; a line that is too long at its sentences or clauses.

    A line that announces what follows begins a block rather than ending one.
    """
    block = BLOCK * min(COARSEST, max(1.0, sqrt(len(text) / LONG)))
    found: list[Slice] = []
    start, end, place = -1, 0, 0
    for line in text.split("\n"):
        size, begin = len(line), place
        place += size + 1
        if size > LINE:
            if start >= 0:
                found.append((start, end))
                start = -1
            found += _pieces(text, begin, begin + size, LINE)
        elif not size or line.isspace():
            if start >= 0 and end - start > block // 2:
                found.append((start, end))
                start = -1
        elif start < 0:
            start, end = begin, begin + size
        elif begin + size - start > block:
            stop = _before_opening(text, start, end)
            found.append((start, stop))
            start, end = begin if stop == end else stop + 1, begin + size
        else:
            end = begin + size
    if start >= 0:
        if found and end - start < REST and start - found[-1][1] <= 1:
            start = found.pop()[0]
        found.append((start, end))
    return found


def _before_opening(text: str, start: int, end: int) -> int:
    """Return where a block ends without a last line that says nothing without the next one."""
    last = text.rfind("\n", start, end) + 1
    if last <= start:
        return end
    line = text[last:end].strip()
    line = strip_line_number(text[last:end]).strip() if line[:1].isdecimal() else line
    return last - 1 if line.endswith(OPENERS) or line.startswith(COMMENTS) else end


def strip_line_number(line: str) -> str:
    """Return a line without the number that a reader put before it."""
    found = _NUMBERED.match(line)
    return line[found.end() :] if found else line


def dedent_lines(text: str) -> str:
    """Write a block of lines without what a reader put before them, its outer indentation too."""
    lines = [strip_line_number(line).rstrip() for line in text.split("\n")]
    kept = [line for line in lines if line]
    if not kept:
        return ""
    margin = min(len(line) - len(line.lstrip()) for line in kept)
    return "\n".join(line[margin:] for line in kept)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, each of one line."""
    pattern = _sentence_end(text, 0, len(text))
    found = (one for line in text.split("\n") for one in pattern.split(line))
    return [sentence for sentence in map(str.strip, found) if sentence]


def shorten(text: str, most: int) -> str:
    """Cut a text behind a sentence that ends near, or else between words, and mark the cut."""
    if len(text) <= most:
        return text
    pattern = _sentence_end(text, 0, most)
    ends = [gap.start() for gap in pattern.finditer(text, most // 2, most)]
    return f"{text[: ends[-1]]} …" if ends else text[:most].rsplit(" ", 1)[0] + "…"


SAMPLE: Final = 1_500
"""Characters at the beginning and from the middle on by which a program is recognised."""

# A search for a line feed is ten times as fast as one for the beginning of a line.
_LINE: Final = r"\n[ \t]*+(?:\d{1,6}(?:→|\t|[-:|])[ \t]*+)?"
_DEFINES = lazy_pattern(f"{_LINE}(?:{DEFINITION})")
_EXPLAINS = lazy_pattern(f"{_LINE}(?:{COMMENT}|{DEFINITION})")


def explaining_lines(text: str, slices: Sequence[Slice]) -> list[bool] | None:
    """
    Tell which statements of a program have a comment that is a sentence, or a definition.

    Words of failure or limits in the others are what a program says or does in some case.

    Args:
        text: A file or an output.
        slices: Where its statements begin and end.

    Returns:
        One answer for each; None where the text is no program.
    """
    if not _is_program(text):
        return None
    places = [found.end() - 2 for found in _EXPLAINS.finditer(f"\n{text}")]
    return [bisect_left(places, start) < bisect_left(places, end) for start, end in slices]


def _is_program(text: str) -> bool:
    if text.count("\n") < FEWEST - 1:
        return False
    middle = max(SAMPLE, len(text) // 2)
    sample = f"\n{text[:SAMPLE]}\n{text[middle : middle + SAMPLE]}"
    if len(_DEFINES.findall(sample)) < FEWEST_DEFINITIONS:
        return False
    lines = map(str.strip, _NUMBERS.sub("\n", sample).split("\n"))
    return is_code(list(filter(None, lines)))
