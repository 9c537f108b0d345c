"""Choice: the statements that tell most together, in the order of what each adds to the others."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import chain, repeat
from typing import Final, NamedTuple

from foldline.snapshot.densities import WordNumbers
from foldline.snapshot.sources import PEOPLE, SourceText
from foldline.snapshot.statements import Slice
from foldline.snapshot.worth import PASTED


class Statement(NamedTuple):
    """A slice of a source, with its worth over its size and what it takes in tokens."""

    density: float
    cost: float
    source: int
    start: int
    end: int


class Ranking:
    """
    Statements, numbered as they are added, and their order: the greatest density first, of equal
    ones the later. ``densities``, ``costs`` and ``sources`` are read by number.
    """

    def __init__(self) -> None:
        self.densities, self.costs = array("d"), array("d")
        self.sources, self._starts, self._ends = array("I"), array("I"), array("I")
        self._order = array("I")

    def add(
        self,
        source: int,
        slices: Sequence[Slice],
        costs: Iterable[float],
        densities: Iterable[float],
    ) -> None:
        """
        Add the statements of a source.

        Args:
            source: Its number.
            slices: Where they begin and end in it.
            costs: What each takes, in tokens.
            densities: What each is worth over its size.
        """
        self.costs.extend(costs)
        self.densities.extend(densities)
        self.sources.extend(repeat(source, len(slices)))
        self._starts.extend([start for start, _ in slices])
        self._ends.extend([end for _, end in slices])

    @property
    def order(self) -> "array[int]":
        """The numbers of all statements in their order."""
        if len(self._order) < len(self.densities):
            numbers = range(len(self.densities) - 1, -1, -1)
            self._order = array("I", sorted(numbers, key=self.densities.__getitem__, reverse=True))
        return self._order

    def place_of(self, number: int) -> Slice:
        """Return where a statement stands in its source."""
        return self._starts[number], self._ends[number]

    def __getitem__(self, number: int) -> Statement:
        return Statement(
            self.densities[number],
            self.costs[number],
            self.sources[number],
            self._starts[number],
            self._ends[number],
        )

    def __iter__(self) -> Iterator[Statement]:
        return map(self.__getitem__, self.order)


REPEATED, POWER = 0.65, 3.0
ECHOED, ECHO_POWER = 0.9, 2.0
"""
What a statement loses of its worth all of whose words stand elsewhere, and the power of their
fraction by which one loses less; and the same of outputs, which show again what was shown.
"""

ECHOING: Final = frozenset(("result", "report"))
"""Who says again what was said, word for word."""

SPREAD, SPREAD_POWER = 100.0, 0.5
"""
Tokens of one output or document after which another statement of it is worth less, and the power
by which: several outputs tell more than much of one.
"""

SPREADING: Final = frozenset(("result", "document", "draft", "report"))
"""Who is quoted from in that way."""

SAME: Final = 0.999
"""The fraction of its worth from which on a statement counts as new."""

HANDLE_TOKENS: Final = 4.0

LEAST_LINE: Final = 12
"""Characters of a line that is not quoted twice, and tokens that no statement is looked for."""

CANDIDATES: Final = 2.5
"""How many times what fits is looked at: what stands further behind adds too little."""

PASSED_OVER: Final = 40
"""How many statements that do not fit are passed over for smaller ones."""

TRIES: Final = 6
"""How often a statement is judged anew; what it loses after that is little."""


class _Candidate(NamedTuple):
    """
    A statement that was judged: the one that adds most for its size is the least of them.

    ``rank`` is its place in the ranking, ``judged`` how often it was; ``rest`` are those of its
    words, of so many ``words``, that were new at the last time.
    """

    negative_density: float
    rank: int
    judged: int
    words: int
    rest: Sequence[int]


class Choice:
    """
    Chooses statements of a history for one size after another.

    They are put in order once, as far as they are asked for: by what each adds to those before
    it. Of that order, what fits into a space is chosen.

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
        self._by_density = statements.order
        # Numbers of words, because sets of texts for every statement would be too much.
        self._words = WordNumbers()
        # A byte for each word, 1 where it stands somewhere: far smaller than a set.
        self._known = bytearray()
        for text in elsewhere:
            self._take_note(self._words.of(text))
        # A dictionary grows by smaller steps than a set.
        self._lines = dict.fromkeys(chain.from_iterable(map(hash_lines, (*elsewhere, account))))
        self._space = self._looked_at = 0.0
        self._order = array("I")
        self._quoted = array("d", [0.0]) * len(sources)
        self._next = 0
        self._waiting: list[_Candidate] = []

    def within(self, space: float) -> "array[int]":
        """
        Choose what fits into a space.

        Args:
            space: In tokens.

        Returns:
            The numbers of the statements, the best first.
        """
        self._space = max(self._space, space)
        chosen, steps, passed_over = array("I"), set[int](), 0
        for number in self._rank():
            step = self._source(number).step
            needed = self._statements.costs[number] + (0.0 if step in steps else HANDLE_TOKENS)
            if needed <= space:
                space -= needed
                steps.add(step)
                chosen.append(number)
            else:
                passed_over += 1
            if space < LEAST_LINE or passed_over > PASSED_OVER:
                break
        return chosen

    def measure_space(self, chosen: Sequence[int]) -> float:
        """Return the space that statements take, in tokens."""
        steps = {self._source(number).step for number in chosen}
        return sum(map(self._statements.costs.__getitem__, chosen)) + HANDLE_TOKENS * len(steps)

    def _source(self, number: int) -> SourceText:
        return self._sources[self._statements.sources[number]]

    def _text(self, number: int) -> str:
        start, end = self._statements.place_of(number)
        return self._source(number).text[start:end]

    def _rank(self) -> Iterator[int]:
        """Yield the statements by what each adds to those before it, in the same order always."""
        yield from self._order
        while (best := self._best()) is not None:
            number = self._by_density[best.rank]
            if self._is_new(number, best.rest):
                self._order.append(number)
                yield number

    def _best(self) -> _Candidate | None:
        """Return what adds most for its size to what was ordered before."""
        waiting = self._waiting
        while True:
            least = self._density_of_next()
            if waiting and -waiting[0].negative_density >= least:
                candidate = self._judge_again(heappop(waiting))
                least = max(least, -waiting[0].negative_density) if waiting else least
            elif least:
                candidate = self._judge(self._next)
                self._next += 1
                least *= SAME
            else:
                return None
            if -candidate.negative_density >= least or candidate.judged > TRIES:
                return candidate
            heappush(waiting, candidate)

    def _density_of_next(self) -> float:
        """Return what the next statement is worth for its size on its own, 0 if there is none."""
        if self._looked_at > CANDIDATES * self._space or self._next == len(self._by_density):
            return 0.0
        return max(0.0, self._statements.densities[self._by_density[self._next]])

    def _judge(self, rank: int) -> _Candidate:
        number = self._by_density[rank]
        self._looked_at += self._statements.costs[number]
        words = self._words.of(self._text(number))
        known = self._known
        known.extend(bytes(len(self._words) - len(known)))
        rest = array("I", [word for word in words if not known[word]])
        return _Candidate(-self._density(number, len(words), rest), rank, 1, len(words), rest)

    def _judge_again(self, candidate: _Candidate) -> _Candidate:
        _, rank, judged, words, rest = candidate
        known = self._known
        rest = array("I", [word for word in rest if not known[word]])
        density = self._density(self._by_density[rank], words, rest)
        return _Candidate(-density, rank, judged + 1, words, rest)

    def _density(self, number: int, words: int, rest: Sequence[int]) -> float:
        """Judge a statement by its worth over its size without what it repeats."""
        density = self._statements.densities[number] * self._discount(number)
        speaker = self._source(number).speaker
        # A value that is new may be what replaces an older one.
        is_value = speaker == "agent" and any(map(self._words.figures.__getitem__, rest))
        if not words or is_value:
            return density
        loss, power = (ECHOED, ECHO_POWER) if speaker in ECHOING else (REPEATED, POWER)
        share = 1 - len(rest) / words
        return float(density * (1 - loss * share**power))

    def _discount(self, number: int) -> float:
        """Return what is left of a statement's worth where its text was quoted much already."""
        quoted = self._quoted[self._statements.sources[number]]
        if not quoted:
            return 1.0
        source = self._source(number)
        is_pasted = source.speaker in PEOPLE and len(source.text) > PASTED
        if not (is_pasted or source.speaker in SPREADING):
            return 1.0
        return float((1 + quoted / SPREAD) ** -SPREAD_POWER)

    def _is_new(self, number: int, rest: Iterable[int]) -> bool:
        """Take note of what a statement says; return False if all of its lines stand elsewhere."""
        lines = hash_lines(self._text(number))
        if lines and lines <= self._lines.keys():
            return False
        self._lines |= dict.fromkeys(lines)
        self._take_note(rest)
        self._quoted[self._statements.sources[number]] += self._statements.costs[number]
        return True

    def _take_note(self, words: Iterable[int]) -> None:
        """Take note of words that stand somewhere now."""
        known = self._known
        known.extend(bytes(len(self._words) - len(known)))
        for word in words:
            known[word] = 1


def hash_lines(text: str) -> set[int]:
    """
    Return the lines of a text by which it is known whether it stands elsewhere.

    Their hashes take a third of their memory, of 60 bits: Python stores longer ones in half as
    many bytes again.
    """
    bare = (line.strip().removeprefix("→ ") for line in text.split("\n"))
    return {hash(line) >> 4 for line in bare if len(line) >= LEAST_LINE}
