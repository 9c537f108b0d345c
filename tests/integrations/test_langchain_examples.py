"""The examples run offline, and print the result."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(
    "name", ["anthropic_loop", "langchain_agent", "langgraph_graph", "openai_loop"]
)
def test_an_example_runs_without_a_key_and_prints_the_result(name, tmp_path):
    keyless = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    ran = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", str(EXAMPLES / f"{name}.py")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**keyless, "FOLDLINE_HOME": str(tmp_path), "COLUMNS": "120"},
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert "a scripted provider on this machine answers" in ran.stdout
    lines = re.findall(r"(\d+) messages, +([\d,]+) tokens shown, (\d+)×", ran.stdout)
    assert len(lines) == 12
    assert int(lines[-1][0]) > 40
    assert max(int(tokens.replace(",", "")) for _, tokens, _ in lines) < 6_000
    assert int(lines[-1][2]) >= 2
    assert "The last receipt: compacted" in ran.stdout
    assert "def charge_" in ran.stdout.split("Recalled under")[1]
