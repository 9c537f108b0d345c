"""
Run inputs on which compaction has failed through every library, and count broken promises.

    python bench/validity.py [--quick] [--json FILE] [--peer NAME ...] [--each]

Part 3 of the report. `failure_inputs` has the inputs, `black_box` the promises that are checked.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from black_box import MEANINGS, TOLERANCE, Outcome, broken, rejected, tokens
from failure_inputs import cases
from failure_writing import Case
from foldline.evaluation.sections import Goal, Plot, ReportSection, ReportTable, Series
from part import finish, options_of
from peer import Answer, Peer, peers

Act = Callable[[Sequence[Mapping[str, Any]], int, str], Answer]
"""Compacts messages to a budget, with a given behaviour of the stand-in."""

QUICK = 3
"""A quick run takes one in this many cases."""

TEXT = """\
{cases} conversations on which compaction libraries have failed: calls that interleave, crash or
are pending, orphans, giant and tiny results, results that the model has not seen, damaged ids,
other scripts and hostile text, budgets that are too small, and a summarizer that refuses, returns
nothing, fails, or writes more than it read. Each is one case of the table of failure modes. Every
library gets the same messages, the same target and the same stand-in for a summarizing model, and
the result is checked from outside:

{meanings}

A promise is counted once per case. Not every library makes every promise: some document that the
oldest messages are dropped, including the task, and some repair a damaged history elsewhere, when
they send it (Pydantic AI, deepagents and the OpenAI Agents SDK do), which is not part of this
call. The counts say what happens, not what was promised. A library without a summarizer cannot
fail there, one without a target size cannot exceed it, and one whose interface edits in place
changes the caller's messages by design: these show a dash. Each may use {tolerance:.0%} of the
budget, since counts differ. An error counts only with a working summarizer and a feasible budget;
otherwise raising it is correct."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault in a library's result for a case."""

    case: str
    promise: str
    said: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The results of a library on all cases."""

    peer: Peer
    findings: tuple[Finding, ...] = ()
    errors: tuple[Finding, ...] = ()
    over: tuple[Finding, ...] = ()

    def count(self, promise: str) -> int:
        """Return the number of cases in which a promise was broken."""
        return len({each.case for each in self.findings if each.promise == promise})

    @property
    def total(self) -> int:
        return len({(each.case, each.promise) for each in self.findings})


def applies(case: Case, peer: Peer) -> bool:
    """Return True if a case applies to a library."""
    return peer.summarizes or case.summarizer == "extractive"


def judge(case: Case, act: Act, *, sizes: bool = True) -> Iterator[Finding]:
    """
    Run a case through a library.

    Yields:
        The faults; "error" and "over" count as promises here.
    """
    sent: list[Any] = []
    said: list[Any] = []
    damaged = bool(rejected(case.messages))
    for more in (case.messages, *case.later):
        sent, said = [*sent, *more], [*said, *more]
        budget = _budget(case, sent)
        answer = act(sent, budget, case.summarizer)
        if answer.messages is None:
            yield Finding(case.name, "error", answer.problem)
            return
        outcome = Outcome.of(sent, said, answer.messages, budget, case.summarizer)
        for promise, what in broken(outcome):
            found = "repair" if damaged and promise == "valid" else promise
            yield Finding(case.name, found, what)
        yield from _around(case, act, answer, outcome, sizes=sizes)
        sent = answer.messages


def _around(
    case: Case, act: Act, answer: Answer, outcome: Outcome, *, sizes: bool
) -> Iterator[Finding]:
    """Check what the messages alone cannot prove: the input, the size, and a second run."""
    if answer.mutated:
        yield Finding(case.name, "input", "the caller's messages were changed")
    if sizes and outcome.before <= outcome.budget:
        if outcome.is_changed:
            yield Finding(case.name, "again", "it was within the budget, and was changed")
        return
    if sizes and outcome.is_over:
        yield Finding(case.name, "over", f"{outcome.after} tokens of {outcome.budget}")
        return
    if case.summarizer != "extractive" or not outcome.left:
        return
    second = act(outcome.left, outcome.budget, case.summarizer)
    if second.messages is None:
        yield Finding(case.name, "again", f"the second time it failed: {second.problem}")
    elif (
        outcome.after <= outcome.budget
        and replace(outcome, given=outcome.left, left=second.messages).is_changed
    ):
        yield Finding(case.name, "again", "the second time it was changed again")


def _budget(case: Case, messages: Sequence[Mapping[str, Any]]) -> int:
    return round(case.budget * tokens(messages)) if case.budget <= 1 else int(case.budget)


def verdict(peer: Peer, chosen: Sequence[Case]) -> Verdict:
    """Run all cases through a library."""
    findings: list[Finding] = []
    with peer.running() as running:

        def act(messages: Sequence[Mapping[str, Any]], budget: int, kind: str) -> Answer:
            return running.compact([dict(each) for each in messages], budget, summarizer=kind)

        for case in chosen:
            if applies(case, peer):
                findings += judge(case, act, sizes=peer.sizes)
    strict = {case.name for case in chosen if case.fits and case.summarizer == "extractive"}
    hidden = ("error", "over", "input") if peer.in_place else ("error", "over")
    return Verdict(
        peer,
        tuple(each for each in findings if each.promise not in hidden),
        tuple(each for each in findings if each.promise == "error" and each.case in strict),
        tuple(each for each in findings if each.promise == "over" and each.case in strict),
    )


def section(options: argparse.Namespace) -> ReportSection:
    """Measure, and return the section."""
    chosen = cases()[::QUICK] if options.quick else cases()
    verdicts = []
    for peer in peers(*options.peer):
        print(f"validity: {peer.name}", file=sys.stderr, flush=True)
        verdicts.append(verdict(peer, chosen) if not peer.problem else Verdict(peer))
    if options.each:
        _print_each(verdicts)
    meanings = "\n".join(f"- *{name}*: {meaning}" for name, meaning in MEANINGS.items())
    ran = [each for each in verdicts if not each.peer.problem]
    return ReportSection(
        "validity",
        "What breaks",
        TEXT.format(cases=len(chosen), meanings=meanings, tolerance=TOLERANCE),
        (_table(verdicts), _examples(ran), _calls(verdicts)),
        (_plot(ran),),
        tuple(_goals(ran)),
    )


def _table(verdicts: Sequence[Verdict]) -> ReportTable:
    rows = []
    for each in verdicts:
        peer = each.peer
        if peer.problem:
            rows.append((f"{peer.name} {peer.version}", *[None] * (len(MEANINGS) + 3)))
            continue
        counts = [_count(each, promise) for promise in MEANINGS]
        over = len(_cases(each.over)) if peer.sizes else None
        errors = len(_cases(each.errors))
        rows.append((f"{peer.name} {peer.version}", each.total, *counts, errors, over))
    columns = ("library", "broken", *MEANINGS, "errors", "over budget")
    return ReportTable("Broken promises", columns, tuple(rows), "Cases; fewer is better.")


def _cases(findings: Iterable[Finding]) -> set[str]:
    return {each.case for each in findings}


def _count(each: Verdict, promise: str) -> int | None:
    if promise == "summary" and not each.peer.summarizes:
        return None
    if promise == "input" and each.peer.in_place:
        return None
    return each.count(promise)


def _examples(verdicts: Sequence[Verdict]) -> ReportTable:
    rows = []
    for promise, meaning in MEANINGS.items():
        held = sum(not each.count(promise) for each in verdicts)
        found = next(
            (
                f"{each.peer.name}, “{found.case}”: {found.said}"
                for each in verdicts
                for found in each.findings
                if found.promise == promise
            ),
            "",
        )
        rows.append(
            (promise, meaning, f"{held} of {len(verdicts)}", " ".join(found.split())[:240])
        )
    columns = ("promise", "what it means", "kept in all cases by", "an example")
    return ReportTable("Promises", columns, tuple(rows))


def _calls(verdicts: Sequence[Verdict]) -> ReportTable:
    rows = tuple(
        (each.peer.name, each.peer.package, each.peer.version, each.peer.problem or each.peer.call)
        for each in verdicts
    )
    columns = ("library", "package", "version", "what is called, or why it cannot run here")
    note = "N is the target in tokens, K what is left of it when a summary has its share."
    return ReportTable("What is called", columns, rows, note)


def _plot(verdicts: Sequence[Verdict]) -> Plot:
    def bars(name: str, counts: Iterable[int]) -> Series:
        return Series(name, tuple((float(at), float(count)) for at, count in enumerate(counts)))

    return Plot(
        "validity",
        "Broken promises, and cases that were not brought to their size",
        "bars",
        "library",
        "cases",
        (
            bars("broken promises", (each.total for each in verdicts)),
            bars("over the budget", (len(_cases(each.over)) for each in verdicts)),
            bars("errors", (len(_cases(each.errors)) for each in verdicts)),
        ),
        labels=tuple(each.peer.name for each in verdicts),
    )


def _goals(verdicts: Sequence[Verdict]) -> Iterator[Goal]:
    for each in verdicts:
        if each.peer.package == "foldline":
            yield Goal(f"promises that {each.peer.name} breaks", each.total, "cases", most=0)
            bad = len(each.errors) + len(each.over)
            yield Goal(f"errors and overruns of {each.peer.name}", bad, "cases", most=0)


def _print_each(verdicts: Sequence[Verdict]) -> None:
    for each in verdicts:
        for found in (*each.findings, *each.errors, *each.over):
            said = " ".join(found.said.split())[:160]
            print(f"{each.peer.name:24} {found.promise:8} {found.case:40} {said}", file=sys.stderr)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--peer", action="append", default=[], help="this library only")
    parser.add_argument("--each", action="store_true", help="print every broken promise")
    options = parser.parse_args()
    finish(section(options), options)


if __name__ == "__main__":
    main()
