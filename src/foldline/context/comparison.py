"""Compare two builders over the same questions, as a table of differences."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from math import comb
from statistics import fmean
from time import perf_counter
from typing import Any, Final
from unicodedata import normalize

from foldline.context.builder import Context, ContextBuilder
from foldline.context.packets import ContextPacket
from foldline.context.quality import WEIGHTS
from foldline.errors import CannotFit, InputError
from foldline.frozen import field, frozen

FIGURES: Final[dict[str, bool]] = {
    "recall": True,
    "score": True,
    "relevance": True,
    "completeness": True,
    "density": True,
    "redundancy": False,
    "tokens": False,
    "same beginning": True,
    "milliseconds": False,
}
"""The compared figures, and whether higher is better."""

SURE: Final = 0.05
"""Significance level of a difference."""


@frozen
class Case:
    """
    One question to compare builders on.

    Args:
        query: The question.
        history: The messages before it.
        instructions: Role and rules.
        packets: Other pieces of information.
        facts: Words that the context must contain to answer the question; recall is measured on
            them.
    """

    query: str
    history: tuple[Any, ...] = ()
    instructions: str | None = None
    packets: tuple[ContextPacket, ...] = ()
    facts: tuple[str, ...] = ()


@frozen
class ComparisonRow:
    """
    One figure of both builders.

    ``one`` and ``other`` are means; ``better`` and ``worse`` count the cases in which the other
    builder did better or worse; ``chance`` is the probability of such a count by chance (two-sided
    sign test).
    """

    figure: str
    one: float
    other: float
    better: int
    worse: int
    chance: float

    @property
    def verdict(self) -> str:
        """One word: "better", "worse", or "same" if it may be chance."""
        if self.chance > SURE or self.better == self.worse:
            return "same"
        return "better" if self.better > self.worse else "worse"


@frozen
class ContextComparison:
    """Two builders over some cases; ``failed`` counts the cases that each could not build."""

    names: tuple[str, str]
    cases: int
    rows: tuple[ComparisonRow, ...] = field(repr=False)
    failed: tuple[int, int] = (0, 0)

    def row(self, figure: str) -> ComparisonRow:
        """
        Return the row of a figure.

        Raises:
            InputError: There is no figure of this name.
        """
        for row in self.rows:
            if row.figure == figure:
                return row
        raise InputError(f"there is no figure {figure[:40]!r}", field="figure")

    def table(self) -> str:
        """Write the comparison as a table in Markdown."""
        one, other = self.names
        lines = [f"| | {one} | {other} | better / worse | chance | {other} is |", "|---" * 6 + "|"]
        for row in self.rows:
            digits = 0 if row.figure in ("tokens", "same beginning") else 3
            lines.append(
                f"| {row.figure} | {row.one:.{digits}f} | {row.other:.{digits}f} "
                f"| {row.better} / {row.worse} | {row.chance:.3f} | {row.verdict} |"
            )
        return "\n".join(lines)


def compare(
    cases: Iterable[Case],
    one: ContextBuilder,
    other: ContextBuilder,
    names: tuple[str, str] = ("A", "B"),
) -> ContextComparison:
    """
    Compare two builders over the same cases.

    Args:
        cases: The questions, in order; successive ones may share a prefix.
        one: The current builder.
        other: The candidate.
        names: Their names in the table.

    Raises:
        InputError: There is no case, or one of them is malformed.
    """
    return asyncio.run(acompare(cases, one, other, names))


async def acompare(
    cases: Iterable[Case],
    one: ContextBuilder,
    other: ContextBuilder,
    names: tuple[str, str] = ("A", "B"),
) -> ContextComparison:
    """Compare two builders without blocking; see `compare`."""
    listed = list(cases)
    if not listed:
        raise InputError("there is no case to compare", field="cases")
    left = [await measure(one, case) for case in listed]
    right = [await measure(other, case) for case in listed]
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a and b]
    figures = [name for name in FIGURES if all(name in a for a, _ in pairs)]
    return ContextComparison(
        names,
        len(listed),
        tuple(_row(name, [(a[name], b[name]) for a, b in pairs]) for name in figures if pairs),
        (left.count(None), right.count(None)),
    )


async def measure(
    builder: ContextBuilder, case: Case, clock: Callable[[], float] = perf_counter
) -> dict[str, float] | None:
    """Build a case and return its figures; None if it does not fit."""
    began = clock()
    try:
        context = await builder.abuild(case.query, case.history, case.instructions, case.packets)
    except CannotFit:
        return None
    seconds = clock() - began
    report = context.report
    found = {
        "score": report.score,
        **{name: getattr(report, name).value for name in WEIGHTS},
        "tokens": float(context.tokens),
        "same beginning": float(context.shared_tokens),
        "milliseconds": seconds * 1_000,
    }
    return found | ({"recall": recall(context, case.facts)} if case.facts else {})


def recall(context: Context | str, facts: Sequence[str]) -> float:
    """Return the fraction of facts that occur literally in a text, ignoring case."""
    text = _plain(str(context))
    return fmean(_plain(fact) in text for fact in facts) if facts else 1.0


def _plain(text: str) -> str:
    return " ".join(normalize("NFKC", text).casefold().split())


def _row(figure: str, pairs: Sequence[tuple[float, float]]) -> ComparisonRow:
    sign = 1 if FIGURES[figure] else -1
    gains = [sign * (b - a) for a, b in pairs]
    better, worse = sum(g > 1e-9 for g in gains), sum(g < -1e-9 for g in gains)
    one, other = fmean(a for a, _ in pairs), fmean(b for _, b in pairs)
    return ComparisonRow(figure, one, other, better, worse, sign_test(better, worse))


def sign_test(better: int, worse: int) -> float:
    """Return the probability of so uneven a count by chance, by an exact two-sided sign test."""
    count = better + worse
    tail = sum(comb(count, at) for at in range(min(better, worse) + 1))
    return min(1.0, 2 * tail / 2**count) if count else 1.0
