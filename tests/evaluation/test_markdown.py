"""Sections as aligned text, and as Markdown that no figure can break."""

from __future__ import annotations

import math

import pytest

from foldline.evaluation.sections import (
    LONG,
    Goal,
    Plot,
    ReportSection,
    ReportTable,
    Series,
    as_markdown,
    as_text,
    escape,
    format_cell,
)

SECTION = ReportSection(
    "s",
    "What is *kept*",
    "Some words.",
    (
        ReportTable(
            "Kept", ("library", "5 %"), (("Foldline", 0.91234), ("a|b <i>", None)), "A note."
        ),
    ),
    (Plot("kept", "Kept [x]", "bars", "", "y", (Series("s", ((0, 1),)),), ("a",)),),
    (Goal("need", 0.91, "", least=0.9), Goal("broken", 3.0, "cases", most=0)),
)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "–"),
        (math.nan, "–"),
        (1234, "1,234"),
        (0.91234, "0.912"),
        (12.345, "12.3"),
        (1234.5, "1,234"),
        ("as it is", "as it is"),
    ],
)
def test_a_figure_has_only_significant_digits(cell, text):
    assert format_cell(cell) == text


def test_text_aligns_figures_right_and_reports_the_goals():
    text = as_text(SECTION)
    assert "Foldline  0.912\n" in text
    assert "a|b <i>       –\n" in text
    assert "held   need: 0.910 (goal ≥ 0.9)" in text
    assert "missed broken: 3 cases (goal ≤ 0 cases)" in text


def test_markdown_escapes_markup_and_links_the_plots():
    text = as_markdown(SECTION, "pictures/")
    assert text.startswith("## What is \\*kept\\*\n\nSome words.\n\n")
    assert "![Kept \\[x\\]](pictures/kept.svg)" in text
    assert "| library | 5 % |\n|---|--:|\n| Foldline | 0.912 |\n| a\\|b \\<i\\> | – |" in text
    assert "| broken | 3 cases | ≤ 0 cases | **missed** |" in text


def test_without_a_folder_there_are_no_plots():
    assert "svg" not in as_markdown(SECTION)


def test_a_long_table_is_folded():
    rows = tuple((str(n), n) for n in range(LONG + 1))
    text = as_markdown(ReportSection("s", "S", "", (ReportTable("All <b>", ("a", "b"), rows),)))
    assert "<details><summary>All &lt;b&gt;</summary>\n\n| a | b |" in text
    assert text.rstrip().endswith("</details>")


def test_a_name_cannot_start_a_line_or_turn_the_text_around():
    assert escape("a\n# b\u202e\x1b[31m") == "a # b\\[31m"


def test_a_table_without_rows_is_a_table():
    empty = ReportSection("s", "S", "", (ReportTable("T", ("a", "b"), ()),))
    assert "| a | b |\n|---|---|" in as_markdown(empty)
    assert as_text(empty).splitlines()[-1] == "a  b"
