"""
Positions at which a text may be cut, from the best to the last resort, and their headings.

Each cut function takes a text and a span of it, and returns the offsets of cuts strictly inside
that span, in ascending order. Every pattern runs in linear time for any text. No cut breaks a
grapheme cluster (UAX 29).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

import regex  # type: ignore[import-untyped]  # it ships no types

from foldline.frozen import frozen

LONGEST: Final = 32
"""The maximum code points of a cluster; in stream-safe texts (UAX 15) it has at most 30 marks."""

LONGEST_LOOKBACK: Final = 1_000
"""The code points searched for the start of a cluster: a row of flags can be that long."""

_CLUSTER: Final = regex.compile(r"\X")
_CERTAIN: Final = "\u0300"
"""Code points below this never join another, except a line feed its carriage return."""


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
    start, least = at - 1, max(0, at - LONGEST_LOOKBACK)
    while start > least and not _stands_alone(text[start]):
        start -= 1
    return any(found.end() == at for found in _CLUSTER.finditer(text, start, at + LONGEST))


def nearest_whole_cut(text: str, at: int, low: int, high: int) -> int:
    """
    Return the nearest cut to ``at`` between clusters, strictly between ``low`` and ``high``.

    Returns:
        The cut; ``at`` itself if none is near, inside an endless cluster, but never the middle of
        a surrogate pair or of a line end.
    """
    for step in range(LONGEST + 1):
        for place in (at - step, at + step):
            if low < place < high and is_whole_cut(text, place):
                return place
    return at + 1 if _is_pair(text[at - 1], text[at]) and at + 1 < high else at


def _stands_alone(char: str) -> bool:
    """Return True for ASCII, Latin and Han: such a character never joins the one before it."""
    return char < _CERTAIN or "\u3400" <= char <= "\u9fff"


def _is_pair(before: str, after: str) -> bool:
    """Return True for a surrogate pair that a damaged text holds as two code points."""
    return "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"


Cuts: TypeAlias = Callable[[str, int, int], list[int]]

NEAR: Final = 8
"""The fraction of a text around a cut that is searched for a blank."""

_PARAGRAPH: Final = re.compile(r"\n(?:[ \t\r]*\n)+")
LINE: Final = re.compile(r"\n")
_WHOLE_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_SENTENCE: Final = re.compile(
    # A run of full stops is matched once, from its start: no text takes quadratic time.
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
"""Lines directly above a definition that belong to it: decorators, attributes, comments."""


def sections(text: str, start: int, end: int) -> list[int]:
    """Cut before the headings of the highest level in a Markdown text."""
    found = [heading for heading in headings(text, start, end) if heading.at > start]
    highest = min((heading.level for heading in found), default=0)
    return [heading.at for heading in found if heading.level == highest]


def fences(text: str, start: int, end: int) -> list[int]:
    """Cut before and after fenced code blocks of a Markdown text, to keep each in one piece."""
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
    """Cut after sentences, with the punctuation of English and Chinese."""
    return [cut for cut in _after(_SENTENCE, text, start, end) if is_whole_cut(text, cut)]


def blocks(text: str, start: int, end: int) -> list[int]:
    """
    Cut code before the least indented lines: definitions, and lines after a blank line.

    The first line of a span is its head, such as ``class A:``, and does not count.
    """
    rows = list(_rows(text, start, end))[1:]
    least = min((row.indent for row in rows if row.has_text), default=0)
    cuts, blank, leading = list[int](), False, False
    for row in rows:
        if not row.has_text:
            blank = True
            continue
        starts = row.indent == least and not _CLOSING.match(text, row.words)
        if starts and (blank or (not leading and _DEFINITION.match(text, row.words))):
            cuts.append(row.at)
        leading = starts and _LEADING.match(text, row.words) is not None
        blank = False
    return cuts


def near_blank(text: str, at: int, start: int, end: int) -> list[int]:
    """Cut as a last resort: at a blank if one is near, else between two clusters."""
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
    """A line: the offsets of its start and of its text, its indent, and False if it is blank."""

    at: int
    words: int
    indent: int
    has_text: bool


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
"""The cuts that begin a new section."""

BY_KIND: Final[dict[str, tuple[Cuts, ...]]] = {"text": TEXT, "markdown": MARKDOWN, "code": CODE}
"""The cuts of each kind of text, the best first."""


# --- headings, and the classes and functions around a piece of code ----------------------------

LONGEST_TITLE: Final = 120
"""The maximum length of a heading in characters."""

SCOPES: Final = 3
"""The maximum number of enclosing classes and functions that are named."""

FARTHEST: Final = 2_000
"""The maximum number of lines above a piece of code that are searched for them."""

_HEADING_LINE: Final = re.compile(
    r"^ {0,3}(?:(?P<fence>```+|~~~+)(?P<rest>[^\n]*)"
    r"|(?P<marks>#{1,6})(?=[ \t\n])[ \t]*(?P<title>[^\n]*))",
    re.MULTILINE,
)
_SCOPE_END: Final = re.compile(r"[\s{:(]+$")


@frozen
class Heading:
    """A heading of a Markdown text: the start of its line, its level from 1, its title."""

    at: int
    level: int
    title: str


def headings(text: str, start: int = 0, end: int | None = None) -> Iterator[Heading]:
    """Yield the headings of a Markdown text; fenced code is skipped."""
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
"""Maps an offset to the headings around it, the outermost first."""


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
    """Return the scopes around a piece of code: the nearest less indented lines above it."""
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
