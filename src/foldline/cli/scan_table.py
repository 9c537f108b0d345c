"""The table of ``foldline scan``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from foldline.cli.agent_homes import homes
from foldline.cli.output import (
    Voice,
    console,
    counted,
    flexible,
    moment,
    one_line,
    share,
    size,
    table,
)

if TYPE_CHECKING:
    from foldline.cli.scan import Findings
    from foldline.cli.survey import Surveyed

MAX_TROUBLE = 5
"""How many places that could not be read are named."""


def show(findings: Findings, folder: Path | None, voice: Voice) -> None:
    """Print the sessions, their sum, and what could not be read."""
    if findings.sessions:
        _show_table(findings)
    else:
        voice.note(_nothing(findings, folder))
    if findings.left:
        voice.note(
            f"{counted(len(findings.left), 'file')} not measured; "
            "--limit and --seconds allow more."
        )
    if findings.others:
        voice.note(f"{counted(findings.others, 'other file')} held no conversation.")
    for trouble in findings.trouble[:MAX_TROUBLE]:
        voice.note(f"skipped {trouble.path}: {trouble.why}")
    if len(findings.trouble) > MAX_TROUBLE:
        voice.note(f"skipped {len(findings.trouble) - MAX_TROUBLE:,} more; --json names them all.")


def _show_table(findings: Findings) -> None:
    screen = console()
    wide = screen.width >= 100
    sizes = (">size", ">messages") if wide else ()
    dated = ("changed",) if screen.width >= 56 else ()
    grid = table("agent", "*session", *dated, *sizes, ">tokens", ">after", ">saved")
    for session in findings.sessions:
        sized = (size(session.found.size), f"{session.messages:,}") if wide else ()
        grid.add_row(
            one_line(session.agent, 16),
            flexible(_place(session)),
            *(f"{moment(session.found.changed).astimezone():%m-%d %H:%M}" for _ in dated),
            *sized,
            f"{session.tokens:,}",
            f"{session.after:,}",
            _saved(session),
        )
    screen.print(grid)
    before = sum(session.tokens for session in findings.sessions)
    after = sum(session.after for session in findings.sessions)
    goal = f"a window of {findings.goal.text}" if findings.window else findings.goal.text
    screen.print(
        f"\n{counted(len(findings.sessions), 'session')}: {before:,} tokens, "
        f"{after:,} when compacted to {goal}: {share(before - after, before)} saved."
    )


def _saved(session: Surveyed) -> str:
    if session.status == "compacted":
        return share(session.saved, session.tokens)
    return "cannot" if session.status == "failed" else "fits"


def _place(session: Surveyed) -> str:
    """Name a session by the end of its project's folder and its file."""
    return f"{Path(session.project).name or session.project}/{session.found.path.name}"


def _nothing(findings: Findings, folder: Path | None) -> str:
    if folder is not None:
        return f"No agent session was found in {folder}."
    looked = ", ".join(str(home.folder) for home in homes())
    hint = "" if findings.trouble else " 'foldline scan DIR' looks elsewhere."
    return f"No agent session was found; looked in {looked}.{hint}"
