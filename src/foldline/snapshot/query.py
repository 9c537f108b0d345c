"""
Asked: what the user wants to know, as words to look for in what tools returned.

A name, a number or a phrase of the question that few lines have points at the line that answers.
So does a place: the last line, the first error, the line of a number.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log
from operator import itemgetter
from typing import Self

from foldline.frozen import frozen
from foldline.outputs.condensed import Condensed
from foldline.outputs.verdict import is_failure, is_summary
from foldline.snapshot.query_terms import (
    Term,
    Want,
    line_numbers,
    near,
    pointing,
    questions,
    wants,
)
from foldline.values.frames import user_words
from foldline.values.messages import Message

TERMS = 48
"""Words and phrases of all questions that are looked for."""

HITS = 48
"""Lines with a term from which on it says nothing, but for the first and the last of them."""

RARITY = 4.5
"""Natural logarithm of how many lines there must be for each with a term, to point at it."""

RAREST = 1.3
"""The most that rarity multiplies, twice, what an ordinary word weighs."""

SPREAD, NAME_SPREAD = 0.8, 0.45
"""How fast the weight of a word, and of a name, falls with how often it occurs."""

CERTAIN = 2.2
"""Sum of the weights of a line's terms from which on it surely answers."""

MOST_SURE = 3
"""Lines that are surely asked for, of an output that has no room."""

SURE, WEAK = 0.7, 0.25
"""
From what value on a line is taken however little room there is, and up to what value it is not
told from chance in an output that is one of many.
"""

HEAD, BESIDE = 0.3, (0.2, 0.12, 0.07)
"""
What the head of a line that is asked for is worth, as a fraction of that line; and the lines up to
three places away.
"""

BLOCK = 8
"""Lines that a head which is asked for brings along."""

ROWS = ("json", "table", "listing", "search")
"""Kinds of outputs whose lines say nothing about their neighbours."""

PLACED = 0.65
"""What a line is worth that stands where the question asks for."""

EDGE_WEIGHT = 0.5
"""Weight of a term from which on its first and last occurrence may be asked for."""


@frozen
class Query:
    """
    What is asked for.

    Args:
        terms: Words and phrases to look for.
        wants: Places that are asked for.
        numbers: Numbers of lines that are asked for, counted from 1.
    """

    terms: tuple[Term, ...] = ()
    wants: frozenset[Want] = frozenset()
    numbers: frozenset[int] = frozenset()

    @classmethod
    def of(cls, messages: Sequence[Message], focus: str = "") -> Self:
        """Read the first and the latest message of the user, and what is to be remembered."""
        latest = _find_user_words(messages, reversed(range(len(messages))))
        first = _find_user_words(messages, range(latest[0]))
        return cls.in_words(focus, latest[1], first[1])

    @classmethod
    def in_words(cls, *texts: str) -> Self:
        """Read questions, the most important first."""
        return cls(*_read(tuple(map(near, filter(None, texts)))))

    def __bool__(self) -> bool:
        return bool(self.terms or self.wants or self.numbers)

    def values(self, made: Condensed, room: float, large: float = 1.0) -> dict[int, float]:
        """
        Judge the lines of an output by what is asked.

        Args:
            made: The output.
            room: Characters that lines may take which are asked for.
            large: From 0 to 1: how much of all that is looked through the output is. Of one among
                many only lines count that are surely asked for.

        Returns:
            By line from 0 to 1: how likely it is what is asked for. Few lines get a value.
        """
        if not self or not made.lines:
            return {}
        scores: dict[int, float] = {}
        edges: dict[int, float] = {}
        for term in self.terms:
            self._look_for(term, made, scores, edges)
        least = 0.6 * (1 - large)
        judged = {line: min(1.0, score / CERTAIN) ** 2 for line, score in scores.items()}
        found = {line: value for line, value in judged.items() if value > least}
        for line, value in (*edges.items(), *self._score_places(made).items()):
            found[line] = max(value * large, found.get(line, 0.0))
        found = within(made, found, room)
        for line, value in list(found.items()):
            if value >= WEAK:
                _explain(made, line, value, found, large)
        return found

    def _look_for(
        self, term: Term, made: Condensed, scores: dict[int, float], edges: dict[int, float]
    ) -> None:
        lines = list(dict.fromkeys(_hits(term, made)))
        if not lines:
            return
        often = len(lines)
        if often <= HITS:
            rarity = min(RAREST, log((1 + len(made.lines)) / often) / RARITY)
            # In a short output a word says little by being rare, a name still says much.
            value = term.weight * (min(1.0, max(rarity, 0.5)) if term.is_name else rarity**2)
            spread = NAME_SPREAD if term.is_name else SPREAD
            for line in lines:
                scores[line] = scores.get(line, 0.0) + value / often**spread
        if term.weight >= EDGE_WEIGHT and self.wants & {"last", "first"}:
            last = _last_hit(term, made)
            if "last" in self.wants and last is not None:
                edges[last] = PLACED
            if "first" in self.wants:
                edges[lines[0]] = PLACED

    def _score_places(self, made: Condensed) -> dict[int, float]:
        """Judge lines by where they stand."""
        count = len(made.lines) - made.notes
        found: dict[int, float] = {}
        if "last" in self.wants:
            found.update(dict.fromkeys(range(max(0, count - 2), count), PLACED))
        if "first" in self.wants:
            found.update(dict.fromkeys(range(min(2, count)), PLACED))
        if "failure" in self.wants:
            failing = [place for place in made.worth if made.worth[place] >= 0.3]
            failing = [place for place in failing if is_failure(made.lines[place])]
            found.update(dict.fromkeys(failing[:8], PLACED))
            assertions = sorted(place for place, worth in made.worth.items() if 0.4 <= worth < 0.5)
            if made.kind == "report":
                found.update(dict.fromkeys(assertions[:8], PLACED))
        if self.wants & {"count", "failure"}:
            summaries = [place for place in made.worth if is_summary(made.lines[place])]
            found.update(dict.fromkeys(summaries[:6], PLACED))
        if "count" in self.wants:
            found.update(dict.fromkeys(range(count, len(made.lines)), PLACED))
        if "rare" in self.wants and made.kind == "log":
            found.update({place: PLACED for place, worth in made.worth.items() if worth >= 0.45})
        found.update({n - 1: PLACED for n in self.numbers if 0 < n <= count})
        return found


@lru_cache(maxsize=4)
def _read(texts: Sequence[str]) -> tuple[tuple[Term, ...], frozenset[Want], frozenset[int]]:
    """Return terms, places and numbers of lines that texts ask for."""
    found: dict[str, Term] = {}
    places: frozenset[Want] = frozenset()
    numbers: frozenset[int] = frozenset()
    for text in texts:
        asking = questions(text)
        for term in (*pointing(text), *(pointing(asking) if asking != text else ())):
            known = found.get(term.text)
            if known is None or known.weight < term.weight:
                found[term.text] = term
        places |= wants(asking)
        numbers |= line_numbers(asking)
    ranked = sorted(found.values(), key=lambda term: -term.weight)
    return tuple(ranked[:TERMS]), places, numbers


def _find_user_words(messages: Sequence[Message], places: Iterable[int]) -> tuple[int, str]:
    """Return the first of some places where a user said something, and the words."""
    statements = ((place, user_words(messages[place])) for place in places)
    return next(filter(itemgetter(1), statements), (0, ""))


def _hits(term: Term, made: Condensed) -> Iterable[int]:
    """Yield the lines with a term, at most one more than `HITS`; every look goes on further."""
    text, size = made.lowered, len(term.text)
    place, found, line = text.find(term.text), 0, -1
    looks = 0
    while place >= 0 and found <= HITS and looks < 8 * HITS:
        looks += 1
        if _stands_alone(text, place, size, term.whole):
            here = made.at(place)
            if here != line and here < len(made.lines):
                line = here
                found += 1
                yield here
        place = text.find(term.text, place + size)


def _last_hit(term: Term, made: Condensed) -> int | None:
    text, size = made.lowered, len(term.text)
    end = len(text)
    for _ in range(HITS):
        place = text.rfind(term.text, 0, end)
        if place < 0:
            return None
        if _stands_alone(text, place, size, term.whole) and made.at(place) < len(made.lines):
            line = made.at(place)
            if line < len(made.lines) - made.notes:
                return line
        end = place
    return None


def _stands_alone(text: str, place: int, size: int, whole: bool) -> bool:
    """Tell whether a term that stands at a place is no piece of a longer word or number."""
    if place and _is_one_word(text[place - 1], text[place]):
        return False
    end = place + size
    return not (whole and end < len(text) and _is_one_word(text[end - 1], text[end]))


def _is_one_word(left: str, right: str) -> bool:
    """Tell whether two characters belong to one word; a number behind a word is its own."""
    if not (left.isascii() and right.isascii() and left.isalnum() and right.isalnum()):
        return False
    return not (left.isalpha() and right.isdigit())


def within(made: Condensed, values: Mapping[int, float], room: float) -> dict[int, float]:
    """Take the best lines until so many characters are full, but a few sure ones always."""
    found: dict[int, float] = {}
    for value, place in sorted(((v, -line) for line, v in values.items()), reverse=True):
        room -= len(made.lines[-place])
        if room < 0 and (len(found) >= MOST_SURE or value < SURE):
            break
        found[-place] = value
    return found


def _explain(
    made: Condensed, line: int, value: float, found: dict[int, float], large: float
) -> None:
    """Let a line that is asked for bring what it belongs to and what stands beside it."""
    head = made.head(line)
    if head is not None:
        found[head] = max(found.get(head, 0.0), HEAD * value)
    if made.kind in ROWS:
        return
    around: dict[int, float] = {}
    if large >= WEAK:
        around = {line + step: part for step, part in enumerate(BESIDE, 1)}
        around |= {line - step: part for step, part in enumerate(BESIDE, 1)}
    if line in made.heads:
        around |= dict.fromkeys(range(line + 1, line + 1 + _block(made, line)), HEAD)
    for place, part in around.items():
        if 0 <= place < len(made.lines):
            found[place] = max(found.get(place, 0.0), part * value)


def _block(made: Condensed, head: int) -> int:
    """Count the lines below a head, as far as they are brought along with it."""
    place = bisect_right(made.heads, head)
    end = made.heads[place] if place < len(made.heads) else len(made.lines)
    return min(BLOCK, end - head - 1)


def strongest(values: Mapping[int, float], most: int = 12) -> list[int]:
    """Return the lines that are asked for most surely, the surest first."""
    sure = [(value, -line) for line, value in values.items() if value >= 0.5]
    return [-line for _, line in sorted(sure, reverse=True)[:most]]
