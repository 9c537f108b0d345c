"""Results of a measurement: tables, plots as numbers, and goals; as text and Markdown."""

from __future__ import annotations

import html
import math
import re
import textwrap
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Literal, TypeAlias, TypeVar

from foldline.errors import InputError
from foldline.frozen import frozen

Cell: TypeAlias = str | float | int | None
Kind: TypeAlias = Literal["bars", "lines"]

_Part = TypeVar("_Part")


@frozen
class ReportTable:
    """
    Rows of figures under their headings; None is a missing figure.

    ``note`` goes below the table: the meaning and units of the columns.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise InputError(
                    f"row {number} of the table {self.title!r} has {len(row)} cells "
                    f"for {len(self.columns)} columns"
                )


@frozen
class Series:
    """
    One line or one colour of bars: points as (x, y).

    ``low`` and ``high`` are the ends of an interval around every y, or empty. If bars have
    labels, x is the position of the label.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.low) != len(self.high) or len(self.low) not in (0, len(self.points)):
            raise InputError(
                f"the series {self.name!r} has {len(self.points)} points, but intervals of "
                f"{len(self.low)} low and {len(self.high)} high ends"
            )


@frozen
class Plot:
    """
    A plot as numbers.

    ``name`` is the stem of its file. ``x`` and ``y`` are the axis labels, with units.
    ``labels`` name the groups of bars; ``goal`` is a level of y to reach.
    """

    name: str
    title: str
    kind: Kind
    x: str
    y: str
    series: tuple[Series, ...]
    labels: tuple[str, ...] = ()
    log_x: bool = False
    log_y: bool = False
    goal: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("bars", "lines"):
            raise InputError(f"a plot has bars or lines, not {self.kind!r:.40}")


@frozen
class Goal:
    """A measured value and its bounds: at most ``most``, at least ``least``."""

    what: str
    value: float
    unit: str
    most: float | None = None
    least: float | None = None

    @property
    def held(self) -> bool:
        """Whether the value is within its bounds; NaN never is."""
        if math.isnan(self.value):
            return False
        above = self.least is None or self.value >= self.least
        return above and (self.most is None or self.value <= self.most)


@frozen
class ReportSection:
    """The results of one measurement."""

    name: str
    title: str
    text: str
    tables: tuple[ReportTable, ...] = ()
    plots: tuple[Plot, ...] = ()
    goals: tuple[Goal, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the section as JSON values; a figure that is not a number becomes None."""
        found: dict[str, Any] = _plain(asdict(self))
        return found


def _plain(value: Any) -> Any:
    """Return a value without tuples, and without numbers that JSON lacks."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


NOTHING = "–"
"""The sign for a missing figure."""


def format_cell(cell: Cell) -> str:
    """Write a cell: ``1,234``, ``0.931``, ``12.4``, ``–``; text is unchanged."""
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
    """Write the measured value of a goal, with its unit; a count stays a whole number."""
    value = goal.value
    whole = math.isfinite(value) and float(value).is_integer()
    unit = f" {goal.unit}" if goal.unit else ""
    return f"{format_cell(int(value) if whole else value)}{unit}"


def is_figure(cell: Cell) -> bool:
    """Return True if a cell may be in a column of figures, which is right-aligned."""
    if isinstance(cell, str):
        return cell.lstrip("<>≤≥±$−-").replace(",", "")[:1].isdigit() or cell in ("", NOTHING)
    return True


def _figure_columns(table: ReportTable) -> list[bool]:
    """Return for every column whether it holds figures; without rows, none does."""
    columns = zip(*table.rows, strict=True)
    return [all(map(is_figure, one)) for one in columns] or [False] * len(table.columns)


def bounds(goal: Goal) -> str:
    """Write the bounds of a goal: ``≤ 60 ms/MB``, ``0.9 to 1``."""
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


WIDTH = 96
"""Characters per line of text."""


def as_text(section: ReportSection) -> str:
    """Write a section: its title, its tables, and whether each goal is met."""
    parts = [section.title, *map(table_text, section.tables)]
    if section.goals:
        parts.append("\n".join(goal_line(goal) for goal in section.goals))
    return "\n\n".join(parts) + "\n"


def table_text(table: ReportTable) -> str:
    """Write a table; columns of figures are right-aligned."""
    rows = [table.columns, *(tuple(map(format_cell, row)) for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = _figure_columns(table)
    lines = [_line(row, widths, right) for row in rows]
    head = [table.title] if table.title else []
    note = textwrap.wrap(table.note, WIDTH) if table.note else []
    return "\n".join([*head, *lines, *note])


def _line(row: Iterable[str], widths: list[int], right: list[bool]) -> str:
    cells = zip(row, widths, right, strict=True)
    return "  ".join(c.rjust(w) if figures else c.ljust(w) for c, w, figures in cells).rstrip()


def goal_line(goal: Goal) -> str:
    """Write a goal in one line: whether it is met, the measured value, and the bounds."""
    verdict = "held  " if goal.held else "missed"
    return f"{verdict} {goal.what}: {goal_value(goal)} (goal {bounds(goal)})"


LONG = 24
"""Number of rows beyond which a table is collapsed."""

_SPECIAL = re.compile(r"([\\|<>*_`\[\]])")
_TURNS = dict.fromkeys((*range(32), 127, *range(8234, 8239), *range(8294, 8298)))


def as_markdown(section: ReportSection, pictures: str = "") -> str:
    """
    Write a section.

    Args:
        section: The section; its ``text`` and the notes of its tables are Markdown already.
        pictures: The folder of the plots, relative to the text; "" for none.
    """
    parts = [f"## {escape(section.title)}", section.text.strip()]
    if pictures:
        parts += [picture(plot, pictures) for plot in section.plots]
    parts += [_fold(table) for table in section.tables]
    if section.goals:
        parts.append(goals_table(section.goals))
    return "\n\n".join(part for part in parts if part) + "\n"


def picture(plot: Plot, folder: str) -> str:
    """Write a plot that follows the page's colour scheme; its title is the alternative text."""
    return f"![{escape(plot.title)}]({folder.rstrip('/')}/{plot.name}.svg)"


def _fold(table: ReportTable) -> str:
    """Write a table; a long one is collapsed."""
    if len(table.rows) <= LONG:
        return table_markdown(table)
    inner = table_markdown(ReportTable("", table.columns, table.rows, table.note))
    summary = html.escape(table.title or "All rows")
    return f"<details><summary>{summary}</summary>\n\n{inner}\n\n</details>"


def table_markdown(table: ReportTable) -> str:
    """Write a table with its title above and its note below."""
    right = _figure_columns(table)
    lines = [
        _row(table.columns),
        "|" + "|".join("--:" if figures else "---" for figures in right) + "|",
        *(_row(map(format_cell, row)) for row in table.rows),
    ]
    title = [f"**{escape(table.title)}**", ""] if table.title else []
    note = ["", table.note] if table.note else []
    return "\n".join([*title, *lines, *note])


def goals_table(goals: Iterable[Goal]) -> str:
    """List goals: the measured value, the bounds, and whether they are met."""
    lines = ["| goal | measured | target | |", "|---|--:|--:|---|"]
    for goal in goals:
        verdict = "held" if goal.held else "**missed**"
        cells = (escape(goal.what), goal_value(goal), bounds(goal), verdict)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def escape(text: str) -> str:
    """Escape a text so that Markdown shows it literally, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()).translate(_TURNS))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(escape, cells))} |"
