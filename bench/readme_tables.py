"""The tables of the README about costs, counting and speed, out of the figures of the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foldline.evaluation.rendering import table_markdown
from foldline.evaluation.sections import Cell, ReportSection, ReportTable

POLICIES = {
    "no compaction": "no compaction",
    "clear at every step": "clear tool results at every step",
    "Foldline clear": "Foldline, clear",
    "Foldline": "Foldline",
    "Foldline, economy off": "Foldline, economy off",
    "Foldline in 32,000": "Foldline, working in 32,000",
}
VOCABULARIES = {
    "o200k": "o200k",
    "cl100k": "cl100k",
    "llama": "Llama 3",
    "deepseek": "DeepSeek",
    "qwen": "Qwen",
    "gemma": "Gemma",
}
ERRORS = (
    ("one text, median error", "One text, median of the error", "all kinds"),
    ("one text, 95th percentile", "One text, 95th", "all kinds"),
    ("twenty texts together, 95th percentile", "20 texts together", "all kinds"),
    ("Chinese, one text, 95th percentile", "One text, 95th", "chinese"),
    ("Japanese, one text, 95th percentile", "One text, 95th", "japanese"),
    ("Korean, one text, 95th percentile", "One text, 95th", "korean"),
)
"""What the row is called, how the title of its table begins, and which row of it is meant."""

SPEEDS = (
    ("cold compaction to a tenth, no model, counting included", "cold compaction", ""),
    (
        "a warm session: append a message and decide, p99",
        "append and decide",
        "process, p99",
    ),
    ("the same with an fsync each", "append and decide", "full, p99"),
    ("the same at 10,000 messages, against 100", "cost at 10,000", "process"),
    ("session memory put in place, 1,000 to 10,000 messages", "compaction by session memory", ""),
    ("peak memory, against the transcript", "peak memory", ""),
    ("import foldline, over a bare interpreter", "import foldline", ""),
    ("foldline --version, over a bare interpreter", "foldline --version", ""),
    ("counting tokens, vocabulary and estimate", "counting tokens", ""),
)
"""What the row is called, how the rows of the page that it sums up begin, and how they end."""


def costs(section: ReportSection) -> str:
    """Return prices, and what was in view of what was needed, for both windows."""
    small, large = (_by_name(table) for table in section.tables[:2])
    rows = tuple(
        (shown, *small[name][::2], *large[name][::2])
        for name, shown in POLICIES.items()
        if name in small and name in large
    )
    heads = ("", "window of 64,000", "needed, in view", "window of 200,000", "needed, in view")
    table = table_markdown(ReportTable("", heads, tuple(map(_priced, rows))))
    first = section.text.replace("\n", " ").partition(". ")[0]
    return f"{table}\n\n{first}; the prices are US dollars of claude-sonnet-4-5."


def _by_name(table: ReportTable) -> dict[str, tuple[Cell, ...]]:
    """Return price, share and need of every row."""
    wanted = [table.columns.index(name) for name in ("price", "of none", "needed")]
    return {str(row[0]): tuple(row[at] for at in wanted) for row in table.rows}


def _priced(row: tuple[Cell, ...]) -> tuple[Cell, ...]:
    return tuple(
        f"${cell:.2f}" if at in (1, 3) and isinstance(cell, float) else cell
        for at, cell in enumerate(row)
    )


def counting(section: ReportSection) -> str:
    """Return how far the estimate is from real vocabularies."""
    rows = []
    for shown, title, kind in ERRORS:
        table = next(table for table in section.tables if table.title.startswith(title))
        row = next(row for row in table.rows if row[0] == kind)
        cells = dict(zip(table.columns, row, strict=True))
        rows.append((shown, *(f"{cells[name]:.1f} %" for name in VOCABULARIES)))
    heads = ("estimate against the real vocabulary", *VOCABULARIES.values())
    worst = next(table for table in section.tables if table.title.startswith("One text, 95th"))
    return (
        table_markdown(ReportTable("", heads, tuple(rows)))
        + f"\n\nThe worst, as the 95th percentile of one text in any vocabulary: {_worst(worst)}."
    )


def _worst(table: ReportTable) -> str:
    errors = sorted(((max(row[1:]), row[0]) for row in table.rows), reverse=True)
    return ", ".join(f"{kind} by {error:.0f} %" for error, kind in errors[:3])


def speed(section: ReportSection) -> str:
    """Return what takes how long; rows of the page that differ in size only become a range."""
    found = [row for table in section.tables for row in table.rows]
    rows = tuple(
        row for shown, begin, end in SPEEDS for row in _summed(shown, _between(found, begin, end))
    )
    return table_markdown(ReportTable("", ("", "measured", "goal"), rows))


def _between(rows: Sequence[tuple[Cell, ...]], begin: str, end: str) -> list[tuple[Cell, ...]]:
    return [row for row in rows if str(row[0]).startswith(begin) and str(row[0]).endswith(end)]


def _summed(shown: str, rows: Sequence[tuple[Cell, ...]]) -> Iterator[tuple[Cell, ...]]:
    if not rows:
        return
    values = sorted(float(row[1]) for row in rows)  # type: ignore[arg-type]
    unit, goal = rows[0][2], rows[0][3]
    low, high = f"{values[0]:,.3g}", f"{values[-1]:,.3g}"
    if values[-1] >= 1_000:
        high = f"{values[-1]:,.0f}"
    measured = low if low == high else f"{low} to {high}"
    yield shown, f"{measured} {unit}", "" if goal is None else f"{goal} {unit}"
