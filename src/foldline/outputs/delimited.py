"""Tables of plain text, such as CSV and TSV: the names of the columns, and rows as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from foldline.outputs.condensed import Condensed

DELIMITERS = ",\t;|"
LOOKED_AT, FEWEST = 24, 5
"""Lines that tell whether a text is a table, and lines that make one."""

CATEGORIES, ROWS = 12, 20_000
"""Different values of a column that are counted, and rows up to which that is done."""

HEADER, COUNTS = 1.0, 0.5
"""Worth of the names of the columns, and of what is counted."""


def delimiter(lines: Sequence[str]) -> str:
    """Return what parts the columns of a table, "" where the lines are none."""
    if len(lines) < FEWEST:
        return ""
    for mark in DELIMITERS:
        wanted = lines[0].count(mark)
        if wanted < (1 if mark == "\t" else 2) or not _names(lines[0].split(mark)):
            continue
        looked_at = lines[1 : 1 + LOOKED_AT]
        same = sum(line.count(mark) == wanted for line in looked_at)
        quoted = sum(line.count(mark) > wanted and '"' in line for line in looked_at)
        if same + quoted >= 0.9 * len(looked_at) and same * 2 > len(looked_at):
            return mark
    return ""


def _names(first: Sequence[str]) -> bool:
    """Tell whether the cells of a line can be names of columns."""
    bare = [cell.strip().strip('"') for cell in first]
    return all(len(cell) <= 60 and not cell.replace(".", "").isdigit() for cell in bare) and any(
        bare
    )


def table(lines: Sequence[str], mark: str) -> Condensed:
    """
    Judge the lines of a table.

    Args:
        lines: The names of the columns, and the rows.
        mark: What parts the columns.

    Returns:
        The lines, and one that counts the values of the columns that have few.
    """
    counted = _counted(lines, mark)
    worth = {0: HEADER}
    if counted:
        worth[len(lines)] = COUNTS
        return Condensed("table", (*lines, counted), worth, (0,), notes=1)
    return Condensed("table", tuple(lines), worth, (0,))


def _counted(lines: Sequence[str], mark: str) -> str:
    names = [name.strip().strip('"') for name in lines[0].split(mark)]
    split = [line.split(mark) for line in lines[1 : 1 + ROWS] if '"' not in line]
    rows = [row for row in split if len(row) == len(names)]
    if len(lines) > ROWS or len(rows) < len(lines) - 1:
        return ""
    said = []
    for name, column in zip(names, zip(*rows, strict=True), strict=True):
        if len(set(column[:40])) > CATEGORIES:
            continue
        seen = Counter(column)
        if 1 < len(seen) <= CATEGORIES and len(seen) * 3 <= len(rows):
            said.append(f"{name}: " + ", ".join(f"{v} {n:,}" for v, n in seen.most_common()))
    return f"[{len(rows):,} rows; {'; '.join(said)}]"[:1_200] if said else ""
