"""
Retained facts: facts needed after a cut, and whether one passage still states them.

    python bench/facts.py [--budgets 0.05,0.1,0.2] [--peers all|none|NAME,NAME] [--missed]

A quick lower bound of the reading exam (`exam.py`), without a reader.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cuts
from foldline.evaluation.findings import Estimate, estimate_clustered
from foldline.evaluation.sections import Goal, Plot, ReportSection, ReportTable, Series
from histories import SPAN, Fact, History, histories, there
from part import finish, options_of
from references import WAYS
from retention_section import problems
from views import OURS, Make, View, method

GOALS = {0.05: 0.50, 0.1: 0.67, 0.2: 0.80}
KINDS_AT = 0.1
QUICK_EVERY = 4
TEXT = """\
{facts} facts from {sessions} recorded sessions, noted by readers of the whole history before a
cut: constraints of the user, causes, decisions, state, open points, exact values, failed attempts,
errors. A fact counts as kept if one passage of at most {span} characters has the few words that
state it; names scattered over a list do not count. All methods get the same cuts and the same
share of the tokens.

**Foldline's constants were chosen on these very facts**, by a search that maximized
their number; the
other libraries never saw them. So its row shows how well it fits this sample, not how it performs
on unseen sessions: expect less there. No unseen facts were measured for this page.

This is the quick lower bound of the reading exam: it finds about four of five facts that a reader
can answer from whole lines, and fewer of those that a model paraphrased. Libraries that call a
model get a quoting stand-in; with a real one they may keep more."""


@dataclass(frozen=True, slots=True)
class Result:
    """The facts of a history that a method kept at a share of its tokens."""

    method: str
    share: float
    history: History
    view: View
    kept: Sequence[bool]


def measure(name: str, make: Make, found: Sequence[History], share: float) -> list[Result]:
    """Shorten every history to a share of its tokens, and search for its facts."""
    views = [(history, make(history, share)) for history in found]
    return [Result(name, share, here, view, here.kept(view.text)) for here, view in views]


def estimate(results: Iterable[Result], kind: str = "") -> Estimate | None:
    """Return the share of kept facts, of one kind or all, with its interval."""
    return estimate_clustered(
        {
            result.history.session: [
                float(kept)
                for fact, kept in zip(result.history.facts, result.kept, strict=True)
                if kind in ("", fact.kind)
            ]
            for result in results
        }
    )


def picked(results: Iterable[Result], name: str, share: float) -> list[Result]:
    return [result for result in results if (result.method, result.share) == (name, share)]


def measure_all(options: Any) -> tuple[list[Result], list[Any]]:
    """Measure Foldline, the reference methods, and the libraries."""
    found = histories(options.shared)[:: QUICK_EVERY if options.quick else 1]
    known = _peers("none" if options.quick and options.peers == "all" else options.peers)
    able = [peer.name for peer in known if not peer.problem]
    results: list[Result] = []
    for name in (OURS, *able, *WAYS):
        with method(name) as make:
            for share in sorted(float(part) for part in options.budgets.split(",")):
                results += measure(name, make, found, share)
        print(f"facts: {name} done", file=sys.stderr, flush=True)
    return results, known


def _peers(names: str) -> list[Any]:
    if names == "none":
        return []
    # Imported here: it searches for, and may create, the environments of all libraries.
    from peer import peers

    found = peers(*(() if names == "all" else names.split(",")))
    return [peer for peer in found if peer.name != OURS]


def section(results: Sequence[Result], known: Sequence[Any]) -> ReportSection:
    """Build the section of the report."""
    methods = list(dict.fromkeys(result.method for result in results))
    shares = sorted({result.share for result in results})
    mine = picked(results, OURS, shares[0])
    text = TEXT.format(
        facts=sum(len(result.history.facts) for result in mine), sessions=len(mine), span=SPAN
    )
    tables = [_overview(results, methods, shares)]
    if KINDS_AT in shares:
        tables.append(
            _kinds(results, methods, [fact for one in mine for fact in one.history.facts])
        )
    if known:
        tables += [_libraries(results, known), *problems(known)]
    goals = [
        Goal(
            f"facts kept, history cut to {_percent(share)}",
            round(one.mean, 4),
            "",
            least=GOALS[share],
        )
        for share in shares
        if share in GOALS and (one := estimate(picked(results, OURS, share)))
    ]
    plots = (_plot(results, methods, shares),)
    return ReportSection("facts", "Retained facts", text, tuple(tables), plots, tuple(goals))


def _overview(results: Sequence[Result], methods: list[str], shares: list[float]) -> ReportTable:
    rows = [
        (name, *(str(estimate(picked(results, name, share))) for share in shares))
        for name in methods
    ]
    first = picked(results, methods[0], shares[0])
    facts = sum(len(result.history.facts) for result in first)
    note = (
        f"Shares of {facts} facts in {len(first)} sessions, in brackets the 95 % interval over "
        "sessions."
    )
    columns = ("history cut to", *(_percent(share) for share in shares))
    return ReportTable("Facts kept", columns, tuple(rows), note)


def _kinds(results: Sequence[Result], methods: list[str], facts: list[Fact]) -> ReportTable:
    kinds = sorted({fact.kind for fact in facts})
    rows = []
    for name in methods:
        here = picked(results, name, KINDS_AT)
        means = [estimate(here, kind) for kind in kinds]
        rows.append((name, *(None if one is None else round(one.mean, 2) for one in means)))
    counts = [sum(fact.kind == kind for fact in facts) for kind in kinds]
    columns = ("kind", *(f"{kind} ({count})" for kind, count in zip(kinds, counts, strict=True)))
    title = f"Facts kept by kind, history cut to {_percent(KINDS_AT)}"
    return ReportTable(title, columns, tuple(rows), "In brackets the number of facts of a kind.")


def _libraries(results: Sequence[Result], known: Sequence[Any]) -> ReportTable:
    rows = []
    for peer in known:
        views = [result.view for result in results if result.method == peer.name]
        if views:
            large, failed = sum(v.large for v in views), sum(bool(v.problem) for v in views)
            of = f"of {len(views)}"
            asked = sum(view.asked for view in views)
            row = (peer.name, peer.version, peer.call, f"{large} {of}", f"{failed} {of}", asked)
            rows.append(row)
    columns = ("library", "version", "call", "too large", "failed", "model calls")
    note = (
        "Too large: the answer took over 1.1 times its budget, and was cut there, at the end that "
        "costs it less. Failed: an error, or no answer; then nothing is kept."
    )
    return ReportTable("Who was measured", columns, tuple(rows), note)


def _plot(results: Sequence[Result], methods: list[str], shares: list[float]) -> Plot:
    series = []
    for share in shares:
        found = [estimate(picked(results, name, share)) for name in methods]
        ends = [(0.0, 0.0, 0.0) if one is None else (one.mean, one.low, one.high) for one in found]
        points = tuple((float(place), round(end[0], 4)) for place, end in enumerate(ends))
        low, high = (tuple(round(end[side], 4) for end in ends) for side in (1, 2))
        series.append(Series(f"cut to {_percent(share)}", points, low, high))
    title = "Facts that a passage of the shortened history still states"
    return Plot("facts", title, "bars", "", "share of facts", tuple(series), tuple(methods))


def _percent(share: float) -> str:
    return f"{share * 100:g} %"


def missed(results: Iterable[Result]) -> None:
    """Print the facts that Foldline lost."""
    for result in results:
        for fact, kept in zip(result.history.facts, result.kept, strict=True):
            if result.method == OURS and not kept:
                words = (_percent(result.share), result.history.session, fact.kind)
                print(*words, fact.question, fact.answer, sep=" | ")


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("shared", nargs="?", type=Path, default=cuts.SHARED)
    parser.add_argument("--budgets", default="0.05,0.1,0.2")
    parser.add_argument("--peers", default="none", help="all, none, or names (none)")
    parser.add_argument("--missed", action="store_true", help="list what Foldline lost")
    options = parser.parse_args()
    if not there(options.shared):
        sys.exit(f"NOT MEASURED: no facts or no sessions in {options.shared}.")
    results, known = measure_all(options)
    if options.missed:
        missed(results)
    finish(section(results, known), options)


if __name__ == "__main__":
    main()
