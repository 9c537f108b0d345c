"""Choice: the statements that tell most together, in the order of what each adds to the others."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, TypeAlias

from foldline.snapshot.densities import WORD
from foldline.snapshot.ranking import Ranking, Statement
from foldline.snapshot.sources import SourceText
from foldline.snapshot.worth import QUOTED

REPEATED, POWER = 0.65, 3.0
"""
What a statement loses of its worth all of whose words stand elsewhere, and the power of their
fraction by which one loses less.
"""

SPREAD, SPREAD_POWER = 100.0, 0.5
"""
Tokens of one output or document after which another statement of it is worth less, and the power
by which: several outputs tell more than much of one.
"""

SPREADING: Final = frozenset((*QUOTED, "document", "report"))
"""Who is quoted from in that way."""

SAME: Final = 0.999
"""The fraction of its worth from which on a statement counts as new."""

HANDLE_TOKENS: Final = 4.0

LEAST_LINE: Final = 12
"""Characters of a line that is not quoted twice, and tokens that no statement is looked for."""

CANDIDATES: Final = 2.5
"""How many times what fits is looked at: what stands further behind adds too little."""

TRIES: Final = 6
"""How often a statement is judged anew; what it loses after that is little."""

_Waiting: TypeAlias = tuple[float, int, int, Statement]


class Choice:
    """
    Chooses statements of a history for one size after another.

    Args:
        statements: All of them, by their worth over their size.
        sources: The texts that they are slices of.
        elsewhere: Texts that the reader has too, which need not be repeated.
        account: One more, for which the statements were ranked already: only its lines count.
    """

    def __init__(
        self,
        statements: Ranking,
        sources: Sequence[SourceText],
        elsewhere: Sequence[str] = (),
        account: str = "",
    ) -> None:
        self._statements, self._sources = statements, sources
        self._words: dict[tuple[int, int], array[int]] = {}
        # Numbers of words, because sets of texts for every statement would be too much.
        self._numbers: dict[str, int] = {}
        self._figures: set[int] = set()
        self._known = set[int]().union(*map(self._numbered, elsewhere))
        self._lines = set[str]().union(*map(lines_of, (*elsewhere, account)))

    def within(self, space: float) -> list[Statement]:
        """
        Choose what fits into a space.

        Args:
            space: In tokens.

        Returns:
            The statements, the best first.
        """
        chosen: list[Statement] = []
        found = _Known(space, self._known.copy(), self._lines.copy())
        for statement in self._best(found):
            source = self._sources[statement.source]
            lines = lines_of(source.text[statement.start : statement.end])
            if lines and lines <= found.lines:
                continue
            found.lines |= lines
            found.words.update(self._words_of(statement))
            found.space -= self._needed(statement, found)
            found.steps.add(source.step)
            found.taken[statement.source] += statement.cost
            chosen.append(statement)
        return chosen

    def _best(self, found: _Known) -> Iterator[Statement]:
        """Yield what fits by what it adds for its size to what was chosen before."""
        waiting: list[_Waiting] = []
        left = CANDIDATES * found.space
        for number, statement in enumerate(self._statements.within(lambda: found.space)):
            if statement.density <= 0 or found.space < LEAST_LINE or left < 0:
                break
            left -= statement.cost
            while waiting and -waiting[0][0] >= statement.density:
                yield from self._next(waiting, found, statement.density)
            if self._needed(statement, found) > found.space:
                continue
            density = self._added(statement, found)
            if density >= statement.density * SAME:
                yield statement
            else:
                heappush(waiting, (-density, number, 1, statement))
        while waiting:
            yield from self._next(waiting, found, 0.0)

    def _next(self, waiting: list[_Waiting], found: _Known, least: float) -> Iterator[Statement]:
        """Yield the best that waits if it fits, unless it has lost more since it was judged."""
        _, number, tries, statement = heappop(waiting)
        if self._needed(statement, found) > found.space:
            return
        density = self._added(statement, found)
        best = max(least, -waiting[0][0]) if waiting else least
        if density >= best or tries == TRIES:
            yield statement
        else:
            heappush(waiting, (-density, number, tries + 1, statement))

    def _needed(self, statement: Statement, found: _Known) -> float:
        is_first = self._sources[statement.source].step not in found.steps
        return statement.cost + (HANDLE_TOKENS if is_first else 0.0)

    def _added(self, statement: Statement, found: _Known) -> float:
        """Return the worth over the size of a statement beside what is there already."""
        density = statement.density * self._spread(statement, found)
        words = self._words_of(statement)
        if not words:
            return density
        fresh = [word for word in words if word not in found.words]
        said = self._sources[statement.source].speaker == "agent"
        if said and not self._figures.isdisjoint(fresh):
            # A value that is new may be what replaces an older one.
            return density
        share = 1 - len(fresh) / len(words)
        return density * float(1 - REPEATED * share**POWER)

    def _spread(self, statement: Statement, found: _Known) -> float:
        """Return what is left of a statement's worth where its text has told much already."""
        taken = found.taken.get(statement.source, 0.0)
        if not taken or self._sources[statement.source].speaker not in SPREADING:
            return 1.0
        return float((1 + taken / SPREAD) ** -SPREAD_POWER)

    def _words_of(self, statement: Statement) -> array[int]:
        key = (statement.source, statement.start)
        words = self._words.get(key)
        if words is None:
            text = self._sources[statement.source].text[statement.start : statement.end]
            words = self._words[key] = array("I", self._numbered(text))
        return words

    def _numbered(self, text: str) -> set[int]:
        """Return the words of a text, each as its number."""
        found = set()
        for word in WORD.findall(text.lower()):
            number = self._numbers.setdefault(word, len(self._numbers))
            if word.isdigit():
                self._figures.add(number)
            found.add(number)
        return found


@dataclass(slots=True)
class _Known:
    """
    What is chosen so far or stands elsewhere, and the space that is left, in tokens.

    ``taken`` is how many tokens of a source are chosen.
    """

    space: float
    words: set[int]
    lines: set[str]
    steps: set[int] = field(default_factory=set)
    taken: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))


def lines_of(text: str) -> set[str]:
    """Return the lines of a text by which it is known whether it stands elsewhere."""
    bare = (line.strip().removeprefix("→ ") for line in text.split("\n"))
    return {line for line in bare if len(line) >= LEAST_LINE}
