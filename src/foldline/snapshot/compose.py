"""
Compose: fill the room of a snapshot with the statements that are worth the most.

Every statement is judged once; the choice takes them in order of worth over size. Sizes are
estimated from those of their messages, so the finished text is counted, and the choice made again
for a little more or less room until the room is used.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, groupby
from operator import attrgetter
from typing import Final

from foldline.core.strategy import CompactionContext
from foldline.frozen import replace
from foldline.relevance.names import blank_separators, mentions
from foldline.snapshot import phrases as titles
from foldline.snapshot.announcements import without_chatter
from foldline.snapshot.choice import Choice, Ranking
from foldline.snapshot.cues import likely_names
from foldline.snapshot.densities import Densities
from foldline.snapshot.format import (
    SnapshotRow,
    header,
    join,
    measure,
    render,
    section_lines,
    snapshot_id,
)
from foldline.snapshot.invocations import Invocation, Invocations
from foldline.snapshot.phrases import ENGLISH, Phrases
from foldline.snapshot.query_terms import Focus
from foldline.snapshot.sources import HistoryReading, SourceText, read
from foldline.snapshot.state import SnapshotState, state
from foldline.snapshot.statements import Slice, blocks, dedent_lines, prose
from foldline.snapshot.worth import QUOTED, Judge, cost
from foldline.values.messages import visible_texts
from foldline.values.view import View

STATE_SHARE: Final = 0.18
"""Fraction of the room for how things stand."""

NAMES_SHARE, NAMES_MOST = 0.098, 0.1
"""Fraction of the room for names that stand nowhere above, and the most that they take."""

NAMES_TOKENS: Final = 8
"""What the list of names takes besides them, in tokens."""

FITTINGS: Final = 4
"""How often a snapshot is composed to come close to its room."""

CLOSE: Final = 0.985
"""Fraction of the room from which on it counts as used."""

MIDDLE: Final = 0.998
"""Fraction of the room that a second choice aims at: sizes are estimates."""

UNSPENT: Final = 0.04
"""Fraction of the room that is not left to names where there are too few."""

GIANT: Final = 0.3
"""Fraction of everything from which on an output is taken apart by its kind."""

ALONE: Final = 0.7
"""Fraction of everything from which on an output is what the conversation is about."""

QUERY_FACTOR, EXTRA = 2.0, 0.25
"""
Factors of what speaks for a line of such an output besides its words, where there is little else,
and elsewhere.
"""

WORTH_RECALLING: Final = 60
"""Tokens of a step that are not shown from which on its handle is."""

GAP: Final = 8
"""Characters beside a statement by which it is known where it is cut."""

SAYING: Final = frozenset(("agent", "report"))
"""Who says what comes next, which nobody needs who knows what came."""


def compose(
    view: View,
    context: CompactionContext,
    positions: Sequence[int],
    room: int,
    account: str = "",
    phrases: Phrases = ENGLISH,
    *,
    state_room: int = 0,
) -> str:
    """
    Write the snapshot of some messages.

    Args:
        view: The view that holds them.
        context: Handles, and what the caller wants to be kept above all.
        positions: Which messages are folded, in order.
        room: What the snapshot may take, in tokens.
        account: What a model wrote about them; only what it lacks is quoted beside it.
        phrases: The words of its language.
        state_room: The room of which the state gets its share, in tokens, where that is more.

    Returns:
        The snapshot, within its room as far as its first line and the account leave any.
    """
    return _read(view, context, positions, account, phrases, room, max(room, state_room)).fit(room)


def _read(
    view: View,
    context: CompactionContext,
    positions: Sequence[int],
    account: str,
    phrases: Phrases,
    room: int,
    state_room: int,
) -> _Composer:
    """Read and judge what a snapshot is made of; only what it is composed from stays in memory."""
    judge = Judge(view.names, Focus.of(context.focus))
    reading, standing = _read_history(view, context, positions, judge, phrases)
    number = snapshot_id(view.messages[position].id for position in positions)
    head = header(reading.messages, reading.tokens, number, phrases)
    composer = _Composer(view, context, positions, reading.sources, head, account, phrases, judge)
    account_text = render(head, ((composer.title, account.split("\n")),), phrases)
    taken = view.counter.text(account_text)
    state_tokens = min(room - taken, STATE_SHARE * (state_room - taken))
    composer.state = standing.within(state_tokens, view.counter, phrases)
    return composer


def _read_history(
    view: View,
    context: CompactionContext,
    positions: Sequence[int],
    judge: Judge,
    phrases: Phrases,
) -> tuple[HistoryReading, SnapshotState]:
    """Return the sources in some messages, and how things stand after them."""
    calls = Invocations(view.history, view.history_pairing, view.once(Invocation))
    reading = read(view, context, positions, calls, phrases)
    standing = state(view, context, positions, calls, reading.carried, judge, phrases)
    return reading, standing


class _Composer:
    """Composes the snapshot of one reading, for one size after another."""

    def __init__(
        self,
        view: View,
        context: CompactionContext,
        positions: Sequence[int],
        sources: Iterable[SourceText],
        head: str,
        account: str,
        phrases: Phrases,
        judge: Judge,
    ) -> None:
        self.view, self.head = view, head
        self.account, self.phrases = account, phrases
        self.title = titles.OWN_ACCOUNT if context.account else titles.ACCOUNT
        self.state = SnapshotState(())
        self.focus = context.focus
        self.sources = sorted(sources, key=attrgetter("place"))
        self.sources.sort(key=attrgetter("step"))
        self.sizes = array("d", [0.0]) * len(view.messages)
        for source in self.sources:
            self.sizes[source.step] += source.tokens
        self.statements = Ranking()
        self.written: dict[bytes, Sequence[str]] = {}
        self._rank(Densities(judge, account))
        folded_positions = frozenset(positions)
        self.beside = "\n".join(
            text
            for index, message in enumerate(view.messages)
            if index not in folded_positions
            for text in visible_texts(message)
        )

    # --- judging -------------------------------------------------------------------------

    def _rank(self, densities: Densities) -> None:
        total = max(1.0, sum(source.tokens for source in self.sources))
        for number in range(len(self.sources)):
            slices, extras = self._slices(number, total)
            source = self.sources[number]
            costs = [cost(source, start, end) for start, end in slices]
            worth = densities.of(source, slices, costs, extras)
            self.statements.add(number, slices, costs, worth)

    def _slices(self, number: int, total: float) -> tuple[list[Slice], Mapping[int, float]]:
        """Cut a source into statements; some of a large output have an extra worth."""
        source = self.sources[number]
        if source.whole or source.speaker == "superseded":  # which is never quoted
            return [(0, len(source.text))], {}
        if source.speaker not in QUOTED:
            slices = prose(source.text)
            if source.speaker in SAYING:
                slices = [without_chatter(source.text, *place) for place in slices]
            return slices, {}
        if source.speaker == "result" and source.tokens >= GIANT * total:
            return self._condense_output(number, source.tokens / total)
        return blocks(source.text), {}

    def _condense_output(
        self, number: int, share: float
    ) -> tuple[list[Slice], Mapping[int, float]]:
        """Take a large output apart by its kind, and look in it for what the user asks."""
        # Imported here: few histories hold such an output.
        from foldline.snapshot.line_scoring import condense_text, offers
        from foldline.snapshot.query import Query

        source = self.sources[number]
        query = Query.of(self.view.messages, self.focus)
        offered = offers(condense_text(source.text), query, share)
        self.sources[number] = replace(source, text="\n".join(offered.lines))
        ends = list(accumulate(len(line) + 1 for line in offered.lines))
        slices = [
            (end - 1 - len(line), end - 1) for line, end in zip(offered.lines, ends, strict=True)
        ]
        factor = QUERY_FACTOR if share >= ALONE else EXTRA
        return slices, {place: factor * extra for place, extra in offered.extra.items()}

    # --- choosing ------------------------------------------------------------------------

    def fit(self, room: int) -> str:
        """Return the snapshot that uses a room, in tokens, best."""
        count = self.view.counter.text
        space = max(0.0, room - count(join(self.head, self._lines([]))))
        names = min(NAMES_SHARE * room, space)
        best = self._fit_room(room, space, names)
        left = room - count(best)
        if best and left > UNSPENT * room:
            # There are not that many names.
            more = self._fit_room(room, space, max(0.0, names - left))
            best = more if count(more) > room - left else best
        return best or self._smallest(room)

    def _fit_room(self, room: int, space: float, names: float) -> str:
        """Return the snapshot that uses a room best beside some names, "" if none fits."""
        lines, quoted, size = self._quoting(space - names, room - space, room - round(names))
        return self._with_names(lines, quoted, min(room - size, NAMES_MOST * room)) if size else ""

    def _quoting(
        self, space: float, fixed: float, aim: int
    ) -> tuple[list[str], Sequence[int], int]:
        """
        Return the lines of the snapshot that comes closest to a size, which statements it quotes,
        and its size, 0 if none fits.

        Args:
            space: What there is for statements, in tokens.
            fixed: What the rest of the snapshot takes, in tokens.
            aim: The most that all of it may take, in tokens.
        """
        standing = [line for _, lines in self.state.sections for line in lines]
        choice = Choice(self.statements, self.sources, (self.beside, *standing), self.account)
        lines, best_size, quoted = list[str](), 0, array("I")
        for _ in range(FITTINGS):
            lines.clear()  # no two at a time: nothing else takes as much memory
            chosen = choice.within(space)
            lines += self._lines(chosen)
            size = measure(self.head, lines, self.view.counter)
            if best_size < size <= aim:
                best_size, quoted = size, chosen
            if CLOSE * aim <= size <= aim or space <= 0:
                break
            taken = space if size <= aim else choice.measure_space(chosen)
            space = taken * MIDDLE * (aim - fixed) / max(1.0, size - fixed)
        lines = lines if quoted is chosen else list(self._lines(quoted))
        self.written.clear()
        return lines, quoted, best_size

    def _smallest(self, room: int) -> str:
        """Leave out the state where there is no room for it, and then the end of the account."""
        self.state = SnapshotState(())
        while self.account:
            text = join(self.head, self._lines([]))
            if self.view.counter.text(text) <= room:
                return text
            self.account = self.account[: len(self.account) * 7 // 8].rpartition("\n")[0]
        return render(self.head, ())

    # --- writing -------------------------------------------------------------------------

    def _lines(self, chosen: Iterable[int]) -> Iterator[str]:
        """Yield the lines of a snapshot below its head."""
        sections: list[tuple[str, Iterable[str]]] = [*self.state.sections]
        sections.append((self.title, self.account.split("\n") if self.account else ()))
        sections.append((titles.STORY, self._story(chosen)))
        return section_lines(sections, self.phrases)

    def _story(self, chosen: Iterable[int]) -> Iterator[str]:
        """Write the rows of statements, in order, step by step; most are the same each time."""
        # Statements are numbered in the order of their sources.
        source_of, place_of = self.statements.sources.__getitem__, self.statements.place_of
        for step, some in groupby(sorted(chosen), lambda n: self.sources[source_of(n)].step):
            numbers = array("I", some)
            key = numbers.tobytes()
            if key not in self.written:
                quoted = [
                    (self.sources[source], list(map(place_of, numbers_of_source)))
                    for source, numbers_of_source in groupby(numbers, source_of)
                ]
                self.written[key] = tuple(_rows(quoted, self.sizes[step], self.phrases))
            yield from self.written[key]

    def _with_names(self, lines: Sequence[str], quoted: Iterable[int], tokens: float) -> str:
        """Add names that are likely to be needed and stand nowhere above."""
        plain = map(blank_separators, (*lines, self.beside, self.head))
        known = chain.from_iterable(map(mentions, plain))
        listed: list[str] = []
        tokens -= NAMES_TOKENS
        likely = self.view.likely_names
        for name in likely_names(likely, self.sources, self._unquoted(quoted), known):
            tokens -= self.view.counter.texts.count(f" {name}")
            if tokens < 0:
                break
            listed.append(name)
        names = section_lines(((titles.NAMES, listed and (" ".join(listed),)),), self.phrases)
        return join(self.head, (*lines, *names))

    def _unquoted(self, quoted: Iterable[int]) -> Iterator[str]:
        """Yield the statements that are not quoted, the best first."""
        above = frozenset(quoted)
        for number in self.statements.order:
            if number not in above:
                one = self.statements[number]
                yield _whole_words(self.sources[one.source].text, one.start, one.end)


def _whole_words(text: str, start: int, end: int) -> str:
    """Return a statement without words at its ends that are cut."""
    inside = text[start:end]
    if end < len(text) and not text[end].isspace():
        inside = inside.rpartition(" ")[0]
    if start and not text[start - 1].isspace():
        inside = inside.partition(" ")[2]
    return inside


def _quote(source: SourceText, slices: Sequence[Slice]) -> str:
    """Write statements of a text in order; where something is left out, that is marked."""
    quoted = source.speaker in QUOTED
    ends = "\r\n" if quoted else "\r\n.!?。！？"
    pieces: list[str] = []
    last = 0
    for start, end in _merge_slices(source.text, slices):
        text = source.text[start:end]
        front = "… " if pieces or _is_inside(source.text, start, ends) else ""
        pieces.append(f"{front}{dedent_lines(text) if quoted else text.strip()}")
        last = end
    back = " …" if _is_inside(source.text, last, ends) else ""
    return "\n".join(pieces) + back


def _merge_slices(text: str, slices: Sequence[Slice]) -> Iterator[Slice]:
    """Put statements together between which nothing is left out."""
    start, end = slices[0]
    for begin, stop in slices[1:]:
        if text[end:begin].strip():
            yield start, end
            start = begin
        end = stop
    yield start, end


def _is_inside(text: str, place: int, ends: str) -> bool:
    """Return True if a place is neither at the beginning nor at the end of a line or sentence."""
    before = text[max(0, place - GAP) : place].rstrip(" \t")
    after = text[place : place + GAP].lstrip(" \t")
    return bool(before and after) and before[-1] not in ends and after[0] not in "\r\n"


def _rows(
    quoted: Sequence[tuple[SourceText, Sequence[Slice]]], tokens: float, phrases: Phrases
) -> Iterator[str]:
    """
    Write the rows of a step, the first with its handle where there is more to recall.

    An earlier snapshot is one step, of whose rows each has the handle that it had.
    """
    quoted_tokens = sum(
        (end - start) * source.density for source, slices in quoted for start, end in slices
    )
    hides, shown = tokens - quoted_tokens >= WORTH_RECALLING, set[str]()
    for source, slices in quoted:
        is_named = source.named or (hides and not shown)
        handle = source.handle if is_named and source.handle not in shown else ""
        if row := SnapshotRow(source.speaker, _quote(source, slices), handle).write(phrases):
            yield row
            shown.add(handle or source.handle)
