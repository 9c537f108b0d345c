"""A report on disk: one page of Markdown, and its plots beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from foldline.errors import MissingExtra
from foldline.evaluation.markdown import as_markdown
from foldline.evaluation.plots import drawn
from foldline.evaluation.sections import Section

NO_PLOTS = "Plots need the extra `plots`: pip install 'foldline[plots]'."


def write_pictures(folder: Path, sections: Sequence[Section]) -> bool:
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
        pictures = {plot.name: drawn(plot) for plot in plots}
    except MissingExtra:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        (folder / f"{Path(name).name}.svg").write_bytes(picture)
    return True


def write_report(folder: Path, head: str, sections: Sequence[Section]) -> bool:
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
