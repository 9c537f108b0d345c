"""The benchmark of the maintainer: where reading on demand wins, and where it does not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.confinement import requires_confinement

BENCH = Path(__file__).resolve().parents[3] / "bench" / "maintainer.py"


@pytest.fixture(scope="module")
def rows():
    requires_confinement()
    command = [sys.executable, str(BENCH), "--json", "--package", ""]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    return {(row["codebase"], row["task"], row["way"]): row for row in found}


@pytest.mark.slow
@pytest.mark.requirement("E1.2", "E5.3")
def test_one_question_and_a_trace_are_cheaper_on_demand_and_a_count_is_not(rows):
    for codebase in ("hot", "anywhere"):
        for task in ("one question", "trace"):
            whole = rows[codebase, task, "all at once"]
            demand = rows[codebase, task, "just in time"]
            assert demand["recall"] == whole["recall"] == 1.0
            assert demand["usd"] < whole["usd"] / 4
            assert demand["most"] < whole["most"] / 4
        whole = rows[codebase, "count over all", "all at once"]
        demand = rows[codebase, "count over all", "just in time"]
        assert whole["recall"] == 1.0 > demand["recall"]
        assert whole["usd"] < demand["usd"]


@pytest.mark.slow
@pytest.mark.requirement("E1.2", "E5.2")
def test_a_review_on_demand_finds_more_where_changes_are_and_with_a_larger_budget(rows):
    def recall(codebase, way):
        return rows[codebase, "review", f"just in time, {way}"]["recall"]

    assert recall("hot", "20,000") > recall("anywhere", "20,000")
    for codebase in ("hot", "anywhere"):
        found = [recall(codebase, way) for way in ("20,000", "40,000", "no limit")]
        assert found == sorted(found)
        assert found[-1] == 1.0
        assert rows[codebase, "review", "all at once"]["files"] == 50
