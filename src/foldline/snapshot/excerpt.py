"""Excerpts: the beginning, the end and the lines that matter of a text that is too long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import fsum, log1p
from typing import Literal, TypeAlias

from foldline.frozen import frozen
from foldline.outputs.condensed import Condensed
from foldline.outputs.source_code import CODE
from foldline.outputs.verdict import failing_note, first_failure, is_failure
from foldline.relevance.alarms import find_alarms
from foldline.relevance.names import blank_separators, mentions
from foldline.snapshot.line_scoring import Offered, condense_text, offers
from foldline.snapshot.query import Query
from foldline.snapshot.query_terms import Focus
from foldline.snapshot.sources import SourceText
from foldline.snapshot.statements import Slice, prose
from foldline.snapshot.worth import Judge, cost
from foldline.values.part_text import text_lines
from foldline.values.tokens import TokenCounter

Style: TypeAlias = Literal["head", "tail", "head_tail", "salient"]

HEAD_SHARE = {"head": 1.0, "tail": 0.0, "head_tail": 0.4, "salient": 0.1}
TAIL_SHARE = {"head": 0.0, "tail": 1.0, "head_tail": 0.6, "salient": 0.15}
"""Fractions of the budget for the first and the last characters; salient lines get the rest."""

MARKER_TOKENS = 40
"""What the sentence about the missing middle takes, in tokens."""

SEARCH, CLOSE = 6, 0.88
"""How often an excerpt is cut anew at most to come close to its size, and what is close."""

UNKNOWN = 0.05
"""Probability of use given to an item that no statistics know."""

ALARM = 0.5
"""What is added to the worth of a line that speaks of something going wrong."""

OPENING_LINES, OPENING = 2, 3.0
"""How many lines of an output are its beginning, and what is added to their worth."""

LINE_TOKENS = 1.0
"""What a line takes besides its text, in tokens."""

SIZE_POWER = 0.55
"""Lines and paragraphs are chosen by worth over size to this power."""

LONGEST = 400
"""Characters of a line that an excerpt quotes, but for lines that are asked for."""

LAST = 130
"""Characters of a piece of a paragraph that is worth no less than the piece before it."""


def excerpt(
    text: str,
    tokens: int,
    counter: TokenCounter,
    *,
    handle: str,
    style: Style = "salient",
    values: Mapping[str, float] | None = None,
    query: Query | None = None,
) -> str:
    """
    Shorten a text to a number of tokens, saying what is missing and how to read it.

    What says that something failed is never left out without a word, however little is kept.

    Args:
        text: The text.
        tokens: The most that the excerpt may take.
        counter: What counts.
        handle: Where the whole text is recalled.
        style: Which part to keep.
        values: Probability of use by item, for the salient style.
        query: What the user wants to know, for the salient style.

    Returns:
        The text itself when it is short enough; else all that it says in a shorter form, where
        that fits; else an excerpt that takes at most ``tokens``, or the bare marker when not even
        that fits. Never longer than the text, in tokens.
    """
    whole = counter.text(text)
    if whole <= tokens:
        return text
    best = marker(handle, whole, text.count("\n") + 1, failing_note(text, ()))
    if tokens <= MARKER_TOKENS:
        return best
    made = condense_text(text)
    if made.lossless:
        rewritten = f"[{whole:,} tokens, written shorter; recall {handle}]\n{made.whole}"
        if counter.text(rewritten) <= tokens:
            return rewritten
    source = _Source(text, whole, handle, style, made, values or {}, query or Query())
    low, high = 0.0, 1.5 * tokens
    for attempt in range(SEARCH):
        room = (low + high) / 2 if attempt else tokens - MARKER_TOKENS
        if room <= 0 or high - low < 8:
            break
        short = source.cut(room)
        size = counter.text(short)
        if size <= tokens:
            low, best = room, short
            if size >= CLOSE * tokens:
                break
        else:
            high = room
    return best


def marker(handle: str, tokens: int, lines: int, note: str = "") -> str:
    """Say that a whole text is out of sight."""
    return f"[{tokens:,} tokens, {lines:,} lines left out{note}; recall {handle}]"


@frozen
class _Source:
    """A text that is cut, perhaps several times, until it fits."""

    text: str
    tokens: int
    handle: str
    style: Style
    made: Condensed
    values: Mapping[str, float]
    query: Query

    @property
    def _per_token(self) -> float:
        return len(self.text) / self.tokens

    def cut(self, room: float) -> str:
        """Shorten the text to about so many tokens."""
        if self.style == "salient" and self.made.kind != "plain":
            return self._of_lines(room)
        return self._of_ends(room)

    def _of_lines(self, room: float) -> str:
        """Keep lines of an output whose kind is known, wherever they stand."""
        offered = offers(self.made, self.query, kept=room / self.tokens)
        # The beginning says what an output is.
        extra = {**dict.fromkeys(range(OPENING_LINES), OPENING), **offered.extra}
        offered = offered._replace(extra=extra)
        lines = _choose_lines(
            offered, room, self._per_token, self.values, alarmed=not self._is_code
        )
        hint = f"[{self.tokens:,} tokens, shortened to these lines; recall {self.handle}]"
        return "\n".join((hint, *self._honest(lines)))

    def _of_ends(self, room: float) -> str:
        head_share, tail_share = HEAD_SHARE[self.style], TAIL_SHARE[self.style]
        text, per_token = self.text, self._per_token
        first = _line_end(text, int(room * head_share * per_token))
        last = _line_start(text, len(text) - int(room * tail_share * per_token), first)
        head, middle, tail = text[:first], text[first:last], text[last:]
        left = room * (1 - head_share - tail_share)
        kept = self._middle(middle, left) if left > 0 else []
        visible_lines = (*head.split("\n"), *kept, *tail.split("\n"))
        kept = [*self._honest(visible_lines)[len(visible_lines) :], *kept]
        start = text.count("\n", 0, first) + 1
        stop = start + middle.count("\n")
        hint = (
            f"[… {self.tokens:,} tokens in all; lines {start}-{stop} are shortened; "
            f"recall {self.handle} …]"
        )
        pieces = [head.rstrip("\n"), hint, *kept]
        if kept:
            pieces.append("[…]")
        pieces.append(tail.lstrip("\n"))
        return "\n".join(piece for piece in pieces if piece)

    def _middle(self, middle: str, room: float) -> list[str]:
        if not self.query:
            return salient_lines(middle, room, self._per_token, self.values)
        offered = offers(condense_text(middle), self.query, kept=room / self.tokens)
        return _choose_lines(offered, room, self._per_token, self.values)

    def _honest(self, lines: Sequence[str]) -> list[str]:
        """Add what failed first to lines none of which says that anything failed."""
        if not self._failure or any(map(is_failure, lines)):
            return list(lines)
        return [*lines, self._failure]

    @property
    def _is_code(self) -> bool:
        return self.made.kind == CODE

    @cached_property
    def _failure(self) -> str:
        return "" if self._is_code else first_failure(self.text)[0]


def _line_end(text: str, position: int) -> int:
    """Move a cut back to the end of a line, unless that would lose most of the piece."""
    end = text.rfind("\n", position // 2, position)
    return position if end < 0 else end + 1


def _line_start(text: str, position: int, floor: int) -> int:
    position = max(position, floor)
    start = text.find("\n", position, position + (len(text) - position) // 2)
    return position if start < 0 else start + 1


def salient_lines(
    middle: str, room: float, per_token: float, values: Mapping[str, float]
) -> list[str]:
    """
    Choose the lines of a text that tell most.

    Args:
        middle: The text.
        room: What they may take, in tokens.
        per_token: Characters of the text for each token.
        values: Probability of use by item.

    Returns:
        The lines, in order.
    """
    lines = [line[:LONGEST] for line in text_lines(middle)]
    return _choose_lines(Offered(lines, {}, frozenset()), room, per_token, values)


def _choose_lines(
    offered: Offered,
    room: float,
    per_token: float,
    values: Mapping[str, float],
    *,
    alarmed: bool = True,
) -> list[str]:
    """Choose lines by what their names are worth and by what speaks for them besides."""
    lines = [
        line if number in offered.whole else line[:LONGEST]
        for number, line in enumerate(offered.lines)
    ]
    alarms = find_alarms(lines) if alarmed else set[int]()
    named = _score_names(lines, values)
    ranked = sorted(
        (
            (
                _density(line, named[number], number in alarms, offered.extra.get(number, 0.0)),
                -number,
            )
            for number, line in enumerate(lines)
        ),
        reverse=True,
    )
    chosen, left, known = list[int](), room, set[str]()
    for density, behind in ranked:
        line = lines[-behind]
        needed = len(line) / per_token + LINE_TOKENS
        if density > 0 and needed <= left and line not in known:
            chosen.append(-behind)
            known.add(line)
            left -= needed
    return [lines[number] for number in sorted(chosen)]


def _score_names(lines: Sequence[str], values: Mapping[str, float]) -> list[float]:
    """Return what the names in each line are worth together."""
    plain = blank_separators("\n".join(lines)).split("\n")
    return [fsum(values.get(name, UNKNOWN) for name in {*mentions(line)}) for line in plain]


def _density(line: str, named: float, alarm: bool, extra: float) -> float:
    """Return what a line is worth for its size."""
    worth = log1p(named)
    size: float = (len(line) + 40) ** SIZE_POWER
    return (worth + (ALARM if alarm else 0.0) + extra) / size


def paragraphs(
    text: str, tokens: int, counter: TokenCounter, values: Mapping[str, float], *, handle: str
) -> str:
    """
    Shorten what somebody wrote to some of its paragraphs.

    The first stays as long as there is room for any, then those that tell most; what is left out
    between them is marked.

    Args:
        text: The text.
        tokens: The most that may be left of it.
        counter: What counts.
        values: What names are worth.
        handle: Where the whole text is recalled.
    """
    whole = counter.text(text)
    if whole <= tokens:
        return text
    pieces = prose(text)
    source = SourceText(0, 0, "user", text, handle, whole / max(1, len(text)), 1.0)
    kept, left = set[int](), tokens - MARKER_TOKENS
    for number in _rank_pieces(source, pieces, Judge(values, Focus())):
        start, end = pieces[number]
        needed = counter.text(text[start:end]) + (3 if number - 1 not in kept else 1)
        if needed <= left:
            kept.add(number)
            left -= needed
    if 0 not in kept:
        return excerpt(text, tokens, counter, handle=handle, values=values)
    excerpt_text = _with_gaps(text, pieces, sorted(kept))
    return f"{excerpt_text}\n[shortened from {whole:,} tokens; recall {handle}]"


def _rank_pieces(source: SourceText, pieces: Sequence[Slice], judge: Judge) -> list[int]:
    """Return the numbers of pieces that say something: the first one, then the most telling."""
    text = source.text
    densities = [
        worth / cost(source, *piece) ** SIZE_POWER
        for worth, piece in zip(judge.worths(source, pieces), pieces, strict=True)
    ]
    for number in range(1, len(pieces)):
        if _goes_on(text, pieces[number - 1], pieces[number]):
            densities[number] = max(densities[number - 1 : number + 1])
    ranked = sorted(range(1, len(pieces)), key=lambda number: -densities[number])
    return [0, *(number for number in ranked if _says(text, pieces[number]))]


def _says(text: str, piece: Slice) -> bool:
    """Return True if there is a word in a piece of a text: it is no mere rule."""
    return any(map(str.isalnum, text[slice(*piece)]))


def _goes_on(text: str, before: Slice, piece: Slice) -> bool:
    """Return True if a piece is short and no blank line parts it from the one before."""
    return piece[1] - piece[0] < LAST and text.count("\n", before[1], piece[0]) < 2


def _with_gaps(text: str, pieces: Sequence[Slice], kept: Sequence[int]) -> str:
    """Put pieces of a text together as they stood; what is left out between them is marked."""
    joined, last, end = "", -1, 0
    for number in kept:
        start, stop = pieces[number]
        if joined:
            between = text[end:start]
            feeds = min(2, between.count("\n"))
            joined += ("\n" * feeds or between[:1]) if number == last + 1 else "\n[…]\n"
        piece = text[start:stop].rstrip()
        joined, end = joined + piece, start + len(piece)
        last = number
    return joined if last == len(pieces) - 1 else f"{joined}\n[…]"
