"""The benchmark section of the README, written from what was measured."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from foldline.evaluation.markdown import picture, table_markdown
from foldline.evaluation.sections import Cell, Section, Table

BEGIN, END = "<!-- figures: make bench -->", "<!-- end of figures -->"
OURS = "Foldline"
PLOTS = ("facts",)
REFERENCES = ("a sketch of statements", "clear tool results", "trim to the tail")
TRIAL = "These figures are of a quick trial on a few sessions, not of a full run."
FITTED = (
    "Foldline's constants were chosen on these very facts, those of the others were not: expect "
    "less on sessions that it has not seen."
)
MEAN = re.compile(r"\d\.\d+")


def put_into_readme(readme: Path, sections: Sequence[Section], *, trial: bool) -> None:
    """Replace what stands between the two marks; without marks nothing happens."""
    text = readme.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        print(f"{readme.name} has no place for figures: {BEGIN} … {END}", file=sys.stderr)
        return
    readme.write_text(
        f"{before}{BEGIN}\n{figures(sections, trial=trial)}\n{END}{after}", encoding="utf-8"
    )


def figures(sections: Sequence[Section], *, trial: bool) -> str:
    """Return the figures that the README shows: one plot, one table, the goals in a sentence."""
    plots = [plot for section in sections for plot in section.plots if plot.name in PLOTS]
    parts = [picture(plot, "docs/benchmarks") for plot in plots]
    parts += [_kept(section) for section in sections if section.name == "facts"]
    goals = [goal for section in sections for goal in section.goals]
    held = sum(goal.held for goal in goals)
    parts += [TRIAL] if trial else []
    parts += [FITTED] if any(section.name == "facts" for section in sections) else []
    parts.append(
        f"{held} of {len(goals)} goals are held: [docs/benchmarks.md](docs/benchmarks.md) has "
        "them all, with intervals, versions, and what was called."
    )
    return "\n\n".join(parts)


def _kept(section: Section) -> str:
    """Return what is kept: ours, the best library of every column, and what most agents do."""
    table = section.tables[0]
    rows = {str(row[0]): tuple(map(_mean, row[1:])) for row in table.rows}
    others = {
        name: rows[name] for name in rows.keys() & _libraries(section) if not name.startswith(OURS)
    }
    best = [("the best other library", *_best(others))] if others else []
    kept = [(name, *rows[name]) for name in (OURS, *REFERENCES) if name in rows]
    return table_markdown(Table("", table.columns, (*kept[:1], *best, *kept[1:])))


def _best(rows: Mapping[str, tuple[Cell, ...]]) -> Iterator[Cell]:
    """Yield the best of every column, with the name of whose it is."""
    for place in range(len(next(iter(rows.values())))):
        name = max(sorted(rows), key=lambda name: str(rows[name][place]))
        yield f"{rows[name][place]} ({name})"


def _libraries(section: Section) -> set[str]:
    """Name the libraries that were measured, beside strategies that are no library's."""
    tables = [table for table in section.tables if table.columns[:2] == ("library", "version")]
    return {str(row[0]) for table in tables for row in table.rows}


def _mean(cell: Cell) -> Cell:
    found = MEAN.match(str(cell))
    return f"{float(found[0]):.2f}" if found else cell
