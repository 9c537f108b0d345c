"""The frame of an output: how it begins and ends, what failed first and last, what sums it up."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from foldline.frozen import replace
from foldline.lazy import lazy_pattern
from foldline.outputs.condensed import Condensed
from foldline.outputs.diffs import diff, is_diff
from foldline.outputs.json_rows import json_rows
from foldline.outputs.listings import is_search, kind_of_listing, listing, search
from foldline.outputs.markup import is_markup, markup_lines
from foldline.outputs.repetition import repetition
from foldline.outputs.reports import is_report, report
from foldline.outputs.source_code import CODE, is_code, source_code
from foldline.outputs.tables import condense_delimited, delimiter
from foldline.outputs.verdict import failures, is_summary, last_failure
from foldline.values.part_text import bounded_lines, result_text, text_lines

FIRST, SECOND = 0.6, 0.3
LAST, NEXT_TO_LAST = 0.8, 0.4
"""Worth of the first and last lines."""

FAILURE, FURTHER_FAILURE, LAST_FAILURE = 1.0, 0.35, 0.7
SUMMARY = 0.95
"""Worth of the lines that say that something failed, and of those that sum up."""

LOOKED_AT = 30
"""Lines at the end, and a third of that at the beginning, among which a summary is looked for."""


def weigh_frame(made: Condensed) -> dict[int, float]:
    """
    Judge the lines that an output is framed by.

    Args:
        made: The output.

    Returns:
        Worth by line: what the output has, or more.
    """
    count = len(made.lines) - made.notes
    worth = dict(made.worth)
    if count <= 0:
        return worth
    _raise(worth, {0: FIRST, count - 1: LAST})
    if count > 4:
        _raise(worth, {1: SECOND, count - 2: NEXT_TO_LAST})
    for place in {*range(min(count, LOOKED_AT // 3)), *range(max(0, count - LOOKED_AT), count)}:
        if is_summary(made.lines[place]):
            _raise(worth, {place: SUMMARY})
    text = "\n".join(made.lines)
    if len(text) != len(made.lowered):
        return worth
    found = [made.at(start) for start, _ in failures(text)]
    _raise(worth, dict.fromkeys(found[1:], FURTHER_FAILURE))
    _raise(worth, dict.fromkeys(found[:1], FAILURE))
    last = last_failure(text) if found else None
    if last:
        _raise(worth, {made.at(last[0]): LAST_FAILURE})
    return worth


def _raise(worth: dict[int, float], least: Mapping[int, float]) -> None:
    for place, value in least.items():
        worth[place] = max(value, worth.get(place, 0.0))


SHORT = 600
"""Characters up to which a text is not taken apart."""

LONGEST = 16_000_000
"""Characters up to which a text is recognised; a longer one is offered line by line."""

AHEAD = 4_000
"""Characters before JSON that may say what it is."""

SAMPLE = 6_000
"""Characters at each end, and half of that in the middle, by which a text is recognised."""

FEWEST_COMMITS = 3

_NUMBER = lazy_pattern(r"^[ \t]*(\d{1,6})(?:→|\t|\s\|\s|[-:](?!\d))", re.MULTILINE)
_COMMIT = lazy_pattern(r"commit [0-9a-f]{7,64}\b")
_JSON = lazy_pattern(r"^[ \t]*(?=[\[{])", re.MULTILINE)


def condense(text: str) -> Condensed:
    """
    Take an output apart.

    Args:
        text: What a tool returned, whatever it is.

    Returns:
        Its lines, each with how surely it should stay. Time is linear in the text.
    """
    made = _recognise(text) if SHORT < len(text) <= LONGEST else None
    made = made or Condensed("plain", plain(text))
    # What a program says when something fails is no failure.
    return made if made.kind == CODE else replace(made, worth=weigh_frame(made))


def plain(text: str) -> tuple[str, ...]:
    """Cut a text into lines; numbers in front of them go only where a reader counted with them."""
    inner = result_text(text)
    return tuple(text_lines(inner)) if _is_counted(inner[:SAMPLE]) else _raw(inner)


def _raw(text: str) -> tuple[str, ...]:
    lines = [line for line in map(str.strip, text.split("\n")) if line]
    return tuple(bounded_lines(lines))


def _is_counted(sample: str) -> bool:
    numbers = [int(match) for match in _NUMBER.findall(sample)]
    rising = sum(later == number + 1 for number, later in pairwise(numbers))
    return rising * 10 >= len(numbers) * 8


def _recognise(text: str) -> Condensed | None:
    of_json = _json(text)
    if of_json:
        return of_json
    middle = len(text) // 2
    sample = "\n".join((text[:SAMPLE], text[middle : middle + SAMPLE // 2], text[-SAMPLE:]))
    if is_markup(sample):
        return _of_lines(text, tuple(markup_lines(text)), sample, "page")
    if is_diff(sample):
        return diff(plain(text))
    raw = _raw(text)
    mark = delimiter(raw)
    return condense_delimited(raw, mark) if mark else _of_lines(text, plain(text), sample, "")


def _of_lines(text: str, lines: Sequence[str], sample: str, kind: str) -> Condensed | None:
    if not kind and is_code(lines):
        return source_code(lines)
    if is_report(sample) and not kind:
        return report(lines)
    if is_search(lines):
        return search(lines)
    listed = kind_of_listing(lines)
    if listed:
        return listing(text, lines, listed)
    commits = tuple(place for place, line in enumerate(lines) if _COMMIT.match(line))
    if len(commits) >= FEWEST_COMMITS:
        return Condensed("commits", tuple(lines), heads=commits)
    return repetition(lines) or (Condensed(kind, tuple(lines)) if kind else None)


def _json(text: str) -> Condensed | None:
    """Take apart JSON, also where words stand around it, and where it is broken off."""
    begins = _JSON.search(text, 0, AHEAD)
    if begins is None:
        return None
    try:
        made, end = json_rows(text, begins.end())
    except ValueError:
        return None
    # What follows JSON is another line of JSON in each line, or plain lines.
    before, after = plain(text[: begins.end()]), tuple(text_lines(text[end:]))
    if not before and not after:
        return made
    shift = len(before)
    return Condensed(
        made.kind,
        (*before, *made.lines, *after),
        {place + shift: value for place, value in made.worth.items()},
        tuple(place + shift for place in made.heads),
        spans={place + shift: span for place, span in made.spans.items()},
        source=made.source,
    )
