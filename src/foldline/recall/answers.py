"""The best passages for a query, written as one text within a size limit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Final

from foldline.errors import RecallError
from foldline.frozen import frozen, replace
from foldline.recall.excerpts import Excerpt, locate, squeeze, widest
from foldline.recall.fitting import Fits, clip, note_cut
from foldline.recall.lines import Line, dedent, essence, merge_prefixes, write_lines
from foldline.recall.ranking import RecallPassage, RecallQuery, cut_passages, rank_passages
from foldline.recall.sections import MessageSection

PAGE: Final = 40
"""Maximum number of passages in one answer."""

WORTH: Final = 0.4
"""Minimum score of a passage, as a share of the best score."""

TRIES: Final = 12
"""Maximum number of passages that are tried to fill the rest of an answer."""


@frozen
class RecallHits:
    """Passages for a query, best first, and the handles of others with the same text."""

    question: RecallQuery
    passages: list[RecallPassage]
    also: dict[int, list[str]]


def find_passages(sections: Sequence[MessageSection], question: RecallQuery) -> RecallHits:
    """Find the passages that answer a query; equal passages are returned once."""
    ranked = rank_passages(cut_passages(sections), question)
    least = WORTH * ranked[0][0] if ranked else 0.0
    kept, also = list[RecallPassage](), dict[int, list[str]]()
    places = dict[tuple[tuple[str, str], ...], int]()
    for score, passage in ranked:
        if score < least:
            break
        if _is_label(passage):
            continue
        content = tuple((line.path, essence(line.text)) for line in passage.lines)
        place = places.setdefault(content, passage.place)
        if place == passage.place:
            kept.append(passage)
        elif passage.section.handle not in also.setdefault(place, []):
            also[place].append(passage.section.handle)
    return RecallHits(question, kept, also)


def check_start(start: int, count: int, what: str) -> None:
    """
    Check that a page starts before the end.

    Args:
        start: Number of results on earlier pages.
        count: Number of all results.
        what: Name of the results, in the plural, for the error.

    Raises:
        RecallError: The page starts after the end.
    """
    if start and start >= count:
        raise RecallError(f"start={start} is past the end.", hint=f"There are {count:,} {what}.")


def write_answer(found: RecallHits, start: int, fits: Fits) -> str:
    """
    Write as many passages as fit, under the headings of their sections.

    If the room is short, lines around matching lines are dropped first, then passages, then
    other lines that match, and then what a long line says besides. The last line says what is
    left.

    Args:
        found: The passages.
        start: Number of passages on earlier pages.
        fits: The size limit.
    """
    offered = found.passages[start:]
    chosen: list[Excerpt] = []
    tried = 0

    def fits_too(one: Excerpt) -> bool:
        return fits(_page([*chosen, one], found, start))

    for passage in offered[:PAGE]:
        if excerpt := widest(passage, found.question, fits_too):
            chosen.append(excerpt)
        elif not chosen:
            return _write_least(passage, found, start, fits)
        else:
            tried += 1
            if tried == TRIES:
                break
    return _page(chosen, found, start)


def _write_least(passage: RecallPassage, found: RecallHits, start: int, fits: Fits) -> str:
    """Write what fits of one passage."""
    alone = replace(found, also={})
    best = squeeze(passage, found.question, lambda one: fits(_page([one], alone, start)))
    if best:
        return _page([best], alone, start)
    everything = Excerpt(passage, tuple(range(len(passage.lines))))
    return clip(_block([everything], alone), fits)


def _page(chosen: Sequence[Excerpt], found: RecallHits, start: int) -> str:
    """Write excerpts: sections by their best one, those of a section in their order."""
    by_section: dict[int, list[Excerpt]] = {}
    for one in chosen:
        by_section.setdefault(id(one.passage.section), []).append(one)
    blocks = [
        _block(sorted(group, key=attrgetter("passage.place")), found)
        for group in by_section.values()
    ]
    # Passages skipped because they were too long are tried again on the next page.
    given = start
    for one in chosen:
        if one.passage.place != found.passages[given].place:
            break
        given += 1
    left = len(found.passages) - start - len(chosen)
    more = f"{left:,} more passages: start={given}" if left else ""
    cut = note_cut(list(_rests(chosen)))
    last = "; ".join(filter(None, [cut, more]))
    return "\n".join([*blocks, *([f"[{last}]"] if last else [])])


def _rests(chosen: Sequence[Excerpt]) -> Iterator[str]:
    """Yield how lines are recalled that match and are missing, or that are there in part."""
    places = {one.passage.place for one in chosen}
    for one in chosen:
        section, place, lines = one.passage.section, one.passage.place, one.passage.lines
        if one.rest:
            yield one.rest
        elif lines[-1].goes_on and place + 1 not in places:
            yield locate(section, lines[-1:])
        elif lines[0].goes_before and place - 1 not in places:
            yield locate(section, lines[:1])


def _block(group: Sequence[Excerpt], found: RecallHits) -> str:
    section = group[0].passage.section
    same = dict.fromkeys(h for one in group for h in found.also.get(one.passage.place, ()))
    heading = section.heading
    if same:
        heading = f"{heading[:-1]}; also {', '.join(list(same)[:5])}]"
    pieces, following = list[list[Line]](), (-1, 0)
    for one in group:
        place, lines = one.passage.place, one.passage.lines
        for run in one.runs():
            if (place, run.start) != following:
                pieces.append([])
            pieces[-1] += lines[run.start : run.stop]
            following = (place + 1, 0) if run.stop == len(lines) else (place, run.stop)
    text = "\n…\n".join(map(write_lines, pieces))
    return "\n".join([heading, *dedent(merge_prefixes(text.split("\n")))])


def _is_label(passage: RecallPassage) -> bool:
    """Return True if a call contains no more than its heading."""
    section = passage.section
    if section.kind != "call" or len(section.text) > 2 * len(section.label) + 60:
        return False
    return "…" not in section.label


def near_words(sections: Sequence[MessageSection], question: RecallQuery) -> list[str]:
    """Return words of the text that begin like the words of a query without hits."""
    found: dict[str, None] = {}
    for word in question.words:
        beginning = word.beginnings[0][:4]
        if len(beginning) < 3:
            continue
        pattern = re.compile(rf"\b{re.escape(beginning)}\w{{0,20}}", re.IGNORECASE)
        matches = (match[0].lower() for one in sections for match in pattern.finditer(one.text))
        found |= dict.fromkeys(islice(matches, 2))
    return list(found)[:8]
