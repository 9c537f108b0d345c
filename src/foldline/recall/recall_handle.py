"""Recall content that a compaction removed, exactly, in portions that fit a context."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from foldline.errors import RecallError
from foldline.frozen import field, frozen
from foldline.recall import answers, grep
from foldline.recall.fitting import Fits, cap, clip, page_end
from foldline.recall.grep import GrepSource, Pattern
from foldline.recall.holdings import Holdings, Original, find_original, parse, resolve
from foldline.recall.lines import Line, at_path, choose_lines, number_lines
from foldline.recall.ranking import RecallQuery, parse_query
from foldline.recall.sections import MessageSection
from foldline.type_checks import typed_call
from foldline.values.tokens import TokenCounter

ELSEWHERE: Final = 5
"""Number of other handles that are named if a search finds nothing."""

MOST_READ: Final = 2_000_000
"""Maximum characters of other messages that are read to find these handles."""


@frozen
class Recalled:
    """
    The content of a handle.

    ``text`` is the requested content; the text of a search ends with the number of remaining
    matches and with how to recall a line that is cut, if any. ``raw`` is the whole wire original
    of a message or part, or for a snapshot the list of its messages. ``note`` is a sentence about
    the content that ``text`` omits and how to get it, or "".
    """

    handle: str
    message_id: str
    role: str
    text: str
    raw: Any = field(repr=False)
    note: str = ""


@frozen
class _RecallRequest:
    """The requested part of a handle's content, and its size limit."""

    query: str | None
    lines: str | None
    grep: str | None
    context: int
    path: str | None
    start: int
    fits: Fits


@typed_call
def recall(
    holdings: Holdings,
    handle: str,
    *,
    query: str | None = None,
    lines: str | int | None = None,
    grep: str | None = None,
    context: int = 2,
    path: str | None = None,
    start: int = 0,
    max_tokens: int | None = None,
    max_chars: int | None = None,
    counter: TokenCounter | None = None,
) -> Recalled:
    """
    Return the original content of a handle, whole or in part.

    The handle of a step, which is an assistant message with calls, recalls its text, its calls
    and their results; that of a result or a part recalls only this; that of a snapshot recalls all
    messages folded into it, and a search of it includes messages that were shortened.

    ``path`` and then ``lines`` select a part of the content, and a search is limited to it.
    With both ``grep`` and ``query``, the query is used if nothing matches the pattern.

    Args:
        holdings: Everything that can be recalled.
        handle: A handle from a stub, a snapshot or a receipt; the suffix ``.N`` selects a part.
        query: Words of a question; the passages that answer it best come first, each under the
            handle of its message, its role or tool, and the main argument of the call.
        lines: ``A:B``, counted from 1, both ends included; negative from the end, ends may be
            missing. A number is one line.
        grep: A regular expression; matches have line numbers and are listed under their handle.
        context: Lines around a match; fewer if the room is short.
        path: A JSON path into content that is JSON.
        start: Start of the page: in matches of a search, else in characters.
        max_tokens: Maximum size of the text, in tokens; needs ``counter``.
        max_chars: Maximum size of the text, in characters.
        counter: The token counter.

    Raises:
        RecallError: The handle, the range, the pattern or the path matches nothing.
        InputError: An argument has the wrong type.
    """
    lines = str(lines) if isinstance(lines, int) else lines
    if start < 0:
        raise RecallError("start must not be negative.")
    fits = cap(max_tokens, max_chars, counter)
    # If no id matches, all ids are needed, to name similar ones.
    seen = holdings.first_seen(parse(handle)[0]) or holdings.first_seen()
    named = resolve(handle, seen, holdings.moments)
    found = find_original(holdings, named)
    request = _RecallRequest(query, lines, grep, context, path, start, fits)
    text, note = _search(holdings, found, request) if grep or query else _read(found, request)
    return Recalled(handle, named.id, found.role, text, found.raw, note)


# --- reading -------------------------------------------------------------------------------


def _read(found: Original, request: _RecallRequest) -> tuple[str, str]:
    text, notes = _content(found, request.path), []
    if request.lines is not None:
        whole = number_lines(text)
        picked = choose_lines(whole, request.lines)
        text = "\n".join(line.text for line in picked)
        first, last = picked[0].number, picked[-1].number
        notes = [f"Lines {first:,} to {last:,} of {len(whole):,}."]
    start = request.start
    if start > len(text):
        raise RecallError(
            f"start={start} is past the end.", hint=f"It has {len(text):,} characters."
        )
    end = page_end(text, start, request.fits)
    if start or end < len(text):
        rest = f" Go on with start={end}." if end < len(text) else ""
        notes.append(f"Characters {start:,} to {end:,} of {len(text):,}.{rest}")
    return text[start:end], " ".join(notes)


def _content(found: Original, path: str | None) -> str:
    """Return the value at a path, in the whole text or else in the first section that has it."""
    text = found.text()
    if path is None:
        return text
    try:
        return at_path(text, path)
    except RecallError as error:
        failure = error
    for section in () if found.part is not None else found.sections(Holdings({})):
        try:
            return at_path(section.text, path)
        except RecallError as error:
            failure = error
    raise failure


# --- searching -----------------------------------------------------------------------------


def _search(holdings: Holdings, found: Original, request: _RecallRequest) -> tuple[str, str]:
    places, lines = _places(holdings, found, request)
    if request.grep:
        pattern = Pattern(request.grep)
        bare = bool(lines) or (found.is_exact and len(places) == 1)
        matches = grep.search(
            (
                GrepSource(one, "" if bare else one.heading, lines or number_lines(one.text))
                for one in places
            ),
            pattern,
        )
        if matches.found or not request.query:
            answers.check_start(request.start, len(matches.found), "matches")
            text = grep.write(matches, request.start, request.context, request.fits)
            missing = "" if matches.found else _no_match(holdings, found, pattern)
            least = "" if matches.complete else " at least"
            count = len(matches.found)
            note = f"{count:,} matching line{'s' if count != 1 else ''}{least}."
            return text or clip(missing, request.fits), note
    question = parse_query(request.query or "")
    hits = answers.find_passages(places, question)
    count = len(hits.passages)
    answers.check_start(request.start, count, "matches")
    text = answers.write_answer(hits, request.start, request.fits)
    if not count:
        text = clip(_no_words(holdings, found, places, question), request.fits)
    return text, f"{count:,} passages."


def _places(
    holdings: Holdings, found: Original, request: _RecallRequest
) -> tuple[list[MessageSection], list[Line]]:
    """Return the sections to search, and the numbered lines if lines or a path are given."""
    if request.path is None and request.lines is None:
        return found.sections(holdings), []
    lines = number_lines(_content(found, request.path))
    if request.lines is not None:
        lines = choose_lines(lines, request.lines)
    handle = found.handles[found.messages[0].id] if found.messages else ""
    text = "\n".join(line.text for line in lines)
    part_of = handle if request.path is None else "that path"
    return [MessageSection(handle, "result", "", text, part_of, lines[0].number)], lines


def _no_match(holdings: Holdings, found: Original, pattern: Pattern) -> str:
    """Report that a pattern has no match here, and name handles where it has."""
    other = list[str]()
    with suppress(RecallError):  # a timeout; handles found until then are named
        for section in _elsewhere(holdings, found):
            if any(pattern.span(line) for line in section.text.split("\n")):
                other.append(section.handle)
            if len(other) == ELSEWHERE:
                break
    return f"[0 matches.{_name_handles(other)}]"


def _no_words(
    holdings: Holdings, found: Original, places: list[MessageSection], question: RecallQuery
) -> str:
    """Report that a query has no match here, with similar words, and handles where it has."""
    ranked = answers.find_passages(list(_elsewhere(holdings, found)), question).passages
    other = dict.fromkeys(passage.section.handle for passage in ranked)
    near = answers.near_words(places, question)
    words = f" Similar words: {', '.join(near)}." if near else ""
    return f"[0 matches.{words}{_name_handles(list(other)[:ELSEWHERE])}]"


def _name_handles(handles: list[str]) -> str:
    return f" It matches in {', '.join(handles)}." if handles else " Nor anywhere else."


def _elsewhere(holdings: Holdings, found: Original) -> Iterator[MessageSection]:
    """Yield sections of other messages, newest first, up to a limit."""
    left = MOST_READ
    for section in found.others(holdings):
        left -= len(section.text)
        if left < 0:
            return
        yield section
