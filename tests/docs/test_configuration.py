"""The page about the configuration names every setting, with the default that it really has."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from foldline import Config
from foldline.core.config import SCENARIOS
from foldline.core.economy import pays_after
from foldline.core.limits import Spent
from foldline.core.settings_codec import leaves
from foldline.engine.events import CompactionFinished, CompactionStarted, Event
from foldline.engine.policies import POLICIES
from foldline.engine.receipt import Receipt
from foldline.session.hooks import MOMENTS
from foldline.settings.sources import NO_SETTINGS
from foldline.telemetry.spans import METRICS, end_attributes, start_attributes

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, list[str]]:
    """Read the table with a heading: the other cells by the name in the first one."""
    table = PAGE.split(f"\n| {heading} |")[1].split("\n\n")[0]
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {name.strip("`"): rest for name, *rest in cells}


def words(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value) or "(none)"
    if value is None:
        return "—"
    return f"{value:,}" if isinstance(value, int) else str(value)


@pytest.mark.requirement("C22")
def test_every_setting_stands_there_with_its_default_and_a_meaning():
    table = rows("setting | default")
    assert {key: default for key, (default, _) in table.items()} == {
        leaf.key: words(leaf.default) for leaf in leaves(Config)
    }
    assert all(len(meaning) > 10 for _, meaning in table.values())


def test_policies_and_scenarios_are_named():
    assert all(name in rows("setting | default")["policy"][1] for name in POLICIES)
    assert set(rows("scenario")) == set(SCENARIOS)


def test_events_and_the_names_for_opentelemetry_are_those_of_the_code():
    assert set(rows("event")) == {kind.kind for kind in Event.__subclasses__()}
    explained = {name: cell for name, (cell,) in rows("OpenTelemetry").items()}
    receipt = Receipt("compacted", "x", 10, 5, 3, 2, "exact", "default", 8, spent=Spent(model="m"))
    start = start_attributes(CompactionStarted("s", 0.0, 1, "m", "openai", policy="default"))
    end = end_attributes(CompactionFinished("s", 0.0, 1, receipt=receipt, error="E"))
    assert explained.keys() == start.keys() | end.keys() | METRICS.keys()
    metrics = {name: f"metric: {text}" for name, (_, text) in METRICS.items()}
    assert metrics.items() <= explained.items()


def test_hooks_and_variables_are_named():
    assert all(f"`{name}`" in PAGE or f"{name}=" in PAGE for name in (*MOMENTS, *NO_SETTINGS))


def test_the_figures_of_the_costs_are_those_of_the_formulas():
    for price, output in ((0.1, 5.0), (1.0, 5.0), (0.2, 1.0)):
        found = [
            pays_after(1 - 1 / n, added=1 / n, summary_cost=price + output / n)
            for n in (20, 10, 5, 2)
        ]
        assert ", ".join(f"{number:.1f}" for number in found) in PAGE


def test_its_programs_run(tmp_path):
    script = tmp_path / "page.py"
    programs = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    script.write_text("\n".join(programs), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", script.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("calm ")
