"""
Run the whole bench: every part in its own process, then one page with plots.

    python bench/run.py                        docs/benchmarks.md with plots, and the README
    python bench/run.py --quick                everything small, into out/bench
    python bench/run.py --only retention       that part again; the others as stored
    python bench/run.py --draw                 no part: only the page, from stored results
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from cuts import SHARED, there
from exam_section import exam_section
from foldline.errors import InputError
from foldline.evaluation.sections import ReportSection
from page import Ran, machine, page, write
from shop_window import put_into_readme
from stored_section import read_section

BENCH = Path(__file__).parent
ROOT = BENCH.parent
DOCS, QUICK = ROOT / "docs", ROOT / "out" / "bench"

PARTS: dict[str, tuple[str, ...]] = {
    "facts": ("--peers", "all"),
    "retention": ("--peers", "all", "--peers-every", "10"),
    "rows": (),
    "validity": (),
    "cost": ("--every", "4"),
    "speed": (),
    "scale": ("--most", "100000"),
    "speed_peers": (),
    "tokens": (),
    "life": (),
    "proxy": (),
    "hostile": (),
}
"""Every part, in the order of the page, with the arguments of a full run."""

NEEDS_SHARED = ("facts", "retention", "cost")
SECONDS = 4 * 3_600
"""Timeout of a part, in seconds."""


def main() -> None:
    options = arguments().parse_args()
    unknown = set(options.only) - set(PARTS)
    if unknown:
        sys.exit(f"There is no part {', '.join(sorted(unknown))}. Parts: {', '.join(PARTS)}.")
    target = options.output or (QUICK if options.quick else DOCS)
    figures = target / "benchmarks"
    figures.mkdir(parents=True, exist_ok=True)
    selected = [] if options.draw else options.only or list(PARTS)
    ran = [run(part, figures, quick=options.quick) for part in selected]
    sections = [section for part in PARTS if (section := read(figures / f"{part}.json"))]
    # The exam is taken by readers, not here: its record comes first.
    sections = [*filter(None, [exam_section(DOCS / "benchmarks" / "exam.json")]), *sections]
    record = _record(figures, ran, quick=options.quick)
    trial = any("--quick" in how["command"] for how in record.values())
    write(target, page(sections, record), sections)
    print(f"{target / 'benchmarks.md'}: {len(sections)} sections", file=sys.stderr)
    if target.resolve() == DOCS:
        put_into_readme(ROOT / "README.md", sections, trial=trial)
    if any(one.problem for one in ran):
        sys.exit(1)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="everything small")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="repeatable")
    parser.add_argument("--draw", action="store_true", help="only write the page")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="instead of docs")
    return parser


def run(part: str, figures: Path, *, quick: bool) -> Ran:
    """Run a part; a failure is reported, and the others continue."""
    script = BENCH / f"{part}.py"
    if not script.is_file():
        return _report(Ran(part, 0.0, "there is no such script"))
    if part in NEEDS_SHARED and not there(SHARED):
        return _report(Ran(part, 0.0, "it needs the recorded sessions in ../shared"))
    out, log = figures / f"{part}.json", figures / f"{part}.log"
    command = [sys.executable, str(script), "--json", str(out), *PARTS[part]]
    command += ["--quick"] if quick else []
    print(f"{part} …", file=sys.stderr, flush=True)
    start = time.monotonic()
    try:
        with log.open("wb") as into:
            done = subprocess.run(command, stdout=into, stderr=into, timeout=SECONDS, check=False)
        problem = "" if done.returncode == 0 else f"exit {done.returncode}: {_last(log)}"
    except subprocess.TimeoutExpired:
        problem = f"it took longer than {SECONDS:,} seconds"
    if not problem:
        log.unlink()
        problem = "" if read(out) else "it wrote no section"
    return _report(Ran(part, time.monotonic() - start, problem))


def _report(ran: Ran) -> Ran:
    print(f"{ran.part}: {ran.problem or f'{ran.seconds:.0f} s'}", file=sys.stderr, flush=True)
    return ran


def _last(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else "it printed nothing"


def read(file: Path) -> ReportSection | None:
    """Read the section of a part; None if it was not measured."""
    try:
        return read_section(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (InputError, ValueError) as error:
        print(f"{file.name}: {error}", file=sys.stderr)
        return None


def _record(figures: Path, ran: Sequence[Ran], *, quick: bool) -> dict[str, dict[str, str]]:
    """Record when, where and how every part was measured, including earlier runs."""
    file = figures / "record.json"
    known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    here = machine()
    for one in ran:
        how = f"python bench/run.py{' --quick' if quick else ''}"
        took = {"problem": one.problem, "seconds": f"{one.seconds:.0f}", "command": how}
        known[one.part] = here | took
    file.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return {part: known[part] for part in PARTS if part in known}


if __name__ == "__main__":
    main()
