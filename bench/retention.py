"""
What is kept: run the retention measure of ``../shared/tools`` through `foldline.compact`.

At a cut in a real session, *need* is the share of the identifiers that the assistant went on to
use which the compacted prefix still holds, *deep* the same for those outside the last tenth, and
*line* counts one only where a source line with it survives.

    python bench/retention.py [SHARED] [--every N] [--budgets 0.05,0.1,0.2] [--policy NAME]
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import foldline

SHARED = Path(__file__).resolve().parents[2] / "shared"
COLUMNS = ("need", "deep", "line", "linedeep")


def measure(job: tuple[Path, str, int, tuple[float, ...], str]) -> list[tuple[float, str, tuple]]:
    shared, name, every, budgets, policy = job
    sys.path.insert(0, str(shared / "tools"))
    corpus, retention = importlib.import_module("corpus"), importlib.import_module("retention")
    rows = []
    for session, steps in corpus.sessions(shared / "data" / "transcripts"):
        if session != name:
            continue
        for number, (_, cut) in enumerate(retention.cuts(steps)):
            need, deep = retention.need(steps, cut)
            if len(deep) < 3 or number % every:
                continue
            body = [step for step in steps[:cut] if step["role"] != "system"]
            prefix = "\n".join(retention.steptext(step) for step in body)
            messages = retention.openai(body)
            tokens = foldline.count(messages)
            for budget in budgets:
                limit = max(200, int(tokens * budget))
                result = foldline.compact(messages, budget=limit, policy=policy)
                kept = retention.flat(result.messages)
                if result.receipt.status == "failed":
                    print(f"{name} at {budget}: {result.receipt.reason}", file=sys.stderr)
                    kept = ""
                if len(kept) > 1.15 * budget * len(prefix) + 400:
                    print(f"{name} at {budget}: over its share of characters", file=sys.stderr)
                    kept = ""
                rows.append((budget, session, _score(retention, kept, prefix, need, deep)))
    return rows


def _score(retention, kept: str, prefix: str, need: set[str], deep: set[str]) -> tuple:
    found = retention.items(kept)
    lines = retention.line_hits(kept, prefix, need)
    return (
        len(need & found) / len(need),
        len(deep & found) / len(deep),
        len(lines) / len(need),
        len(lines & deep) / len(deep),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", nargs="?", type=Path, default=SHARED)
    parser.add_argument("--every", type=int, default=1, help="use every Nth cut only")
    parser.add_argument("--budgets", default="0.05,0.1,0.2")
    parser.add_argument("--policy", default="default")
    parser.add_argument("--sources", action="store_true", help="a row for every source folder")
    options = parser.parse_args()
    if not (options.shared / "data" / "transcripts").is_dir():
        sys.exit(f"No transcripts in {options.shared}: nothing to measure.")
    sys.path.insert(0, str(options.shared / "tools"))
    corpus = importlib.import_module("corpus")
    names = [name for name, _ in corpus.sessions(options.shared / "data" / "transcripts")]
    budgets = tuple(float(part) for part in options.budgets.split(","))
    jobs = [(options.shared, name, options.every, budgets, options.policy) for name in names]
    table: dict[tuple[float, str], list[tuple]] = defaultdict(list)
    with ProcessPoolExecutor() as pool:
        for rows in pool.map(measure, jobs):
            for budget, session, scores in rows:
                table[budget, "all"].append(scores)
                if options.sources:
                    table[budget, session.split("/")[0]].append(scores)
    print(f"{'budget':>6} {'source':32} {'cuts':>5} " + " ".join(f"{c:>8}" for c in COLUMNS))
    for (budget, source), scores in sorted(table.items()):
        means = [statistics.mean(column) for column in zip(*scores, strict=True)]
        print(
            f"{budget:6.2f} {source:32} {len(scores):5d} " + " ".join(f"{m:8.3f}" for m in means)
        )


if __name__ == "__main__":
    main()
