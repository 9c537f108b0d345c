"""The example and the documentation page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.confinement import requires_confinement

from foldline.agents.maintainer import knowledge

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.requirement("E4.1", "E5.1")
def test_the_example_plans_by_the_note_of_another_day_and_notices_the_change():
    requires_confinement()
    line = [sys.executable, str(ROOT / "examples" / "maintain.py")]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert "app/price.py:2 has changed since" in ran.stdout
    assert "Its place changed: look again first." in ran.stdout
    assert ran.stdout.endswith("cited: 1 note\n")


@pytest.mark.requirement("E4.1")
def test_the_page_shows_the_rule_as_the_module_does():
    page = (ROOT / "docs" / "maintainer.md").read_text("utf-8")
    rule = knowledge.__doc__ or ""
    rows = re.findall(r"^\| (?:the workspace|a person|the agent) \|.*$", rule, re.MULTILINE)
    assert len(rows) == 3
    assert all(row in page for row in rows)
