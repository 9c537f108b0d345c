"""The page about integrations offers recall first, and quotes the figures of the benchmarks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "integrations.md").read_text(encoding="utf-8")
BENCHMARKS = (DOCS / "benchmarks.md").read_text(encoding="utf-8")

BY_DEFAULT = {"LangChain": "FoldlineMiddleware(", "Pydantic AI": "FoldlineHistory("}
"""The integrations that offer recall without a word in the example."""


def first_examples() -> dict[str, str]:
    """Return the first program of every section."""
    parts = re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)[1:]
    found = {
        title: re.search(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }
    return {title: program[1] for title, program in found.items() if program}


@pytest.mark.parametrize("title", first_examples())
def test_the_first_example_of_an_integration_offers_recall(title: str) -> None:
    program = first_examples()[title]
    if title in BY_DEFAULT:
        assert BY_DEFAULT[title] in program
        assert "recall=False" not in program
    else:
        assert re.search(r"\brecall_tool\(session\)|\*(?:session|compressor)\.tools\b", program)


@pytest.mark.parametrize("share", ["5 %", "10 %"])
def test_the_figures_are_those_of_the_benchmarks(share: str) -> None:
    exam = BENCHMARKS.partition("## The reading exam")[2]
    header = re.search(r"^\| questions answered, history cut to \|(.+)\|$", PAGE, re.MULTILINE)
    assert header
    column = [cell.strip() for cell in header[1].split("|")].index(share)
    for ours, theirs in (
        ("no model", "Foldline, no model"),
        ("with a model's account", "Foldline with a model"),
        ("no model, with `recall`", "Foldline, no model, recall allowed"),
    ):
        row = re.search(rf"^\| {re.escape(ours)}(?: \(.+?\))? \|(.+)\|$", PAGE, re.MULTILINE)
        assert row
        stated = [cell.strip() for cell in row[1].split("|")][column]
        measured = re.search(rf"^\| {share} \| {theirs}(?: \(90.+?\))? \| ([\d.]+)", exam, re.M)
        assert stated == (measured[1] if measured else "not measured")
