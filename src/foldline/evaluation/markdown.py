"""A section as Markdown, as code forges show it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from foldline.evaluation.cells import bounds, goal_value, is_figure, shown
from foldline.evaluation.sections import Goal, Plot, Section, Table

LONG = 24
"""Rows of a table beyond which only its title is shown at first."""

_SPECIAL = re.compile(r"([\\|<>*_`\[\]])")
_TURNS = dict.fromkeys((*range(32), 127, *range(8234, 8239), *range(8294, 8298)))


def as_markdown(section: Section, pictures: str = "", *, level: int = 2) -> str:
    """
    Write a section.

    Args:
        section: What was measured; its ``text`` and the notes of its tables are Markdown already.
        pictures: The folder of the plots, relative to where the text goes; "" for none.
        level: Of its heading.
    """
    parts = [f"{'#' * level} {escaped(section.title)}", section.text.strip()]
    if pictures:
        parts += [picture(plot, pictures) for plot in section.plots]
    parts += [_folded(table) for table in section.tables]
    if section.goals:
        parts.append(goals_table(section.goals))
    return "\n\n".join(part for part in parts if part) + "\n"


def picture(plot: Plot, folder: str) -> str:
    """Show a plot, in the colours of the reader's page; its title is the alternative text."""
    return f"![{escaped(plot.title)}]({folder.rstrip('/')}/{plot.name}.svg)"


def _folded(table: Table) -> str:
    """Write a table; a long one is unfolded by the reader."""
    if len(table.rows) <= LONG:
        return table_markdown(table)
    inner = table_markdown(Table("", table.columns, table.rows, table.note))
    summary = html.escape(table.title or "All rows")
    return f"<details><summary>{summary}</summary>\n\n{inner}\n\n</details>"


def table_markdown(table: Table) -> str:
    """Write a table with its title above and its note below."""
    right = [all(map(is_figure, column)) for column in zip(*table.rows, strict=True)]
    right = right or [False] * len(table.columns)
    lines = [
        _row(table.columns),
        "|" + "|".join("--:" if figures else "---" for figures in right) + "|",
        *(_row(map(shown, row)) for row in table.rows),
    ]
    title = [f"**{escaped(table.title)}**", ""] if table.title else []
    note = ["", table.note] if table.note else []
    return "\n".join([*title, *lines, *note])


def goals_table(goals: Iterable[Goal]) -> str:
    """List goals: what was measured, what is asked for, and whether that is held."""
    lines = ["| goal | measured | asked for | |", "|---|--:|--:|---|"]
    for goal in goals:
        verdict = "held" if goal.held else "**missed**"
        cells = (escaped(goal.what), goal_value(goal), bounds(goal), verdict)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Write a text so that Markdown shows it as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()).translate(_TURNS))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"
