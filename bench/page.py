"""Write the page of the whole bench: a summary on one screen, then every part."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import foldline
from foldline.evaluation.report import write_pictures
from foldline.evaluation.sections import ReportSection, as_markdown, escape, goals_table, picture
from plots import draw_plot

FIRST_PLOT = "facts"
OPENING = """\
`make bench` measures Foldline and its peers on the same data in one run and writes this page.
`foldline bench` measures your own sessions, without the benchmarks that need a reader."""
FOLDER = "benchmarks"


@dataclass(frozen=True, slots=True)
class Ran:
    """The run of a part: its seconds, and the problem, if any."""

    part: str
    seconds: float
    problem: str = ""


def machine() -> dict[str, str]:
    """Describe the machine and the date of a measurement."""
    return {
        "machine": f"{processor()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "foldline": foldline.__version__,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def processor() -> str:
    """Return the name of the processor, if the system reports it."""
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        cpuinfo = ""
    found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return " ".join(found[1].split()) if found else platform.machine() or "unknown processor"


def page(sections: Sequence[ReportSection], record: Mapping[str, Mapping[str, str]]) -> str:
    """Write the page."""
    goals = [goal for section in sections for goal in section.goals]
    held = sum(goal.held for goal in goals)
    first = [plot for section in sections for plot in section.plots if plot.name == FIRST_PLOT]
    parts = [
        "# Benchmarks",
        OPENING,
        "## In short",
        f"{held} of {len(goals)} goals are held.",
        *([goals_table(goals)] if goals else []),
        *(picture(plot, FOLDER) for plot in first),
        "\n".join(f"- [{escape(s.title)}](#{anchor(s.title)})" for s in sections),
        *(as_markdown(_without(section, FIRST_PLOT), FOLDER).strip() for section in sections),
        "## How it was measured",
        _measured(record),
    ]
    return "\n\n".join(parts) + "\n"


def _without(section: ReportSection, plot: str) -> ReportSection:
    """Return a section without the plot at the top of the page."""
    kept = tuple(one for one in section.plots if one.name != plot)
    return ReportSection(
        section.name, section.title, section.text, section.tables, kept, section.goals
    )


def anchor(title: str) -> str:
    """Return the anchor that code forges give a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _measured(record: Mapping[str, Mapping[str, str]]) -> str:
    lines = ["| command | date | machine | Python | seconds | |", "|---|---|---|---|--:|---|"]
    for part, how in record.items():
        where = escape(how["machine"])
        problem = escape(how["problem"]) if how["problem"] else "done"
        cells = (
            f"`{how['command']} --only {part}`",
            how["date"],
            where,
            how["python"],
            how["seconds"],
            problem,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def write(target: Path, text: str, sections: Sequence[ReportSection]) -> None:
    """Write the page and its plots; remove outdated plots of earlier runs."""
    folder = target / FOLDER
    names = {f"{plot.name}.svg" for section in sections for plot in section.plots}
    if write_pictures(folder, sections, draw_plot):
        for old in folder.glob("*.svg"):
            if old.name not in names:
                old.unlink()
    (target / "benchmarks.md").write_text(text, encoding="utf-8")
