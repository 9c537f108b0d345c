"""The section on cost: tables by window, prices of other models, and cheaper policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from foldline.errors import InputError
from foldline.evaluation.sections import Cell, Goal, Plot, ReportSection, ReportTable, Series
from foldline.models.catalogue import Catalogue
from foldline.models.info import Prices
from payers import ACT, CLEAR, TARGET, Payer
from replaying import Paid

OURS, NOTHING = "Foldline", "no compaction"
ELSEWHERE = ("claude-opus-4-5", "claude-haiku-4-5", "gpt-5.2", "gemini-3-pro", "deepseek-v4-pro")
EQUAL = 0.005
"""Difference below which shares of what was needed count as equal."""

TEXT = """\
{sessions} recorded sessions of coding agents are replayed, {requests:,} requests. The prefix that
a request shares with the previous one is read from the prompt cache, the rest is written to it,
and the recorded answer is billed as output, at the prices of {model}; the cache never expires
between requests. Summaries that a library requests are billed as well: fresh input for the
replaced part, output for the summary. "Needed" is the share of the identifiers that the agent used
later, without seeing them again before, that were in the request; "old" is the same for
identifiers outside the last tenth. Peers are called at {act:.0%} of the window with a target of
{target:.0%} of it, as Foldline does where its window is full; they go on from what they returned.
{verdict}"""

NOTE = """\
Price in US dollars. "Foldline that keeps as much" is the lowest price among Foldline's settings \
that show at least as much of what was needed. Rewritten: requests that did not begin as the one \
before. Too long: requests that the window could not hold; they are priced all the same."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The measured cost by policy and window, in the order of ``payers`` and ``windows``."""

    costs: Mapping[tuple[str, int], Paid]
    payers: Sequence[Payer]
    windows: Sequence[int]
    sessions: int
    model: str
    missing: Sequence[str]

    def usd(self, name: str, window: int) -> float:
        """Return a price, in US dollars."""
        return prices(self.model).of(self.costs[name, window].bill.usage)

    def is_rival(self, payer: Payer, window: int) -> bool:
        """Return True if it is not ours, and all its requests fit the window."""
        return not payer.is_ours and not self.costs[payer.name, window].bill.over

    def as_good(self, kept: float, window: int) -> float | None:
        """Return our lowest price with at least a share of what was needed in view."""
        found = [
            self.usd(payer.name, window)
            for payer in self.payers
            if payer.is_ours and self.costs[payer.name, window].kept >= kept - EQUAL
        ]
        return min(found, default=None)


def prices(model: str) -> Prices:
    """
    Return the prices of a model in the catalogue.

    Raises:
        InputError: The model is unknown.
    """
    found = Catalogue.load().find(model).prices
    if found is None:
        raise InputError(f"The price of {model} is unknown.")
    return found


def cost_section(measured: Measured) -> ReportSection:
    """Build the section."""
    words = TEXT.format(
        sessions=measured.sessions,
        requests=measured.costs[NOTHING, measured.windows[0]].bill.requests,
        model=measured.model,
        act=ACT,
        target=TARGET,
        verdict=" ".join(_verdicts(measured)),
    )
    missing = f" Not measured: {'; '.join(measured.missing)}." if measured.missing else ""
    return ReportSection(
        "cost",
        "What a session costs",
        words + missing,
        (*(_table(measured, window) for window in measured.windows), _elsewhere(measured)),
        tuple(_plots(measured)),
        tuple(_goals(measured)),
    )


def _table(measured: Measured, window: int) -> ReportTable:
    whole = measured.usd(NOTHING, window)
    rows: list[tuple[Cell, ...]] = []
    for payer in measured.payers:
        paid, usd = measured.costs[payer.name, window], measured.usd(payer.name, window)
        ours = None if payer.is_ours else measured.as_good(paid.kept, window)
        rows.append(
            (
                payer.name,
                round(usd, 2),
                f"{usd / whole:.0%}",
                round(paid.kept, 3),
                round(paid.kept_deep, 3),
                None if ours is None else round(ours, 2),
                paid.rewritten,
                paid.bill.over,
            )
        )
    columns = ("policy", "price", "of none", "needed", "old", "Foldline that keeps as much")
    return ReportTable(
        f"Window of {window:,} tokens", (*columns, "rewritten", "too long"), tuple(rows), NOTE
    )


def _elsewhere(measured: Measured) -> ReportTable:
    """Price the same tokens at the rates of other models in the catalogue."""
    window, rows = measured.windows[-1], list[tuple[Cell, ...]]()
    for model in (measured.model, *ELSEWHERE):
        price = prices(model)
        usd = [price.of(measured.costs[n, window].bill.usage) for n in (NOTHING, CLEAR, OURS)]
        rows.append((model, *(round(each, 2) for each in usd), f"{usd[2] / usd[0]:.0%}"))
    title = f"The same tokens elsewhere, window of {window:,} tokens"
    return ReportTable(title, ("model", NOTHING, CLEAR, OURS, "of none"), tuple(rows))


def _plots(measured: Measured) -> Iterator[Plot]:
    labels = tuple(payer.name for payer in measured.payers)

    def bars(name: str, title: str, y: str, value: str) -> Plot:
        series = tuple(
            Series(
                f"{window:,} tokens",
                tuple(
                    (
                        float(i),
                        measured.usd(n, window)
                        if value == "usd"
                        else getattr(measured.costs[n, window], value),
                    )
                    for i, n in enumerate(labels)
                ),
            )
            for window in measured.windows
        )
        return Plot(name, title, "bars", "", y, series, labels)

    yield bars("cost", "Price of all sessions, by window", "US dollars", "usd")
    yield bars("cost-kept", "What was needed and in view, by window", "share", "kept")


def _goals(measured: Measured) -> Iterator[Goal]:
    for window in measured.windows:
        mine = measured.costs[OURS, window]
        cheapest = _cheapest_rival(measured, window, mine.kept)
        if cheapest is not None:
            ratio = measured.usd(OURS, window) / measured.usd(cheapest, window)
            yield Goal(
                f"price in {window:,}, over the cheapest that shows as much ({cheapest})",
                round(ratio, 3),
                "",
                most=1.0,
            )
        clear = measured.costs[CLEAR, window]
        yield Goal(
            f"needed and in view in {window:,}",
            round(mine.kept, 3),
            "",
            least=round(clear.kept, 3),
        )
    last = measured.windows[-1]
    ratio = measured.usd(OURS, last) / measured.usd(CLEAR, last)
    yield Goal(f"price in {last:,}, over clearing at every step", round(ratio, 3), "", most=1.0)


def _cheapest_rival(measured: Measured, window: int, kept: float) -> str | None:
    """Return the cheapest peer with as much of what was needed in view."""
    names = [
        payer.name
        for payer in measured.payers
        if measured.is_rival(payer, window)
        and measured.costs[payer.name, window].kept >= kept - EQUAL
    ]
    return min(names, key=lambda name: measured.usd(name, window), default=None)


def _verdicts(measured: Measured) -> Iterator[str]:
    """Yield sentences on where another policy is cheaper for as much, and where none is."""
    for window in measured.windows:
        worse = []
        for payer in measured.payers:
            if not measured.is_rival(payer, window):
                continue
            paid = measured.costs[payer.name, window]
            ours = measured.as_good(paid.kept, window)
            if ours is None or ours > measured.usd(payer.name, window):
                worse.append(payer.name)
        text = f"In a window of {window:,} tokens"
        if worse:
            names = ", ".join(worse)
            yield f"{text}, these are cheaper than any Foldline that shows as much: {names}."
        else:
            yield f"{text}, a setting of Foldline shows as much as any other for less."
