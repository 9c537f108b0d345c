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
from foldline.tools.terminal.confine.choose import try_confinement

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
        workspace, limits=TerminalLimits(seconds=4), sandbox=mode, allow_unconfined=mode == "none"
    )


def __getattr__(name):
    """Give the driver `bubblewrap`, `landlock` and `none`, made when it asks for one of them."""
    if name in {"bubblewrap", "landlock", "none"}:
        return factory(name)
    raise AttributeError(name)


def scores(mode, folder):
    """Run the driver, and return its results by what was expected."""
    if not DRIVER.exists():
        pytest.skip(f"the corpus is missing: {DRIVER}")
    if mode != "none" and try_confinement(mode).confinement is None:
        pytest.skip(f"no {mode} here: {try_confinement(mode).words}")
    result = folder / "results.json"
    ran = subprocess.run(
        [sys.executable, str(DRIVER), f"test_corpus:{mode}", "--path", str(Path(__file__).parent),
         "--root", str(folder / "fixture"), "--json", str(result)],
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


def test_with_bubblewrap_everything_good_works_and_nothing_bad_happens(tmp_path):
    by = scores("bubblewrap", tmp_path)
    assert failed(by["deny"]) == {}
    all_work(by["allow"])


def test_with_landlock_everything_good_works_and_only_metadata_leaks(tmp_path):
    by = scores("landlock", tmp_path)
    assert failed(by["deny"]).keys() <= UNDECIDED
    all_work(by["allow"])


def test_the_parser_alone_stops_all_but_three_in_a_hundred(tmp_path):
    by = scores("none", tmp_path)
    assert len(failed(by["deny"])) <= 0.03 * len(by["deny"]), failed(by["deny"])
