"""
The corpus of attempts, replayed by its own driver in all three modes.

The driver judges effects: canary files, leaked markers, processes that stay, connections, time.
It lies beside the checkout; without it nothing here is proved, and that is said.
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
    """Return what the driver calls for every attempt; the self-test is made once, before."""
    for one in ("bubblewrap", "landlock"):
        try_confinement(one)
    return lambda workspace: Terminal.open(
        workspace, limits=TerminalLimits(seconds=3), sandbox=mode, allow_unconfined=mode == "none"
    )


def __getattr__(name):
    """Give the driver `bubblewrap`, `landlock` and `none`, made when it asks for one of them."""
    if name in {"bubblewrap", "landlock", "none"}:
        return factory(name)
    raise AttributeError(name)


def scores(mode, folder, only=""):
    """Run the driver, and return its results by what was expected."""
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
    """Return the attempts that need a program which this machine does not have."""
    return {one: why for one, why in failed(results).items() if "is not installed here" in why}


def all_work(results):
    """Check that everything good works; skip, having done so, where a program is missing."""
    without = missing(results)
    assert failed(results) == without
    if without:
        programs = sorted({why.split("Refused: ")[1].split()[0] for why in without.values()})
        pytest.skip(
            f"{len(without)} of {len(results)} commands that must work need programs that are not "
            f"installed here: {', '.join(programs)}; the others were tried, and work"
        )


def test_everything_good_works_and_nothing_bad_happens_in_any_mode(tmp_path):
    """The first mode replays all of it; the others what the parser, alike in all, lets through."""
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
