"""The learning pages show the current output of the bench, and their programs run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "docs" / "context.md", *sorted((ROOT / "docs" / "learning").glob("*.md")))


@pytest.fixture(scope="module")
def tables() -> dict[str, Any]:
    command = [sys.executable, str(ROOT / "bench" / "context.py"), "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return {told["table"]: told for told in map(json.loads, ran.stdout.splitlines())}


def column(table: dict[str, Any], name: str) -> list[float]:
    at = table["head"].index(name)
    return [float(str(row[at]).replace(",", "")) for row in table["rows"]]


@pytest.mark.requirement("E1.1", "E2.1", "E2.3")
def test_the_pages_show_what_the_bench_prints(tables: dict[str, Any]):
    shown = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name, table in re.findall(r"<!-- bench: (\w+) -->\n\n((?:\|.*\n)+)", text):
            shown[name] = [
                [cell.strip() for cell in line.strip("|").split("|")]
                for line in table.splitlines()
                if not line.startswith("|---")
            ]
    assert set(shown) == set(tables)
    for name, told in tables.items():
        assert shown[name] == [told["head"], *([str(c) for c in row] for row in told["rows"])]


@pytest.mark.requirement("E1.1")
def test_long_texts_have_look_alikes_and_the_built_context_keeps_the_answer(
    tables: dict[str, Any],
):
    rot = tables["rot"]
    alike, right = column(rot, "look-alikes a question"), column(rot, "one taken blindly is right")
    assert alike == sorted(alike)
    assert right == sorted(right, reverse=True)
    assert min(column(rot, "the answer is in it")) >= 0.95
    assert max(column(rot, "tokens of the built context")) <= 1_000


@pytest.mark.requirement("E1.2")
def test_the_needed_files_cost_a_tenth_of_all_and_answer_as_well(tables: dict[str, Any]):
    everything, names, built, on_demand = tables["load"]["rows"]
    assert [row[-1] for row in (everything, names, built, on_demand)] == [
        "1.00", "0.00", "1.00", "1.00",
    ]  # fmt: skip
    tokens = column(tables["load"], "tokens a question")
    assert max(tokens[2:]) < tokens[0] / 10


@pytest.mark.requirement("E2.1")
def test_every_stage_that_fails_costs_facts_and_quality(tables: dict[str, Any]):
    for figure in ("facts in the context", "completeness", "score"):
        whole, *broken = column(tables["stages"], figure)
        assert len(broken) == 4
        assert max(broken) < whole - 0.05, figure


@pytest.mark.requirement("E2.3")
def test_the_chooser_is_never_far_from_the_best_method(tables: dict[str, Any]):
    shorten = tables["shorten"]
    methods = zip(
        *(column(shorten, name) for name in ("truncate", "window", "excerpt")), strict=True
    )
    for best, chosen in zip(map(max, methods), column(shorten, "the chooser's"), strict=True):
        assert chosen >= best - 0.2


def test_the_order_for_the_cache_keeps_most_of_the_text(tables: dict[str, Any]):
    standard, cache = column(tables["prefix"], "fraction")
    assert cache > 0.8 > standard


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_programs_run(page: Path, tmp_path: Path):
    programs = re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    script = tmp_path / "page.py"
    script.write_text("\n".join(programs), encoding="utf-8")
    ran = subprocess.run([sys.executable, str(script)], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_every_setting_is_on_the_page():
    from foldline.context import ContextConfig

    page = PAGES[0].read_text(encoding="utf-8")
    assert [name for name in ContextConfig.__slots__ if f"`{name}`" not in page] == []
