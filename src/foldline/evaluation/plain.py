"""A section as plain text: aligned columns, for a terminal and for a pipe."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from foldline.evaluation.cells import bounds, goal_value, is_figure, shown
from foldline.evaluation.sections import Goal, Section, Table

WIDTH = 96
"""Characters in a line of words."""


def as_text(section: Section) -> str:
    """Write a section: its title, its tables, and which goals are held."""
    parts = [section.title, *map(table_text, section.tables)]
    if section.goals:
        parts.append("\n".join(goal_line(goal) for goal in section.goals))
    return "\n\n".join(parts) + "\n"


def table_text(table: Table) -> str:
    """Write a table; columns of figures stand to the right."""
    rows = [table.columns, *(tuple(map(shown, row)) for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = [all(map(is_figure, column)) for column in zip(*table.rows, strict=True)]
    right = right or [False] * len(widths)
    lines = [_line(row, widths, right) for row in rows]
    head = [table.title] if table.title else []
    note = textwrap.wrap(table.note, WIDTH) if table.note else []
    return "\n".join([*head, *lines, *note])


def _line(row: Iterable[str], widths: list[int], right: list[bool]) -> str:
    cells = zip(row, widths, right, strict=True)
    return "  ".join(c.rjust(w) if figures else c.ljust(w) for c, w, figures in cells).rstrip()


def goal_line(goal: Goal) -> str:
    """Write a goal in one line: whether it is held, what was measured, and what is asked for."""
    verdict = "held  " if goal.held else "missed"
    return f"{verdict} {goal.what}: {goal_value(goal)} (goal {bounds(goal)})"
