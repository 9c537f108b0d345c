"""Write a report of measurements: a page of Markdown with plots."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from foldline.errors import InputError, MissingExtra
from foldline.evaluation.sections import Plot, ReportSection, Series, as_markdown

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    Paint: TypeAlias = Callable[[Axes, Plot], Sequence[Artist]]

OURS: Final = "Foldline"
"""Prefix of the names of series and labels that are highlighted."""

INK: Final = "#7a828c"
ACCENT: Final = "#2f81f7"
GREY: Final = "#8b949e"
SHADES: Final = (1.0, 0.62, 0.36, 0.22)

STYLE: Final = Path(__file__).with_name("plots.mplstyle")
WIDTH: Final = 8.0
"""Width in inches; GitHub shows it as 576 points."""


def draw(plot: Plot, paint: Paint | None = None, height: float | None = None) -> bytes:
    """
    Draw a plot.

    Args:
        plot: The plot.
        paint: Draws it into axes, and returns the legend entry of each series; None for
            `paint_bars`, which has no lines, goals or logarithmic axes.
        height: Height of the picture, in inches; None for the height of its bars.

    Returns:
        An SVG document with a transparent background.

    Raises:
        InputError: It needs more than plain bars, and there is no ``paint``.
        MissingExtra: matplotlib is not installed.
    """
    with_scale = plot.log_x or plot.log_y or plot.goal is not None
    if paint is None and (plot.kind != "bars" or with_scale):
        raise InputError(f"the plot {plot.name!r} needs more than plain bars", field="paint")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "plots") from error
    with mpl.rc_context():
        mpl.rcdefaults()  # ignore the user's settings
        mpl.rcParams.update(mpl.rc_params_from_file(STYLE, use_default_template=False))
        figure = Figure(figsize=(WIDTH, height or _height(plot)), layout="constrained")
        axes = figure.add_subplot()
        marks = (paint or paint_bars)(axes, plot)
        axes.set_title(plot.title, loc="left", fontweight="bold")
        if len(plot.series) > 1:
            figure.legend(handles=marks, loc="outside lower center", ncols=4, fontsize=9)
        out = io.BytesIO()
        metadata = {"Date": None, "Creator": None, "Title": plot.title}
        figure.savefig(out, format="svg", transparent=True, metadata=metadata)
    return out.getvalue().replace(b" \n", b"\n")


def _height(plot: Plot) -> float:
    bars = len(plot.labels) * (len(plot.series) + 1)
    return max(2.2, min(14.0, 1.1 + 0.15 * bars))


def paint_bars(axes: Axes, plot: Plot) -> Sequence[Artist]:
    """Draw groups of horizontal bars, the first on top, with room for labels."""
    from matplotlib.patches import Patch

    marks: list[Artist] = []
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
        marks.append(Patch(color=ACCENT, alpha=SHADES[number % len(SHADES)], label=series.name))
    axes.set_yticks(range(len(plot.labels)), list(plot.labels))
    for tick, label in zip(axes.get_yticklabels(), plot.labels, strict=True):
        tick.set_fontweight("bold" if label.startswith(OURS) else "normal")
    axes.set_ylim(len(plot.labels) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(plot.y)
    axes.margins(x=0.09)  # room for the figures next to the bars
    return marks


def _colour(labels: Sequence[str], place: int) -> str:
    """Choose the colour of a bar: ours are highlighted if there are others."""
    mine = [label.startswith(OURS) for label in labels]
    return GREY if any(mine) and not mine[place] else ACCENT


def _error(series: Series, values: list[float]) -> list[list[float]] | None:
    if not series.low:
        return None
    low = [max(0.0, v - end) for v, end in zip(values, series.low, strict=True)]
    high = [max(0.0, end - v) for v, end in zip(values, series.high, strict=True)]
    return [low, high]


NO_PLOTS = "Plots need the extra `plots`: pip install 'foldline[plots]'."


def write_pictures(
    folder: Path,
    sections: Sequence[ReportSection],
    paint: Callable[[Plot], bytes] | None = None,
) -> bool:
    """
    Write the plots of sections as SVG.

    Args:
        folder: The output folder; created if missing.
        sections: The measurements.
        paint: Draws a plot; None for `draw`.

    Returns:
        Whether the plots were drawn; without matplotlib nothing is written.

    Raises:
        OSError: A file cannot be written.
    """
    plots = [plot for section in sections for plot in section.plots]
    try:
        pictures = {plot.name: (paint or draw)(plot) for plot in plots}
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
        folder: The output folder; created if missing.
        head: Markdown above the sections: a heading, and the subject of the measurement.
        sections: The measurements.

    Returns:
        Whether there are plots; without matplotlib the report explains how to get them.

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
