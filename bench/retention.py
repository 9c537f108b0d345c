"""
Identifiers, a floor: run the retention measure of ``../shared/tools`` through `foldline.compact`.

At a cut in a real session, *need* is the share of the identifiers that the assistant used
afterwards and the compacted prefix still has, *deep* the same for those outside the last tenth,
and *line* counts one only if a source line with it survives.

    python bench/retention.py [SHARED] [--every N] [--budgets 0.05,0.1,0.2] [--policy NAME]
    python bench/retention.py --peers all --json retention.json
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import cuts
import foldline
from cuts import Case
from foldline.evaluation.findings import names, select
from foldline.evaluation.retention import MEASURES, Score
from foldline.evaluation.sections import ReportSection
from histories import TOLERANCE, Messages, tokens_of
from part import finish, options_of
from references import within
from retention_section import Measured, Sample, retention_section

COLUMNS = ("need", "deep", "line", "linedeep")
REFERENCES = {
    "tail": "trim to the tail",
    "clear_results": "clear tool results",
    "head_tail_each": "head and tail of each result",
    "salient": "a sketch of ranked lines",
}
QUICK_EVERY, QUICK_SESSIONS = 3, 5
CASES: list[Case] = []
"""The measured cases; forked workers read them here."""


def goal_name(share: float) -> str:
    return f"{share * 100:g} %"


def read(shared: Path, every: int, some: int = 1) -> list[Case]:
    """Cut every ``some``-th session, at every Nth cut."""
    found = cuts.sessions(shared)[::some]
    with _pool() as pool:
        jobs = [pool.submit(_cut, shared, name, steps, every) for name, steps in found]
        return [case for job in jobs for case in job.result()]


def _pool() -> ProcessPoolExecutor:
    # Forked, so that the workers share the cases without copies.
    return ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("fork"))


def _cut(shared: Path, name: str, steps: cuts.Steps, every: int) -> list[Case]:
    return list(cuts.cases(shared, name, steps, every))


# --- ours -----------------------------------------------------------------------------------


def ours(shared: Path, cases: Sequence[Case], shares: Sequence[float], policy: str) -> list[Score]:
    """Compact every case to every share of it."""
    CASES[:] = cases
    with _pool() as pool:
        jobs = [pool.submit(_ours, shared, i, shares, policy) for i in range(len(cases))]
        return [score for job in jobs for score in job.result()]


def _ours(shared: Path, index: int, shares: Sequence[float], policy: str) -> list[Score]:
    return [compacted(shared, CASES[index], share, policy) for share in shares]


def compacted(shared: Path, case: Case, share: float, policy: str = "default") -> Score:
    """Score Foldline at one cut; a view over its budget scores 0."""
    result = foldline.compact(case.wire, budget=case.budget(share), policy=policy)
    text = cuts.flat(shared, result.messages)
    size = len(text) / len(case.prefix)
    if result.receipt.status == "failed":
        print(f"{case.session} at {share}: {result.receipt.reason}", file=sys.stderr)
        text = ""
    elif foldline.count(result.messages) > case.budget(share):
        print(f"{case.session} at {share}: over its budget", file=sys.stderr)
        text = ""
    kept = cuts.score(shared, case, text)
    return Score(case.session, case.source, "Foldline", goal_name(share), kept, size)


# --- others ---------------------------------------------------------------------------------


def others(
    shared: Path, cases: Sequence[Case], shares: Sequence[float], peers: Sequence[Any]
) -> list[Sample]:
    """Score the reference methods and the peers; each peer in its own process."""
    CASES[:] = cases
    with _pool() as pool:
        jobs = [pool.submit(_peer, shared, peer, shares) for peer in peers]
        jobs += [pool.submit(_reference, shared, name, shares) for name in REFERENCES]
        found = []
        for job, what in zip(jobs, [*(peer.name for peer in peers), *REFERENCES], strict=True):
            found += job.result()
            print(f"retention: {what} done", file=sys.stderr)
    return found


def _reference(shared: Path, name: str, shares: Sequence[float]) -> list[Sample]:
    strategy = cuts.tool(shared, "retention").STRATEGIES[name]
    found = []
    for case in CASES:

        def way(_: Messages, most: int, case: Case = case) -> str:
            return str(strategy(case.steps, most))[:most]

        for share in shares:
            text = within(way, case.wire, case.budget(share))
            found.append(_sample(shared, case, share, REFERENCES[name], text))
    return found


def _peer(shared: Path, peer: Any, shares: Sequence[float]) -> list[Sample]:
    with peer.running() as running:
        return [_run_peer(shared, peer, running, case, s) for case in CASES for s in shares]


def _run_peer(shared: Path, peer: Any, running: Any, case: Case, share: float) -> Sample:
    answer = running.compact(case.wire, case.budget(share))
    text = "" if answer.messages is None else cuts.flat(shared, answer.messages)
    sample = _sample(shared, case, share, peer.name, text)
    characters = 0 if answer.messages is None else len(case.prefix)
    return replace(
        sample,
        seconds=answer.seconds,
        characters=characters,
        problem=answer.problem,
        asked=answer.model_calls,
    )


def _sample(shared: Path, case: Case, share: float, method: str, text: str) -> Sample:
    """Score a text; one over the budget is cut there, at the end where it loses less."""
    used = tokens_of(text)
    size, large = len(text) / len(case.prefix), used > TOLERANCE * case.budget(share)
    if large:
        room = len(text) * case.budget(share) // used
        kept = max(
            (cuts.score(shared, case, text[:room]), cuts.score(shared, case, text[-room:])),
            key=lambda kept: (kept.need, kept.line),
        )
    else:
        kept = cuts.score(shared, case, text)
    score = Score(case.session, case.source, method, goal_name(share), kept, size)
    return Sample(score, share, large=large)


# --- the command ---------------------------------------------------------------------------


def text_table(scores: Sequence[Score], *, sources: bool) -> None:
    """Print the means of Foldline, overall and by source."""
    print(f"{'budget':>6} {'source':32} {'cuts':>5} " + " ".join(f"{c:>8}" for c in COLUMNS))
    for goal in names(scores, "goal"):
        here = select(scores, goal=goal)
        groups = {"all": here}
        if sources:
            groups |= {name: select(here, source=name) for name in sorted(names(here, "source"))}
        for name, group in groups.items():
            means = " ".join(f"{_mean(group, measure):8.3f}" for measure in MEASURES)
            print(f"{goal:>6} {name:32} {len(group):5d} {means}")


def _mean(scores: Sequence[Score], measure: str) -> float:
    return sum(getattr(score.kept, measure) for score in scores) / len(scores)


def section(options: argparse.Namespace) -> ReportSection:
    """Measure, and return the section."""
    return retention_section(measure(options))


def measure(options: argparse.Namespace) -> Measured:
    """Run the measurements of the options."""
    if not cuts.there(options.shared):
        sys.exit(f"No transcripts in {options.shared}: nothing to measure.")
    every, some = (QUICK_EVERY, QUICK_SESSIONS) if options.quick else (options.every, 1)
    cases = read(options.shared, every, some)
    shares = sorted(float(part) for part in options.budgets.split(","))
    mine = ours(options.shared, cases, shares, options.policy)
    peers = [peer for peer in _peers(options.peers) if peer.name != "Foldline"]
    samples: list[Sample] = []
    if options.peers != "none":
        able = [peer for peer in peers if not peer.problem]
        samples = others(options.shared, cases[:: options.peers_every], shares, able)
    every_share = range(len(shares))
    beside = [
        mine[number * len(shares) + place]
        for number in range(0, len(cases), options.peers_every)
        for place in every_share
    ]
    return Measured(mine, beside, samples, peers, len(cases))


def _peers(names: str) -> list[Any]:
    if names == "none":
        return []
    from peer import peers

    return peers(*(() if names == "all" else names.split(",")))


def arguments() -> argparse.ArgumentParser:
    parser = options_of(__doc__)
    parser.add_argument("shared", nargs="?", type=Path, default=cuts.SHARED)
    parser.add_argument("--every", type=int, default=1, help="use every Nth cut only")
    parser.add_argument("--budgets", default="0.05,0.1,0.2")
    parser.add_argument("--policy", default="default")
    parser.add_argument("--sources", action="store_true", help="a row for every source folder")
    parser.add_argument("--peers", default="none", help="all, none, or names (none)")
    parser.add_argument(
        "--peers-every", type=int, default=1, metavar="N", help="peers at every Nth cut only"
    )
    return parser


def main() -> None:
    options = arguments().parse_args()
    found = measure(options)
    text_table(found.mine, sources=options.sources)
    if found.samples or options.json:
        finish(retention_section(found), options, quiet=not found.samples)


if __name__ == "__main__":
    main()
