"""
Places at which a text may be cut, from the kindest to the last resort, and what encloses them.

Each way to cut takes a text and a span of it, and returns the offsets of cuts strictly inside that
span, in rising order. Every pattern runs in linear time, whatever the text. No cut breaks what a
reader takes for one character (UAX 29).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

import regex  # type: ignore[import-untyped]  # it ships no types

from foldline.frozen import frozen

LONGEST: Final = 32
"""Code points of a cluster; in stream-safe texts (UAX 15) one has at most 30 marks."""

LOOKED_BACK: Final = 1_000
"""Code points in which a cluster's beginning is looked for: a row of flags can be that long."""

_CLUSTER: Final = regex.compile(r"\X")
_CERTAIN: Final = "\u0300"
"""Below this no character joins another, except a line feed its carriage return."""


def is_whole_cut(text: str, at: int) -> bool:
    """Return True if a cut before position ``at`` leaves every character whole."""
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if before == "\r":
        return after != "\n"
    if before < _CERTAIN and after < _CERTAIN:
        return True
    if _is_pair(before, after):
        return False
    start, least = at - 1, max(0, at - LOOKED_BACK)
    while start > least and not _stands_alone(text[start]):
        start -= 1
    return any(found.end() == at for found in _CLUSTER.finditer(text, start, at + LONGEST))


def nearest_whole_cut(text: str, at: int, low: int, high: int) -> int:
    """
    Return the whole cut that is nearest to ``at``, strictly between ``low`` and ``high``.

    Returns:
        The cut; ``at`` itself where there is none near by, which only a cluster without end has,
        and even then never the middle of a surrogate pair or of a line end.
    """
    for step in range(LONGEST + 1):
        for place in (at - step, at + step):
            if low < place < high and is_whole_cut(text, place):
                return place
    return at + 1 if _is_pair(text[at - 1], text[at]) and at + 1 < high else at


def _stands_alone(char: str) -> bool:
    """Return True for ASCII, Latin and Han: nothing before such a character joins it."""
    return char < _CERTAIN or "\u3400" <= char <= "\u9fff"


def _is_pair(before: str, after: str) -> bool:
    """Return True for the halves of a character that a damaged text holds as two."""
    return "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"


Cuts: TypeAlias = Callable[[str, int, int], list[int]]

NEAR: Final = 8
"""A blank is looked for in this fraction of a text around the place where it is cut."""

_PARAGRAPH: Final = re.compile(r"\n(?:[ \t\r]*\n)+")
LINE: Final = re.compile(r"\n")
_WHOLE_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_SENTENCE: Final = re.compile(
    # A run of full stops is looked at once, from its beginning: no text takes quadratic time.
    r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+[ \t]++"
    r"|[。！？；]++[”’」』）】\"']*+"
)
_FENCE: Final = re.compile(r"^ {0,3}(```+|~~~+)[^\n]*\n?", re.MULTILINE)
_BLANK: Final = re.compile(r"[\s,;，、；：]")
_CLOSING: Final = re.compile(
    r"[)\]}]|(?:else|elif|except|finally|catch|end|fi|done|esac|rescue|ensure|case|default)\b"
)
_DEFINITION: Final = re.compile(
    r"(?:(?:pub(?:\([a-z]+\))?|export|default|public|private|protected|internal|static|final"
    r"|abstract|async|unsafe|extern|inline|const|virtual|override|open|data|sealed)\s+)*+"
    r"(?:def|class|func|function|fn|impl|struct|enum|trait|interface|module|mod|namespace|type"
    r"|record|object|sub|proc|macro_rules!|CREATE|ALTER|INSERT)\b"
)
_LEADING: Final = re.compile(r"[@#]|//|/\*|\*|--|;;|\"\"\"")
"""What stands right above a definition and belongs to it: decorators, attributes, comments."""


def sections(text: str, start: int, end: int) -> list[int]:
    """Cut before the headings of the highest level in a Markdown text."""
    found = [heading for heading in headings(text, start, end) if heading.at > start]
    highest = min((heading.level for heading in found), default=0)
    return [heading.at for heading in found if heading.level == highest]


def fences(text: str, start: int, end: int) -> list[int]:
    """Cut before and after blocks of code in a Markdown text, so that each stays whole."""
    cuts, opened = list[int](), ""
    for mark in _FENCE.finditer(text, start, end):
        fence = mark[1]
        if not opened:
            opened = fence
            cuts.append(mark.start())
        elif fence.startswith(opened) and mark[0].strip() == fence:
            opened = ""
            cuts.append(mark.end())
    return [cut for cut in cuts if start < cut < end]


def paragraphs(text: str, start: int, end: int) -> list[int]:
    """Cut after blank lines."""
    return _after(_PARAGRAPH, text, start, end)


def lines(text: str, start: int, end: int) -> list[int]:
    """Cut after line ends."""
    return _after(LINE, text, start, end)


def sentences(text: str, start: int, end: int) -> list[int]:
    """Cut after sentences, of English and Chinese and what is written like them."""
    return [cut for cut in _after(_SENTENCE, text, start, end) if is_whole_cut(text, cut)]


def blocks(text: str, start: int, end: int) -> list[int]:
    """
    Cut code before what is indented least: definitions, and what follows a blank line.

    The first line of a span is its head, such as ``class A:``, and does not count.
    """
    rows = list(_rows(text, start, end))[1:]
    least = min((row.indent for row in rows if row.says), default=0)
    cuts, blank, leading = list[int](), False, False
    for row in rows:
        if not row.says:
            blank = True
            continue
        starts = row.indent == least and not _CLOSING.match(text, row.words)
        if starts and (blank or (not leading and _DEFINITION.match(text, row.words))):
            cuts.append(row.at)
        leading = starts and _LEADING.match(text, row.words) is not None
        blank = False
    return cuts


def near_blank(text: str, at: int, start: int, end: int) -> list[int]:
    """Cut where nothing else can be: at a blank if one is near, else between whole characters."""
    reach = (end - start) // NEAR
    last = None
    for blank in _BLANK.finditer(text, at - min(reach, at - start), at + min(reach, end - at)):
        last = blank.end()
        if last >= at:
            break
    cut = nearest_whole_cut(text, at if last is None else last, start, end)
    return [cut] if start < cut < end else []


def _after(pattern: re.Pattern[str], text: str, start: int, end: int) -> list[int]:
    return [found.end() for found in pattern.finditer(text, start, end) if found.end() < end]


class _Row(NamedTuple):
    """A line: where it begins, where its words do, how far they are indented, if there are any."""

    at: int
    words: int
    indent: int
    says: bool


def _rows(text: str, start: int, end: int) -> Iterator[_Row]:
    for line in _WHOLE_LINE.finditer(text, start, end):
        words = line[0].lstrip()
        first = line.end() - len(words)
        indent = len(text[line.start() : first].expandtabs(4)) if words else 0
        yield _Row(line.start(), first, indent, bool(words))


TEXT: Final[tuple[Cuts, ...]] = (paragraphs, lines, sentences)
MARKDOWN: Final[tuple[Cuts, ...]] = (*(sections,) * 6, fences, *TEXT)
CODE: Final[tuple[Cuts, ...]] = (*(blocks,) * 4, paragraphs, lines)

OPENING: Final = (sections, blocks)
"""The cuts after which something new begins."""

BY_KIND: Final[dict[str, tuple[Cuts, ...]]] = {"text": TEXT, "markdown": MARKDOWN, "code": CODE}
"""The cuts of each kind of text, the kindest first."""


# --- headings, and the classes and functions around a piece of code ----------------------------

LONGEST_TITLE: Final = 120
"""Characters of a heading that are kept."""

SCOPES: Final = 3
"""So many classes and functions around a piece of code are named."""

FARTHEST: Final = 2_000
"""Lines above a piece of code in which they are looked for."""

_HEADING_LINE: Final = re.compile(
    r"^ {0,3}(?:(?P<fence>```+|~~~+)(?P<rest>[^\n]*)"
    r"|(?P<marks>#{1,6})(?=[ \t\n])[ \t]*(?P<title>[^\n]*))",
    re.MULTILINE,
)
_SCOPE_END: Final = re.compile(r"[\s{:(]+$")


@frozen
class Heading:
    """A heading of a Markdown text: where its line begins, its level from 1, its words."""

    at: int
    level: int
    title: str


def headings(text: str, start: int = 0, end: int | None = None) -> Iterator[Heading]:
    """Go through the headings of a Markdown text; lines in fenced code are none."""
    opened = ""
    for found in _HEADING_LINE.finditer(text, start, len(text) if end is None else end):
        fence = found["fence"]
        if fence:
            if not opened:
                opened = fence
            elif fence.startswith(opened) and not found["rest"].strip():
                opened = ""
        elif not opened:
            title = found["title"][: 4 * LONGEST_TITLE].strip(" \t\r#")
            yield Heading(found.start(), len(found["marks"]), title[:LONGEST_TITLE])


Places = Callable[[int], tuple[str, ...]]
"""Tells for an offset under which headings it stands, the outermost first."""


def places(text: str, kind: str) -> Places:
    """Return a function that names the headings or scopes around an offset of a document."""
    if kind == "markdown":
        return _under_headings(text)
    return (lambda at: _inside(text, at)) if kind == "code" else (lambda _: ())


def _under_headings(text: str) -> Places:
    starts, paths = list[int](), list[tuple[str, ...]]()
    stack = list[Heading]()
    for heading in headings(text):
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
        starts.append(heading.at)
        paths.append(tuple(one.title for one in stack if one.title))

    def under(at: int) -> tuple[str, ...]:
        found = bisect_right(starts, at)
        return paths[found - 1] if found else ()

    return under


def _inside(text: str, at: int) -> tuple[str, ...]:
    """Name what encloses a piece of code: the nearest lines above that are indented less."""
    place = text.rfind("\n", 0, at)
    indent = _indent(text[place + 1 : at + 1])
    out = list[str]()
    for _ in range(FARTHEST):
        if indent == 0 or place <= 0 or len(out) == SCOPES:
            break
        start = text.rfind("\n", 0, place) + 1
        line = text[start:place]
        if line.strip() and _indent(line) < indent:
            indent = _indent(line)
            words = _SCOPE_END.sub("", line[: 4 * LONGEST_TITLE].strip())
            if words.strip(")]}"):
                out.append(words[:LONGEST_TITLE])
        place = start - 1
    return tuple(reversed(out))


def _indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))
