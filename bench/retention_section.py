"""The results of `bench/retention.py`, as a section of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from foldline.evaluation.findings import (
    details,
    estimate_mean,
    library_plot,
    names,
    overview,
    select,
    source_plot,
)
from foldline.evaluation.retention import Score
from foldline.evaluation.sections import Goal, Plot, ReportSection, ReportTable

GOALS = {"5 %": 0.55, "10 %": 0.70, "20 %": 0.82}


@dataclass(frozen=True, slots=True)
class Sample:
    """A score with its time, the problem, and the number of model calls."""

    score: Score
    share: float
    seconds: float = 0.0
    characters: int = 0
    problem: str = ""
    asked: int = 0
    large: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """
    The measurements: Foldline, Foldline at the cuts of the peers, and samples of the peers.

    ``peers`` are the requested libraries, including those that cannot run, and ``cuts`` is
    the number of cuts.
    """

    mine: Sequence[Score]
    beside: Sequence[Score]
    samples: Sequence[Sample]
    peers: Sequence[Any]
    cuts: int


def _by_library(scores: Sequence[Score]) -> tuple[Plot, ...]:
    """Draw all libraries at one budget, and at every one."""
    goals = names(scores, "goal")
    middle = goals[len(goals) // 2]
    title = "Identifiers that the agent used later"
    one = library_plot(
        select(scores, goal=middle), "retention", f"{title}, history cut to {middle}"
    )
    return (one, library_plot(scores, "retention-by-budget", title)) if goals[1:] else (one,)


def libraries(peers: Sequence[Any], samples: Sequence[Sample]) -> ReportTable:
    """Build the table of libraries: version, call, and problems."""
    rows = []
    for peer in peers:
        mine = [sample for sample in samples if sample.score.method == peer.name]
        over = sum(s.large for s in mine)
        seconds = sum(s.seconds for s in mine)
        megabytes = sum(s.characters for s in mine) / 1e6
        asked = sum(s.asked for s in mine)
        rows.append(
            (
                peer.name,
                peer.version,
                peer.call,
                f"{over} of {len(mine)}",
                f"{sum(bool(s.problem) for s in mine)} of {len(mine)}",
                asked,
                round(seconds / megabytes * 1e3, 1) if megabytes else None,
            )
        )
    columns = (
        "library",
        "version",
        "call",
        "too large",
        "failed",
        "model calls",
        "ms per MB",
    )
    note = (
        "Too large: the answer took over 1.1 times its budget of tokens, and was cut there, at "
        "the end that costs it less. Failed: an error, or no answer; nothing was "
        "kept then. A model is an extractive stand-in, the same for all; its time is not counted."
    )
    return ReportTable("Who was measured", columns, tuple(rows), note)


def problems(peers: Sequence[Any]) -> tuple[ReportTable, ...]:
    rows = tuple((peer.name, peer.package, peer.problem) for peer in peers if peer.problem)
    title = "Could not run here"
    return (ReportTable(title, ("library", "package", "why"), rows),) if rows else ()


def retention_section(found: Measured) -> ReportSection:
    """Build the section of the report."""
    mine, samples, peers = found.mine, found.samples, found.peers
    everyone = [*found.beside, *(sample.score for sample in samples)]
    able = [peer for peer in peers if not peer.problem]
    tables = [
        overview(everyone, "Identifiers that were used later (need)"),
        overview(everyone, "The same in whole lines (line)", "line"),
        *((libraries(able, samples),) if able else ()),
        *problems(peers),
        details(mine, "Foldline, by source", by="source"),
        details(mine, "Foldline, at all cuts"),
        details(everyone, "Everybody, at the same cuts"),
    ]
    plots = [
        *_by_library(everyone),
        source_plot(
            mine, "retention-by-source", "Foldline: identifiers that were used later, by source"
        ),
    ]
    goals = [
        Goal(f"identifiers used later, history cut to {name}", round(one.mean, 4), "", least=least)
        for name, least in GOALS.items()
        if (one := estimate_mean(select(mine, goal=name), "need"))
    ]
    text = (
        "A floor: a list of names would pass it, but is useless to a reader. "
        f"{found.cuts} cuts through {len(names(mine, 'session'))} recorded sessions from "
        f"{len(names(mine, 'source'))} sources. Everything before a cut is compacted to a share "
        "of its tokens. Counted are those identifiers that the agent wrote in its "
        "next thirty steps, without seeing them again, that are still there. The measure shares "
        "no code with Foldline."
    )
    if len(found.beside) < len(mine):
        share = round(len(mine) / len(found.beside))
        text += f" Libraries are compared at every {share}th cut, Foldline alone at all of them."
    return ReportSection(
        "retention", "Identifiers, a floor", text, tuple(tables), tuple(plots), tuple(goals)
    )
