"""A report is a page with its plots next to it; without plots it explains how to get them."""

from __future__ import annotations

import re

import pytest

from foldline.errors import MissingExtra
from foldline.evaluation import report
from foldline.evaluation.report import write_pictures, write_report
from foldline.evaluation.sections import Plot, ReportSection, Series

PLOT = Plot("kept", "Kept", "bars", "", "need", (Series("s", ((0, 0.5),)),), ("a",))
SECTION = ReportSection("s", "What is kept", "Words.", plots=(PLOT,))


def test_a_report_links_the_plots_next_to_it(tmp_path):
    pytest.importorskip("matplotlib", reason="NO PLOTS: matplotlib is not installed")
    assert write_report(tmp_path / "deep" / "er", "# Title", [SECTION])
    folder = tmp_path / "deep" / "er"
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# Title\n\n## What is kept\n")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (folder / target).read_bytes().startswith(b"<?xml")


def test_without_matplotlib_there_are_tables_and_a_hint(tmp_path, monkeypatch):
    def missing(_):
        raise MissingExtra("matplotlib", "plots")

    monkeypatch.setattr(report, "draw", missing)
    assert not write_report(tmp_path, "# Title", [SECTION])
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "foldline[plots]" in text
    assert ".svg" not in text
    assert not list(tmp_path.glob("*.svg"))


def test_a_plot_cannot_be_written_outside_its_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "draw", lambda _: b"x")
    odd = Plot("../../evil", "E", "bars", "", "y", ())
    write_pictures(tmp_path / "in", [ReportSection("s", "S", "", plots=(odd,))])
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["evil.svg"]
