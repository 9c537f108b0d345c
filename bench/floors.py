"""
Figures that must not fall: a small, fast sample of retention, rows and promises.

    python bench/floors.py                 the current figures, as JSON
    python bench/floors.py --renew         store them in tests/bench/floors.json, for `make test`
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import cuts
from foldline.engine.policies import policy
from foldline.evaluation.methods import policy_method
from foldline.evaluation.retention import MeasurementPlan, Score, measure
from foldline.formats.files import read_file
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.tokens import TokenCounter
from retention import compacted
from stored_section import read_section

BENCH = Path(__file__).parent
BUNDLED = BENCH.parent / "examples" / "session.json"
KEPT = BENCH.parent / "tests" / "bench" / "floors.json"
SHARES = (0.05, 0.1)

SESSIONS = (
    "claude-code-entireio-cli/session-062a8bdd.jsonl.gz#0",
    "claude-code-entireio-cli/session-6113e919.jsonl.gz#1",
    "codex-jdx-communique/rollout-019efb65-4046.jsonl.gz#0",
    "codex-jdx-mise/rollout-019f53ae-d4cf.jsonl.gz#0",
    "langchain-deer-flow/thread-fe3f7974.json.gz#0",
    "mini-swe-agent-deepseek/deepseek_reasoner_dev--sqlfluff__sqlfluff-1517.traj.json.gz#0",
    "swe-agent-sweagent-claude35/sphinx-doc__sphinx-9602.traj.gz#0",
)
"""One or two sessions of every kind, none of them large."""

QUICK_PARTS = {"rows": (), "validity": ("--peer", "Foldline")}
"""Parts whose goals count, with the arguments of a small run."""

Figures = dict[str, float]


def figures() -> Figures:
    """Measure everything that can be measured here."""
    found = dict(_bundled())
    if cuts.there(cuts.SHARED):
        found |= _recorded()
    for part, words in QUICK_PARTS.items():
        if importlib.util.find_spec(part):
            found |= _goals(part, words)
    return {name: round(value, 4) for name, value in found.items()}


def _bundled() -> Iterator[tuple[str, float]]:
    """Yield the retention on the bundled session, by the library's own measure."""
    there = read_file(BUNDLED).current.transcript
    limits = {f"{share:.0%}": _share(share) for share in (0.02, *SHARES)}
    plan = MeasurementPlan((policy_method(policy("default")),), limits)
    counter = TokenCounter(EstimatedCounter(), provider="openai")
    seen = [one.score for one in measure("bundled", "bundled", there, counter, plan)]
    for goal in limits:
        yield f"need, bundled session at {goal}", _mean(seen, goal)


def _share(share: float) -> Callable[[int], int]:
    return lambda tokens: int(tokens * share)


def _recorded() -> Figures:
    """Return the retention on a few recorded sessions, by the measure next to them."""
    steps = dict(cuts.sessions(cuts.SHARED))
    seen = [
        compacted(cuts.SHARED, case, share)
        for name in SESSIONS
        for case in cuts.cases(cuts.SHARED, name, steps[name])
        for share in SHARES
    ]
    return {
        f"{measure}, recorded sessions at {goal}": _mean(seen, goal, measure)
        for goal in dict.fromkeys(score.goal for score in seen)
        for measure in ("need", "line")
    }


def _mean(scores: list[Score], goal: str, measure: str = "need") -> float:
    found = [float(getattr(s.kept, measure)) for s in scores if s.goal == goal]
    return sum(found) / len(found)


def _goals(part: str, words: tuple[str, ...]) -> Figures:
    """
    Return the goals of a small run of a part; those to minimize are negated.

    Raises:
        RuntimeError: The part failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "section.json"
        command = [sys.executable, str(BENCH / f"{part}.py"), "--quick", "--json", str(out)]
        ran = subprocess.run(
            [*command, *words], capture_output=True, text=True, timeout=120, check=False
        )
        if ran.returncode:
            raise RuntimeError(f"bench/{part}.py failed: {ran.stderr[-500:]}")
        section = read_section(json.loads(out.read_text(encoding="utf-8")))
    return {
        f"{part}: {goal.what}": goal.value if goal.most is None else 0.0 - goal.value
        for goal in section.goals
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--renew", action="store_true", help="store the figures as floors")
    options = parser.parse_args()
    found = figures()
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    print(text, end="")
    if options.renew:
        KEPT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
