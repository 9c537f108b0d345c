"""
The corpus of attacks, replayed by its driver in all three modes.

The driver judges effects: canary files, leaked markers, processes that stay, connections, time.
It is beside the checkout; without it these tests are skipped.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from foldline.tools.terminal import Terminal, TerminalLimits
from foldline.tools.terminal.sandbox import try_confinement

DRIVER = Path(__file__).resolve().parents[4] / "shared" / "terminal" / "probe.py"

LONGEST = 900
"""Seconds in which the driver has replayed all attempts in one mode."""

pytestmark = [
    pytest.mark.requirement("T7"),
    pytest.mark.corpus,
    pytest.mark.slow,
    pytest.mark.timeout(LONGEST + 60),
]

UNDECIDED = {"metadata-006"}
"""What Landlock cannot decide: an attempt that only learns that a path outside exists."""


def factory(mode):
    """Return the function that the driver calls for every attempt, after one self-test."""
    for one in ("bubblewrap", "landlock"):
        try_confinement(one)
    return lambda workspace: Terminal.open(
        workspace, limits=TerminalLimits(seconds=3), sandbox=mode, allow_unconfined=mode == "none"
    )


def __getattr__(name):
    """Provide `bubblewrap`, `landlock` and `none` to the driver, created on demand."""
    if name in {"bubblewrap", "landlock", "none"}:
        return factory(name)
    raise AttributeError(name)


def scores(mode, folder, only=""):
    """Run the driver, and return its results by expectation."""
    result = folder / f"{mode}.json"
    ran = subprocess.run(
        [sys.executable, str(DRIVER), f"test_corpus:{mode}", "--path", str(Path(__file__).parent),
         "--root", str(folder / mode), "--json", str(result), "--only", only],
        capture_output=True, text=True, timeout=LONGEST, env={**os.environ, "TMPDIR": str(folder)},
        cwd=folder,
    )  # fmt: skip
    assert result.exists(), ran.stderr[-2_000:]
    found = json.loads(result.read_text())["results"]
    by = {"allow": [], "deny": []}
    for one in found:
        by[one["expect"]].append(one)
    return by


def failed(results):
    return {one["id"]: one["why"] for one in results if not one["ok"]}


def missing(results):
    """Return the attempts that need a program missing on this machine."""
    return {one: why for one, why in failed(results).items() if "is not installed here" in why}


def all_work(results):
    """Check that all valid commands work, then skip if a program is missing."""
    without = missing(results)
    assert failed(results) == without
    if without:
        programs = sorted({why.split("Refused: ")[1].split()[0] for why in without.values()})
        pytest.skip(
            f"{len(without)} of {len(results)} commands that must work need programs that are not "
            f"installed here: {', '.join(programs)}; the others were tried, and work"
        )


def test_everything_good_works_and_nothing_bad_happens_in_any_mode(tmp_path):
    """The first mode replays everything; the others only what the common parser accepts."""
    if not DRIVER.exists():
        pytest.skip(f"the corpus is missing: {DRIVER}")
    trials = {mode: try_confinement(mode) for mode in ("bubblewrap", "landlock")}
    modes = [mode for mode, trial in trials.items() if trial.confinement is not None]
    denied, through, good, results = None, [".*"], [], {}
    for mode in [*modes, "none"]:
        tried = [*through, *(good if mode != "none" else ())]
        results[mode] = scores(mode, tmp_path, f"^({'|'.join(tried)})$")
        if denied is None:
            denied = results[mode]["deny"]
            through = [one["id"] for one in denied if one["kind"] != "refused"]
            good = [one["id"] for one in results[mode]["allow"]]
        if mode != "none":
            assert failed(results[mode]["deny"]).keys() <= (
                UNDECIDED if mode == "landlock" else set()
            )
    # The parser alone stops all but three in a hundred.
    assert len(failed(results["none"]["deny"])) <= 0.03 * len(denied), results["none"]["deny"]
    for mode in modes:
        all_work(results[mode]["allow"])
    absent = [f"no {mode} here: {trials[mode].words}" for mode in trials if mode not in modes]
    if absent:
        pytest.skip(f"{'; '.join(absent)}; the corpus was replayed without it, and holds")
