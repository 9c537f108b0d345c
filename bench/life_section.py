"""The section on a long life: facts that are still known, and bounds of the state."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from foldline.evaluation.sections import Goal, Plot, ReportSection, ReportTable, Series
from lifetime import KINDS, Fact
from living import WINDOW, Moment

PEER = "LangChain summary"

SHOWN = 10
"""Number of rows in the tables by turn."""

TEXT = """\
A made-up agent works for {turns:,} turns in a window of {window:,} tokens, through a session in
SQLite; {parts} processes run it one after another, and each ends without closing anything. Every
50 turns a fact is planted: a wish of the user, a decision, the cause of a failure, the place of a
file, or a number that occurs only in the middle of a tool's output. A quarter of the facts is
repeated later, a quarter is changed, and then the new value counts. A fact is known if one line
has its subject and its value. "In view" is what is sent to the model; "by handle" is what the
handles in the view recall, as `session.recall(handle, grep=...)` would find it. The tail is the
newest messages of the view's size; {peer} is called at 80 % of the window for 40 %, with a
stand-in that quotes. {folds} compactions were made; the first fact went through all of them."""


@dataclass(frozen=True, slots=True)
class Lived:
    """A life: the planted facts, the measurements, and the facts left in a library, by turn."""

    facts: Sequence[Fact]
    moments: Sequence[Moment]
    summaries: Mapping[int, Collection[int]]
    parts: int

    @property
    def folds(self) -> list[tuple[int, int, int]]:
        """The compactions: turn, tokens before, tokens after."""
        return [fold for moment in self.moments for fold in moment.folds]


def life_section(lived: Lived) -> ReportSection:
    """Build the section."""
    text = TEXT.format(
        turns=lived.moments[-1].turn,
        window=WINDOW,
        parts=lived.parts,
        peer=PEER,
        folds=len(lived.folds),
    )
    tables = (_by_turn(lived), _by_kind(lived), _state(lived))
    goals = tuple(_goals(lived))
    return ReportSection("life", "A long life", text, tables, (_plot(lived),), goals)


Share = Callable[[Moment], float | None]


def _shares(lived: Lived) -> dict[str, Share]:
    def of(found: Collection[int], moment: Moment) -> float:
        return len(found) / max(1, len(moment.known.told))

    def summary(moment: Moment) -> float | None:
        found = lived.summaries.get(moment.turn)
        return None if found is None else of(found, moment)

    return {
        "in view": lambda moment: of(moment.known.seen, moment),
        "by handle": lambda moment: of(moment.known.found, moment),
        "the tail": lambda moment: of(moment.tail, moment),
        PEER: summary,
    }


def _some(lived: Lived) -> Sequence[Moment]:
    step = max(1, len(lived.moments) // SHOWN)
    return lived.moments[step - 1 :: step]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _by_turn(lived: Lived) -> ReportTable:
    shares = _shares(lived)
    rows = tuple(
        (m.turn, len(m.known.told), *(_rounded(share(m)) for share in shares.values()))
        for m in _some(lived)
    )
    return ReportTable("Share of the facts that is still known", ("turn", "facts", *shares), rows)


def _by_kind(lived: Lived) -> ReportTable:
    last = lived.moments[-1]
    found = (
        last.known.seen,
        last.known.found,
        last.tail,
        lived.summaries.get(last.turn),
    )
    rows = []
    for kind in KINDS:
        numbers = {fact.number for fact in lived.facts if fact.kind == kind}
        shares = (
            None if f is None else round(len(numbers & {*f}) / len(numbers), 3) for f in found
        )
        rows.append((kind, len(numbers), *shares))
    return ReportTable("At the end, by what it is", ("fact", "told", *_shares(lived)), tuple(rows))


def _state(lived: Lived) -> ReportTable:
    columns = (
        "turn",
        "view, tokens",
        "messages, bytes a turn",
        "edits, bytes a turn",
        "memory, MB",
        "turn, ms",
        "longest pause, ms",
        "compactions",
        "in vain",
        "opening, ms",
    )
    rows, done, before = [], list[Moment](), None
    for moment in lived.moments:
        done.append(moment)
        if moment not in _some(lived):
            continue
        start = (0, 0, 0) if before is None else (before.turn, before.messages, before.edits)
        turns = moment.turn - start[0]
        rows.append(
            (
                moment.turn,
                moment.tokens,
                round((moment.messages - start[1]) / turns),
                round((moment.edits - start[2]) / turns),
                round(moment.memory / 1e6),
                round(sum(m.milliseconds for m in done) / len(done), 2),
                round(max((p for m in done for p in m.pauses), default=0.0)),
                sum(len(m.folds) for m in done),
                sum(m.vain for m in done),
                round(moment.opening),
            )
        )
        done, before = [], moment
    note = (
        "Milliseconds are of the processor. A pause is a turn with an attempted compaction. "
        "Messages and edits are what the archive keeps of them, compressed; edits are all "
        "compactions with their receipts."
    )
    return ReportTable("What it takes, by turn", columns, tuple(rows), note)


def _plot(lived: Lived) -> Plot:
    series = []
    for name, share in _shares(lived).items():
        points = [(float(m.turn), y) for m in lived.moments if (y := share(m)) is not None]
        if points:
            series.append(Series(name, tuple(points)))
    return Plot("life", "What is still known", "lines", "turns", "share", tuple(series))


def _goals(lived: Lived) -> Iterator[Goal]:
    first, last = lived.moments[0], lived.moments[-1]
    shares = _shares(lived)
    worst = min(shares["by handle"](m) or 0.0 for m in lived.moments)
    yield Goal("facts by handle, at the worst moment", round(worst, 3), "", least=1.0)
    seen = shares["in view"](last) or 0.0
    yield Goal("facts in view at the end", round(seen, 3), "", least=0.75)
    yield Goal("compactions", len(lived.folds), "", least=len(lived.facts) * 0.8)
    turns = [number for number, _, _ in lived.folds]
    apart = min((b - a for a, b in pairwise(turns)), default=1)
    yield Goal("turns between two compactions, at least", apart, "turns", least=2)
    freed = min((before - after for _, before, after in lived.folds), default=0)
    yield Goal("freed by a compaction, at least", freed, "tokens", least=WINDOW // 40)
    yield Goal("view at the end, over the window", round(last.tokens / WINDOW, 3), "", most=1.0)
    growth = last.memory / first.memory
    yield Goal("memory at the end, over the beginning", round(growth, 2), "", most=2.0)
    half = len(lived.moments) // 2
    early = sum(m.milliseconds for m in lived.moments[:half]) / max(1, half)
    late = sum(m.milliseconds for m in lived.moments[half:]) / max(1, len(lived.moments) - half)
    yield Goal("a turn in the second half, over the first", round(late / early, 2), "", most=1.5)
