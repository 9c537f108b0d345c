"""The bundled session and the output of ``make demo``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from foldline.api import counter_for
from foldline.formats.files import read_file
from foldline.formats.registry import DIALECTS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SESSION = EXAMPLES / "session.json"


def test_the_bundled_session_is_valid_and_of_a_reasonable_size() -> None:
    there = read_file(SESSION).current.transcript
    wire = DIALECTS[there.dialect]
    assert there.dialect == "openai-chat"
    assert wire.validate(wire.messages(there.messages)) == []
    assert 60 <= len(there.messages) <= 140
    assert 60_000 <= counter_for(there, None).messages(there.messages) <= 120_000
    assert SESSION.stat().st_size < 500_000


@pytest.mark.parametrize(
    "trace", ["/[h]ome/", "/[r]oot/", "/[U]sers/", "[s]ite-packages", "/tm[p]/"]
)
def test_the_bundled_session_names_no_machine(trace: str) -> None:
    assert re.findall(rf".{{40}}{trace}.{{40}}", SESSION.read_text()) == []


def test_the_demo_shows_real_output_and_recalls_the_fact() -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "demo.py"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "answers on port 48113" in done.stdout.split("in view:")[1]
    assert "[Snapshot by Foldline" in done.stdout
    assert "Staging" in done.stdout.split("word for word:")[1]
