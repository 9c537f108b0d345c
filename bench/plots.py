"""The plots of the page: bars, lines, goals and logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from foldline.evaluation.report import ACCENT, GREY, INK, OURS, draw, paint_bars
from foldline.evaluation.sections import Plot

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

ACCENTS = (ACCENT, "#d1801f", "#2da44e", "#a371f7")
GREYS = (GREY, "#a5adb6", "#6e7781", "#b1a08f", "#8fa3a0", "#a38fa0")
DASHES = ("-", "--", "-.", ":")
LINES_HEIGHT = 4.2
"""Size in inches."""


def draw_plot(plot: Plot) -> bytes:
    """Draw a plot of either kind; see `foldline.evaluation.report.draw`."""
    if plot.kind == "bars":
        return draw(plot, _paint_bars)
    return draw(plot, _paint_lines, LINES_HEIGHT)


def _paint_bars(axes: Axes, plot: Plot) -> Sequence[Artist]:
    marks = paint_bars(axes, plot)
    if plot.log_y:
        axes.set_xscale("log")
        _plain_ticks(axes.xaxis)
    if plot.goal is not None:
        axes.axvline(plot.goal, color=ACCENTS[1], linewidth=1, linestyle=":")
    return marks


def _paint_lines(axes: Axes, plot: Plot) -> Sequence[Artist]:
    mine = others = 0
    alone = not any(series.name.startswith(OURS) for series in plot.series)
    for series in plot.series:
        if alone or series.name.startswith(OURS):
            colour, dash, width = ACCENTS[mine % len(ACCENTS)], "-", 2.2
            mine += 1
        else:
            colour, dash, width = GREYS[others % len(GREYS)], DASHES[others % len(DASHES)], 1.3
            others += 1
        xs, ys = [x for x, _ in series.points], [y for _, y in series.points]
        (line,) = axes.plot(xs, ys, dash, color=colour, linewidth=width, label=series.name)
        line.set(marker="o", markersize=3.5, zorder=width)
        if series.low:
            axes.fill_between(xs, series.low, series.high, color=colour, alpha=0.15)
    axes.set_xlabel(plot.x)
    axes.set_ylabel(plot.y)
    if plot.log_x:
        axes.set_xscale("log")
        _plain_ticks(axes.xaxis)
    if plot.log_y:
        axes.set_yscale("log")
        _plain_ticks(axes.yaxis)
    if plot.goal is not None:
        axes.axhline(plot.goal, color=INK, linewidth=1, linestyle=":", label="goal")
    return axes.get_legend_handles_labels()[0]


def _plain_ticks(axis: Axis) -> None:
    """Write the powers of a logarithmic axis in short form: 100, 1k, 1M."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axis.set_minor_formatter(NullFormatter())


def short(value: float) -> str:
    """Write a number briefly: ``0.01``, ``100``, ``20k``, ``1M``."""
    for least, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= least:
            return f"{value / least:g}{unit}"
    return f"{value:g}"
