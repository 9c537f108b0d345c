"""Plots are the same bytes for the same figures, and readable on white and on black."""

from __future__ import annotations

import builtins
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from foldline.errors import InputError, MissingExtra
from foldline.evaluation.report import ACCENT, draw, paint_bars
from foldline.evaluation.sections import Plot, Series

BARS = Plot(
    "kept",
    "What is kept, <b> $x$ & more",
    "bars",
    "",
    "need",
    (
        Series("cut to 5 %", ((0, 0.9), (1, 0.2)), (0.8, 0.1), (0.95, 0.3)),
        Series("cut to 10 %", ((0, 0.95), (1, 0.4))),
    ),
    ("Foldline", "other_library"),
)
pytest.importorskip("matplotlib", reason="NO PLOTS: matplotlib is not installed")


def test_the_same_figures_are_the_same_bytes_without_a_date():
    picture = draw(BARS)
    assert picture == draw(BARS)
    assert b"<dc:date>" not in picture


def words(plot: Plot) -> list[str]:
    root = ET.fromstring(draw(plot))  # noqa: S314  # our own picture
    return [element.text or "" for element in root.iter() if element.tag.endswith("}text")]


def test_a_plot_has_its_labels_as_text_and_not_as_formulas():
    assert {"What is kept, <b> $x$ & more", "Foldline", "other_library", "0.90"} <= set(
        words(BARS)
    )


def test_foldline_is_highlighted_among_others():
    picture = draw(BARS).decode()
    assert ACCENT in picture
    assert "#ffffff" not in picture
    assert "#000000" not in picture


def test_the_settings_of_the_user_change_nothing():
    import matplotlib as mpl

    before = draw(BARS)
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        assert draw(BARS) == before
        assert mpl.rcParams["font.size"] == 30


def test_without_figures_there_is_an_empty_picture():
    assert draw(Plot("none", "None", "bars", "", "y", (), ()))


@pytest.mark.parametrize(
    "more", [{"kind": "lines"}, {"log_x": True}, {"log_y": True}, {"goal": 0.0}]
)
def test_plots_beyond_plain_bars_are_refused_instead_of_reduced(more):
    plot = replace(BARS, **more)
    with pytest.raises(InputError, match="more than plain bars"):
        draw(plot)
    assert draw(plot, paint_bars)


def test_without_matplotlib_the_error_has_the_command_to_install_it(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtra, match=r"foldline\[plots\]"):
        draw(BARS)
