"""Lines, goals and logarithmic axes of the page are drawn, the same bytes for the same figures."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from foldline.evaluation.sections import Plot, Series
from plots import draw_plot, short

LINES = Plot(
    "scale",
    "Time",
    "lines",
    "messages",
    "ms",
    (Series("Foldline p50", ((100, 1), (1e6, 2))), Series("other", ((100, 3), (1e6, 90)))),
    log_x=True,
    log_y=True,
    goal=5,
)

BARS = Plot(
    "speed",
    "Speed",
    "bars",
    "",
    "ms per MB",
    (Series("now", ((0, 10), (1, 2_000))),),
    ("Foldline", "other"),
    log_y=True,
)

pytest.importorskip("matplotlib", reason="NO PLOTS: matplotlib is not installed")


def words(plot: Plot) -> set[str]:
    root = ET.fromstring(draw_plot(plot))  # noqa: S314  # our own picture
    return {element.text or "" for element in root.iter() if element.tag.endswith("}text")}


@pytest.mark.parametrize("plot", [BARS, LINES])
def test_the_same_figures_are_the_same_bytes_without_a_date(plot):
    picture = draw_plot(plot)
    assert picture == draw_plot(plot)
    assert b"<dc:date>" not in picture


def test_lines_have_a_legend_and_axes_that_are_read_easily():
    assert {"Foldline p50", "other", "goal", "100", "1M", "messages", "ms"} <= words(LINES)


def test_bars_may_have_a_logarithmic_axis_and_a_goal():
    assert {"Foldline", "other", "100", "1k"} <= words(BARS)
    assert draw_plot(BARS) != draw_plot(replace(BARS, goal=50.0))


def test_without_figures_there_is_an_empty_picture():
    assert draw_plot(Plot("none", "None", "lines", "x", "y", ()))


@pytest.mark.parametrize(
    ("value", "text"), [(0.01, "0.01"), (100, "100"), (20_000, "20k"), (1e6, "1M"), (3e9, "3G")]
)
def test_numbers_at_an_axis_are_short(value, text):
    assert short(value) == text
