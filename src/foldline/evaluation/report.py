"""A report of measurements: a page of Markdown with its plots."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.errors import MissingExtra
from foldline.evaluation.sections import Plot, ReportSection, Series, as_markdown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

OURS = "Foldline"
"""What the name of a series or a label begins with that is drawn in colour."""

INK = "#7a828c"
ACCENTS = ("#2f81f7", "#d1801f", "#2da44e", "#a371f7")
GREYS = ("#8b949e", "#a5adb6", "#6e7781", "#b1a08f", "#8fa3a0", "#a38fa0")
DASHES = ("-", "--", "-.", ":")
SHADES = (1.0, 0.62, 0.36, 0.22)

STYLE = Path(__file__).with_name("plots.mplstyle")
WIDTH = 8.0
"""Inches; GitHub shows it as 576 points."""


def draw(plot: Plot) -> bytes:
    """
    Draw a plot.

    Returns:
        An SVG document with a transparent background.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "plots") from error
    with mpl.rc_context():
        mpl.rcdefaults()  # whatever the user's own settings say
        mpl.rcParams.update(mpl.rc_params_from_file(STYLE, use_default_template=False))
        figure = Figure(figsize=(WIDTH, _height(plot)), layout="constrained")
        axes = figure.add_subplot()
        (_draw_bars if plot.kind == "bars" else _draw_lines)(axes, plot)
        axes.set_title(plot.title, loc="left", fontweight="bold")
        _legend(figure, axes, plot)
        out = io.BytesIO()
        metadata = {"Date": None, "Creator": None, "Title": plot.title}
        figure.savefig(out, format="svg", transparent=True, metadata=metadata)
    return out.getvalue().replace(b" \n", b"\n")


def _height(plot: Plot) -> float:
    if plot.kind == "lines":
        return 4.2
    bars = len(plot.labels) * (len(plot.series) + 1)
    return max(2.2, min(14.0, 1.1 + 0.15 * bars))


def _draw_bars(axes: Axes, plot: Plot) -> None:
    """Draw groups of horizontal bars, the first one on top; labels have room there."""
    thick = 0.8 / max(1, len(plot.series))
    for number, series in enumerate(plot.series):
        shade = SHADES[number % len(SHADES)] if len(plot.series) > 1 else 1.0
        places = [x - 0.4 + thick * (number + 0.5) for x, _ in series.points]
        values = [y for _, y in series.points]
        colours = [_colour(plot.labels, int(x)) for x, _ in series.points]
        error = _error(series, values)
        lines = {"ecolor": INK, "elinewidth": 0.8}
        bars = axes.barh(
            places, values, thick * 0.92, color=colours, alpha=shade, xerr=error, error_kw=lines
        )
        figures = [f"{value:.2f}" if abs(value) < 10 else f"{value:,.0f}" for value in values]
        axes.bar_label(bars, figures, padding=4, fontsize=7)
    axes.set_yticks(range(len(plot.labels)), list(plot.labels))
    for tick, label in zip(axes.get_yticklabels(), plot.labels, strict=True):
        tick.set_fontweight("bold" if label.startswith(OURS) else "normal")
    axes.set_ylim(len(plot.labels) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(plot.y)
    axes.margins(x=0.09)  # room for the figures beside the bars
    if plot.log_y:
        axes.set_xscale("log")
        _plain_ticks(axes.xaxis)
    if plot.goal is not None:
        axes.axvline(plot.goal, color=ACCENTS[1], linewidth=1, linestyle=":")


def _colour(labels: Sequence[str], place: int) -> str:
    """Choose the colour of a bar: ours stand out where there are others."""
    mine = [label.startswith(OURS) for label in labels]
    return GREYS[0] if any(mine) and not mine[place] else ACCENTS[0]


def _error(series: Series, values: list[float]) -> list[list[float]] | None:
    if not series.low:
        return None
    low = [max(0.0, v - end) for v, end in zip(values, series.low, strict=True)]
    high = [max(0.0, end - v) for v, end in zip(values, series.high, strict=True)]
    return [low, high]


def _draw_lines(axes: Axes, plot: Plot) -> None:
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


def _plain_ticks(axis: Axis) -> None:
    """Write the powers of a logarithmic axis as people do: 100, 1k, 1M."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axis.set_minor_formatter(NullFormatter())


def short(value: float) -> str:
    """Write a number in a few characters: ``0.01``, ``100``, ``20k``, ``1M``."""
    for least, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= least:
            return f"{value / least:g}{unit}"
    return f"{value:g}"


def _legend(figure: Figure, axes: Axes, plot: Plot) -> None:
    """Name the series below the plot, where there are several."""
    if len(plot.series) < 2:
        return
    marks, _ = axes.get_legend_handles_labels()
    if plot.kind == "bars":
        from matplotlib.patches import Patch

        shades = (SHADES[number % len(SHADES)] for number in range(len(plot.series)))
        marks = [
            Patch(color=ACCENTS[0], alpha=shade, label=series.name)
            for series, shade in zip(plot.series, shades, strict=True)
        ]
    figure.legend(handles=marks, loc="outside lower center", ncols=4, fontsize=9)


NO_PLOTS = "Plots need the extra `plots`: pip install 'foldline[plots]'."


def write_pictures(folder: Path, sections: Sequence[ReportSection]) -> bool:
    """
    Write the plots of sections as SVG.

    Args:
        folder: Where to; it is made.
        sections: What was measured.

    Returns:
        Whether the plots could be drawn; without matplotlib nothing is written.

    Raises:
        OSError: A file cannot be written.
    """
    plots = [plot for section in sections for plot in section.plots]
    try:
        pictures = {plot.name: draw(plot) for plot in plots}
    except MissingExtra:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        (folder / f"{Path(name).name}.svg").write_bytes(picture)
    return True


def write_report(folder: Path, head: str, sections: Sequence[ReportSection]) -> bool:
    """
    Write ``report.md`` with its plots.

    Args:
        folder: Where to; it is made.
        head: Markdown that stands above the sections: a heading, and what was measured.
        sections: What was measured.

    Returns:
        Whether there are plots; without matplotlib the report says how to get them.

    Raises:
        OSError: A file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plotted = write_pictures(folder, sections)
    parts = [head.strip() + "\n"]
    parts += [as_markdown(section, "." if plotted else "") for section in sections]
    if not plotted and any(section.plots for section in sections):
        parts.append(NO_PLOTS + "\n")
    (folder / "report.md").write_text("\n".join(parts), encoding="utf-8")
    return plotted
