"""The benchmark section of the README, generated from the measurements."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from foldline.evaluation.sections import Cell, ReportSection, ReportTable, picture, table_markdown

BEGIN, END = "<!-- figures: make bench -->", "<!-- end of figures -->"

OURS = "Foldline"
PLOTS = ("facts",)
REFERENCES = ("a sketch of statements", "clear tool results", "trim to the tail")
TRIAL = "These figures are of a quick trial on a few sessions, not of a full run."
FITTED = (
    "Foldline's constants were chosen on these very facts, those of the others were not: expect "
    "less on unseen sessions."
)
EXAM = (
    "A reader sees only a session shortened to {share}, and answers questions about what is "
    "needed to continue the work. The share of questions answered, best first:"
)
LOWER_BOUND = (
    "The same facts, without a reader: those that one passage of the shortened history still "
    "states, a lower bound."
)
SHARE = "10 %"
MEAN = re.compile(r"\d\.\d+")


def put_into_readme(readme: Path, sections: Sequence[ReportSection], *, trial: bool) -> None:
    """Replace the text between the marks; a README without marks is unchanged."""
    text = _put(readme.read_text(encoding="utf-8"), BEGIN, figures(sections, trial=trial))
    readme.write_text(text, encoding="utf-8")


def _put(text: str, mark: str, shown: str) -> str:
    before, found, rest = text.partition(mark)
    _, end, after = rest.partition(END)
    if not (found and end):
        print(f"The README has no place for figures: {mark} … {END}", file=sys.stderr)
        return text
    return f"{before}{mark}\n{shown}\n{END}{after}"


def figures(sections: Sequence[ReportSection], *, trial: bool) -> str:
    """Return the README section: the exam, the facts with a plot, the goals in a sentence."""
    parts = [part for section in sections if section.name == "exam" for part in _exam(section)]
    plots = [plot for section in sections for plot in section.plots if plot.name in PLOTS]
    parts += [LOWER_BOUND] if plots else []
    parts += [picture(plot, "docs/benchmarks") for plot in plots]
    parts += [_kept(section) for section in sections if section.name == "facts"]
    goals = [goal for section in sections for goal in section.goals]
    held = sum(goal.held for goal in goals)
    parts += [TRIAL] if trial else []
    parts += [FITTED] if any(section.name == "facts" for section in sections) else []
    parts.append(
        f"{held} of {len(goals)} goals are held: [docs/benchmarks.md](docs/benchmarks.md) has "
        "all of them, with intervals, versions, and calls."
    )
    return "\n\n".join(parts)


def _exam(section: ReportSection) -> Iterator[str]:
    """Yield the exam results at one share of the tokens, best first."""
    rows = [(row[1], row[2]) for row in section.tables[0].rows if row[0] == SHARE]
    ordered = sorted(rows, key=lambda row: str(row[1]), reverse=True)
    yield EXAM.format(share=SHARE)
    yield table_markdown(ReportTable("", ("input of the reader", "answered"), tuple(ordered)))


def _kept(section: ReportSection) -> str:
    """Return the kept facts of Foldline, the best library per column, and the references."""
    table = section.tables[0]
    rows = {str(row[0]): tuple(map(_mean, row[1:])) for row in table.rows}
    others = {
        name: rows[name] for name in rows.keys() & _libraries(section) if not name.startswith(OURS)
    }
    best = [("the best other library", *_best(others))] if others else []
    kept = [(name, *rows[name]) for name in (OURS, *REFERENCES) if name in rows]
    return table_markdown(ReportTable("", table.columns, (*kept[:1], *best, *kept[1:])))


def _best(rows: Mapping[str, tuple[Cell, ...]]) -> Iterator[Cell]:
    """Yield the best of every column, with its name."""
    for place in range(len(next(iter(rows.values())))):
        name = max(sorted(rows), key=lambda name: str(rows[name][place]))
        yield f"{rows[name][place]} ({name})"


def _libraries(section: ReportSection) -> set[str]:
    """Return the measured libraries, without the reference methods."""
    tables = [table for table in section.tables if table.columns[:2] == ("library", "version")]
    return {str(row[0]) for table in tables for row in table.rows}


def _mean(cell: Cell) -> Cell:
    found = MEAN.match(str(cell))
    return f"{float(found[0]):.2f}" if found else cell
