"""
What is kept does not fall unseen: a small bench in every run of the tests.

The floors stand in ``floors.json``; ``python bench/floors.py --renew`` keeps what is meant.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.corpus import requires_corpus

ROOT = Path(__file__).resolve().parents[2]
FLOORS = json.loads((Path(__file__).parent / "floors.json").read_text(encoding="utf-8"))
MAY_FALL = 0.02

pytestmark = pytest.mark.slow

RECORDED = sorted(name for name in FLOORS if "recorded" in name)
ALWAYS = sorted(FLOORS.keys() - set(RECORDED))


@pytest.fixture(scope="module")
def figures() -> dict[str, float]:
    command = [sys.executable, str(ROOT / "bench" / "floors.py")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def hold(figures: dict[str, float], names: list[str]) -> None:
    fallen = {
        name: f"{figures.get(name)} was {FLOORS[name]}"
        for name in names
        if figures.get(name, -1e9) < FLOORS[name] - MAY_FALL
    }
    assert fallen == {}, "see why, or keep what is meant: python bench/floors.py --renew"


def test_retention_on_the_bundled_session_and_rows_does_not_fall(figures):
    assert any(name.startswith("need, bundled") for name in ALWAYS)
    hold(figures, ALWAYS)


def test_foldline_breaks_no_promise_on_inputs_that_broke_others(figures):
    promises = {name: value for name, value in figures.items() if name.startswith("validity")}
    assert promises
    assert set(promises.values()) == {0}


@pytest.mark.corpus
@requires_corpus
def test_retention_on_recorded_sessions_does_not_fall(figures):
    assert RECORDED
    hold(figures, RECORDED)
