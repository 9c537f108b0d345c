"""Figures as people read them: three digits that mean something, and no more."""

from __future__ import annotations

import math

from foldline.evaluation.sections import Cell, Goal

NOTHING = "–"
"""What stands for a figure that could not be taken."""


def shown(cell: Cell) -> str:
    """Write a cell: ``1,234``, ``0.931``, ``12.4``, ``–``; a text stays as it is."""
    if cell is None:
        return NOTHING
    if isinstance(cell, bool) or not isinstance(cell, (int, float)):
        return str(cell)
    if isinstance(cell, int):
        return f"{cell:,}"
    if not math.isfinite(cell):
        return NOTHING
    if abs(cell) < 1:
        return f"{cell:.3f}"
    digits = 2 if abs(cell) < 10 else 1 if abs(cell) < 100 else 0
    return f"{cell:,.{digits}f}"


def goal_value(goal: Goal) -> str:
    """Write what was measured for a goal, with its unit; a count stays a whole number."""
    value = goal.value
    whole = math.isfinite(value) and float(value).is_integer()
    unit = f" {goal.unit}" if goal.unit else ""
    return f"{shown(int(value) if whole else value)}{unit}"


def is_figure(cell: Cell) -> bool:
    """Tell whether a cell belongs to a column of figures, which stand to the right."""
    if isinstance(cell, str):
        return cell.lstrip("<>≤≥±$−-").replace(",", "")[:1].isdigit() or cell in ("", NOTHING)
    return True


def bounds(goal: Goal) -> str:
    """Write what a goal asks for: ``≤ 60 ms/MB``, ``0.9 to 1``."""
    unit = f" {goal.unit}" if goal.unit else ""
    match goal.least, goal.most:
        case None, None:
            return "any"
        case None, most:
            return f"≤ {most:g}{unit}"
        case least, None:
            return f"≥ {least:g}{unit}"
        case least, most:
            return f"{least:g} to {most:g}{unit}"
