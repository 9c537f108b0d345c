"""A corpus of generated and recorded sessions: the gain of a second worker, and memory use."""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path

import synthetic
from foldline.corpus import BuildIndex, Compact, MeasureRetention, Scan, run
from foldline.corpus.operation import Operation

SESSIONS, MEAN = 20_000, 100_000
"""The corpus: 20,000 sessions of 100 kB in the mean, about 2 GB."""

OPERATIONS = {"scan": Scan(), "compact": Compact(budget=0.2), "index": BuildIndex()}
RECORDED = Path("data") / "transcripts"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--bytes", type=int, default=MEAN, help="mean size of a session")
    parser.add_argument("--only", choices=(*OPERATIONS, "measure"), default="compact")
    parser.add_argument("--engine", choices=("local", "dask"), default="local")
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--folder", type=Path, help="keep and reuse the corpus here")
    options = parser.parse_args()
    operation = OPERATIONS.get(options.only) or MeasureRetention(budgets=(0.1,))
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch, "corpus")
        size = generate(folder, options.sessions, options.bytes)
        recorded = options.shared / RECORDED
        patterns = [str(folder), *([str(recorded)] if recorded.is_dir() else [])]
        print(f"{options.sessions:,} generated sessions, {size / 1e6:,.0f} MB, seeded;", end=" ")
        print("recorded ones besides" if len(patterns) > 1 else "no recorded ones here")
        runs = [
            timed(operation, patterns, Path(scratch, f"out-{n}"), n, options.engine)
            for n in (1, 2)
        ]
    one, two = runs
    print(f"two workers over one, elapsed: {one.elapsed / two.elapsed:.2f} × (asked: 1.8)")
    print(f"processor time of one over two: {one.cpu / two.cpu:.2f} (1.00: nothing is done twice)")
    print(f"on two idle processors at most: {2 * one.cpu / (two.cpu + 2 * two.caller):.2f} ×")
    print(f"memory of a worker: {max(one.memory, two.memory):.0f} MB at most (asked: 600)")
    print(f"output: {'identical' if one.digest == two.digest else 'DIFFERENT'}")


def generate(folder: Path, sessions: int, mean: int) -> int:
    """Write the missing sessions; return the size of all, in bytes."""
    missing = [n for n in range(sessions) if not place(folder, n).is_file()]
    for number in missing:
        path = place(folder, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        rng = random.Random(number)  # noqa: S311  # draws sizes, not secrets
        size = int(mean * min(20.0, rng.lognormvariate(-0.5, 1.0)))
        path.write_text(json.dumps(synthetic.session(size, seed=number)))
    return sum(place(folder, number).stat().st_size for number in range(sessions))


def place(folder: Path, number: int) -> Path:
    return folder / f"{number % 100:02}" / f"session-{number:06}.json"


@dataclass(frozen=True)
class Run:
    """
    The cost of a run.

    Elapsed seconds, processor seconds of the workers and of the caller, which is idle while they
    work, and the peak memory of a worker in MB.
    """

    elapsed: float
    cpu: float
    caller: float
    memory: float
    digest: str


def timed(operation: Operation, patterns: list[str], out: Path, workers: int, engine: str) -> Run:
    """Run in a separate process, whose only children are the workers."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        made = alone.submit(measured, operation, patterns, str(out), workers, engine).result()
    print(
        f"{workers} worker{'s' * (workers > 1)}: {made.elapsed:,.1f} s, {made.cpu:,.1f} s of "
        f"processors and {made.caller:.1f} s in the caller, {made.memory:.0f} MB a worker",
        flush=True,
    )
    return made


def measured(
    operation: Operation, patterns: list[str], out: str, workers: int, engine: str
) -> Run:
    start, busy = time.perf_counter(), time.process_time()
    run(operation, patterns, out, engine=engine, workers=workers)
    elapsed, caller = time.perf_counter() - start, time.process_time() - busy
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1e6 if sys.platform == "darwin" else 1e6 / 1024
    digest = sha256()
    for path in sorted(Path(out).rglob("*")):
        if path.is_file() and path.name != ".lock":
            digest.update(path.relative_to(out).as_posix().encode() + path.read_bytes())
    return Run(
        elapsed,
        ended.ru_utime + ended.ru_stime,
        caller,
        ended.ru_maxrss / unit,
        digest.hexdigest(),
    )


if __name__ == "__main__":
    main()
