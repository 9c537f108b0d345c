"""Lines that match a regular expression, with the lines around them, within a size limit."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final, TypeAlias

from foldline.errors import RecallError
from foldline.frozen import frozen
from foldline.recall.fitting import LEAST, Fits, clip, cut_around, most, note_cut
from foldline.recall.lines import Line, cut_paths, essence, json_lines
from foldline.recall.sections import MessageSection

MAX_HITS: Final = 100
"""Maximum number of matches in one answer."""

MOST_MATCHES: Final = 10_000
"""Maximum number of matches that are counted."""

MAX_PATTERN: Final = 500

SECONDS: Final = 1.0
"""Timeout of one search."""

WIDE: Final = 600
"""Characters around the match that are shown of a longer line."""

VALUE: Final = 4_000
"""The same for a JSON value, if all matches fit."""

NARROW: Final = (300, 150, 80, 40, 20, 10)
"""The same if not even one match fits into the limit."""

RECORD: Final = 200
"""Lines of JSON longer than this, in characters, are searched value by value."""

Span: TypeAlias = tuple[int, int]


@dataclass(slots=True)
class GrepSource:
    """
    Numbered lines to search.

    Args:
        section: The section of the lines.
        heading: The heading above the matches; "" if it is the only source.
        lines: The lines.
        spans: Start and end of each match in its line, by the position of the line.
        also: Handles of other sources with the same matches.
    """

    section: MessageSection
    heading: str
    lines: Sequence[Line]
    spans: dict[int, Span] = field(default_factory=dict)
    also: dict[str, None] = field(default_factory=dict)


@frozen
class Around:
    """Number of lines to show around a match, and the maximum width of a line or JSON value."""

    before: int
    after: int
    wide: int = WIDE
    value: int = WIDE


class Pattern:
    """
    A regular expression with a timeout of one second for a search.

    Args:
        pattern: In the syntax of the module ``regex``, at most 500 characters.

    Raises:
        RecallError: The pattern is invalid.
    """

    def __init__(self, pattern: str) -> None:
        import regex  # type: ignore[import-untyped]  # it ships no types

        if len(pattern) > MAX_PATTERN:
            raise RecallError(f"The pattern is longer than {MAX_PATTERN} characters.")
        try:
            self._pattern: Any = regex.compile(pattern)
        except regex.error as error:
            raise RecallError(
                f"{pattern[:80]!r} is not a regular expression: {error}.",
                hint="Escape what is meant literally with a backslash.",
            ) from error
        except (MemoryError, RecursionError) as error:
            raise _too_long() from error
        self._deadline = time.monotonic() + SECONDS

    def span(self, line: str) -> Span | None:
        """
        Return start and end of the match in a line; None if there is none.

        Raises:
            RecallError: The search takes longer than a second, or more memory than there is.
        """
        left = self._deadline - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            found = self._pattern.search(line, timeout=left)
        except (TimeoutError, MemoryError, RecursionError) as error:
            raise _too_long() from error
        return None if found is None else found.span()


def _too_long() -> RecallError:
    return RecallError(
        f"The search took longer than {SECONDS:g} second, or more memory than there is.",
        hint="Give a simpler pattern, or fewer lines.",
    )


@frozen
class Matches:
    """
    The lines that match, as pairs of a source and a position in it.

    ``complete`` is False if there are more than were counted.
    """

    found: list[tuple[GrepSource, int]]
    complete: bool = True


def search(sources: Iterable[GrepSource], pattern: Pattern) -> Matches:
    """
    Search sources; lines that occur in several of them are found in the first one.

    Raises:
        RecallError: The search takes longer than a second, and has found nothing by then.
    """
    seen: dict[tuple[str, ...], GrepSource] = {}
    out = list[tuple[GrepSource, int]]()
    for plain in sources:
        source, complete = _search(plain, pattern, MOST_MATCHES - len(out), bool(out))
        for position in list(source.spans):
            near = source.lines[max(0, position - 1) : position + 2]
            first = seen.setdefault(tuple(essence(line.text) for line in near), source)
            if first is source:
                out.append((source, position))
            else:
                first.also[source.section.handle] = None
        if not complete:
            return Matches(out, complete=False)
    return Matches(out)


def _search(
    source: GrepSource, pattern: Pattern, most: int, found: bool
) -> tuple[GrepSource, bool]:
    """Return a source with its matches; JSON records are split into values if one matches."""
    lines, spans, complete = list[Line](), dict[int, Span](), True
    for line in source.lines:
        try:
            values = _match(line, pattern) if complete else [(line, None)]
        except RecallError:
            if not (spans or found):
                raise
            # Matches so far are shown with the lines around them.
            values, complete = [(line, None)], False
        for one, span in values:
            if span is not None:
                spans[len(lines)] = span
            lines.append(one)
        complete = complete and len(spans) < most
    return GrepSource(source.section, source.heading, lines, spans), complete


def _match(line: Line, pattern: Pattern) -> list[tuple[Line, Span | None]]:
    if len(line.text) > RECORD:
        values = [(one, pattern.span(one.text)) for one in json_lines(line)]
        if any(span for _, span in values):
            return values
    return [(line, pattern.span(line.text))]


def write(matches: Matches, start: int, context: int, fits: Fits) -> str:
    """
    Write as many matches as fit, in the format of grep.

    A match starts with ``12:``, a line around it with ``13-``; ``--`` separates groups. If
    the room is short, lines before a match are dropped first, then those after it.

    Args:
        matches: The matches.
        start: Number of matches on earlier pages.
        context: Lines around a match.
        fits: The size limit.
    """
    hits = matches.found[start : start + MAX_HITS]
    for before, after in ((context, context), (0, context), (0, context // 2)):
        text = _page(matches, start, len(hits), Around(before, after, value=VALUE))
        if fits(text):
            return text
    bare = Around(0, 0)
    count = most(len(hits), lambda n: fits(_page(matches, start, n, bare)))
    return _page(matches, start, count, bare) if count else _write_least(matches, start, fits)


def _write_least(matches: Matches, start: int, fits: Fits) -> str:
    """Write what fits of one match."""
    source, position = matches.found[start]
    heading = source.heading and f"[{source.section.handle}]"
    short = GrepSource(source.section, heading, source.lines, source.spans)
    found = [*matches.found[:start], (short, position), *matches.found[start + 1 :]]
    for one in (matches, Matches(found, matches.complete)):
        for wide in NARROW:
            text = _page(one, start, 1, Around(0, 0, wide, wide))
            if fits(text):
                return text
    return clip(text, fits)


def _page(matches: Matches, start: int, count: int, around: Around) -> str:
    out, cut = list[str](), list[str]()
    for _, same in groupby(matches.found[start : start + count], lambda match: id(match[0])):
        group = list(same)
        source, positions = group[0][0], [position for _, position in group]
        if source.heading:
            also = f"; also {', '.join(list(source.also)[:5])}]" if source.also else "]"
            out.append(f"{source.heading[:-1]}{also}")
        for row in _rows(source, list(_around(positions, around, source.lines)), around):
            out.append(row.text)
            cut += [row.rest] if row.rest else []
    rest = [note_cut(cut)] if cut else []
    left = len(matches.found) - start - count
    if left or not matches.complete:
        least = "" if matches.complete else "at least "
        rest.append(f"{least}{left:,} more matches: start={start + count}")
    return "\n".join([*out, *([f"[{'; '.join(rest)}]"] if rest else [])])


def _around(hits: Iterable[int], around: Around, lines: Sequence[Line]) -> Iterator[int]:
    """Yield the positions of hits and of the lines around them, in order, each once."""
    done = 0
    for position in hits:
        start = max(done, position - around.before)
        stop = min(len(lines), position + around.after + 1)
        # Other values of a record are not context.
        yield from (p for p in range(start, stop) if lines[p].path == lines[position].path)
        done = max(done, stop)


@frozen
class _Row:
    """A line as it is written, and how a match is recalled that is cut in it."""

    text: str
    rest: str = ""


def _rows(source: GrepSource, positions: Sequence[int], around: Around) -> Iterator[_Row]:
    """Write lines; a folder or file that several lines begin with comes once, before them."""
    before, value = None, ""
    cuts = cut_paths([source.lines[at].text for at in positions])
    for position, cut in zip(positions, cuts, strict=True):
        if before is not None and position != before + 1 and (around.before or around.after):
            yield _Row("--")
        yield from map(_Row, cut.above)
        line, span = source.lines[position], source.spans.get(position)
        name = f"{line.path[-around.value :]}: " if line.path and line.path != value else ""
        sign = "-" if span is None else ":"
        moved = span and (max(0, span[0] - cut.moved), max(0, span[1] - cut.moved))
        text = f"{cut.sign}{line.text[cut.size :]}"
        narrow = _narrow(text, moved, around.value if line.path else around.wide)
        is_cut = span is not None and narrow != text and around.wide >= LEAST
        rest = source.section.locate(line.number, line.number, line.path) if is_cut else ""
        yield _Row(f"{line.number}{sign} {name}{narrow}", rest)
        before, value = position, line.path


def _narrow(line: str, span: Span | None, wide: int) -> str:
    """Cut a line around its match; where there is room, how much is missing is written."""
    if len(line) <= wide:
        return line
    start, end = span or (0, 0)
    left = max(0, min(start, (start + end - wide) // 2))
    if wide < WIDE:
        return cut_around(line, start, wide)
    right = left + wide
    head = f"[… {left:,} characters] " if left else ""
    tail = f" [{len(line) - right:,} characters …]" if right < len(line) else ""
    return f"{head}{line[left:right]}{tail}"
