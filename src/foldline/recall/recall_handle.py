"""Recall something that a compaction removed, exactly, in portions that fit a context."""

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
"""Other handles that are named where a search finds nothing."""

MOST_READ: Final = 2_000_000
"""Characters of other messages that are read to name them."""


@frozen
class Recalled:
    """
    What was kept under a handle.

    ``text`` is the requested content; what a search found ends with a line that says how many
    matches are left. ``raw`` is the wire original, always whole: of a message or part, or for a
    snapshot the list of the messages that it stands for. ``note`` says in a sentence what
    ``text`` leaves out and how to get it, and is empty when it leaves out nothing.
    """

    handle: str
    message_id: str
    role: str
    text: str
    raw: Any = field(repr=False)
    note: str = ""


@frozen
class _RecallRequest:
    """What of a handle's content is requested, and how much of it."""

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
    Return what is kept under a handle.

    The handle of a step, which is an assistant message with calls, stands for its text, its calls
    and their results; that of a result or a part for this alone; that of a snapshot for all
    messages folded into it, and a search of it looks through those that were shortened too.

    ``path`` and ``lines`` each narrow down what the one before left, and a search looks through
    the rest. With both ``grep`` and ``query``, the query is for when nothing matches the pattern.

    Args:
        holdings: What can be recalled.
        handle: A handle that a stub, a snapshot or a receipt names; ``.N`` behind it is a part.
        query: Words of a question; the passages that answer it best come first, each under the
            handle of its message, its role or tool and what the tool was after.
        lines: ``A:B``, counted from 1, both ends included; negative from the end, ends may lack.
            A number is one line.
        grep: A regular expression; hits come with line numbers under the handle they stand in.
        context: Lines around a hit; fewer where the room is short.
        path: A JSON path into content that is JSON.
        start: Where the page begins: in matches of a search, else in characters.
        max_tokens: The most that the text may take, in tokens; needs ``counter``.
        max_chars: The same in characters.
        counter: Counts tokens.

    Raises:
        RecallError: The handle, the range, the pattern or the path names nothing.
        InputError: An argument has the wrong type.
    """
    lines = str(lines) if isinstance(lines, int) else lines
    if start < 0:
        raise RecallError("start must not be negative.")
    fits = cap(max_tokens, max_chars, counter)
    # Where nothing begins so, all ids are needed, to name the nearest.
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
    """Return what a path names in all of the text, else in its first part that has it."""
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
                GrepSource(
                    one.handle, "" if bare else one.heading, lines or number_lines(one.text)
                )
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
    """Return what is searched; of a text that lines or a path narrow down, its lines too."""
    if request.path is None and request.lines is None:
        return found.sections(holdings), []
    lines = number_lines(_content(found, request.path))
    if request.lines is not None:
        lines = choose_lines(lines, request.lines)
    handle = found.handles[found.messages[0].id] if found.messages else ""
    text = "\n".join(line.text for line in lines)
    return [MessageSection(handle, "result", "", text)], lines


def _no_match(holdings: Holdings, found: Original, pattern: Pattern) -> str:
    """Say that a pattern matches nothing here, and where else it does."""
    other = list[str]()
    with suppress(RecallError):  # it takes too long; what was found until then is named
        for section in _elsewhere(holdings, found):
            if any(pattern.span(line) for line in section.text.split("\n")):
                other.append(section.handle)
            if len(other) == ELSEWHERE:
                break
    return f"[0 matches.{_name_handles(other)}]"


def _no_words(
    holdings: Holdings, found: Original, places: list[MessageSection], question: RecallQuery
) -> str:
    """Say that no word of a query stands here, which words are near, and where they stand."""
    ranked = answers.find_passages(list(_elsewhere(holdings, found)), question).passages
    other = dict.fromkeys(passage.section.handle for passage in ranked)
    near = answers.near_words(places, question)
    words = f" Similar words: {', '.join(near)}." if near else ""
    return f"[0 matches.{words}{_name_handles(list(other)[:ELSEWHERE])}]"


def _name_handles(handles: list[str]) -> str:
    return f" It matches in {', '.join(handles)}." if handles else " Nor anywhere else."


def _elsewhere(holdings: Holdings, found: Original) -> Iterator[MessageSection]:
    """Yield other messages, the newest first, up to a bound."""
    left = MOST_READ
    for section in found.others(holdings):
        left -= len(section.text)
        if left < 0:
            return
        yield section
