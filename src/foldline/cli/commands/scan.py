"""``foldline scan``: the agent sessions on this machine, and what compaction would save."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click

from foldline.app import compact_transcript
from foldline.cli import options
from foldline.cli.agent_sessions import SessionFile, UnreadableFile, homes, in_folder, in_home
from foldline.cli.option_types import BUDGET, WINDOW, IntegerType
from foldline.cli.output import (
    Output,
    console,
    flexible,
    moment,
    one_line,
    plural,
    share,
    size,
    table,
    write_json,
)
from foldline.cli.policy_options import build_policy
from foldline.cli.reading import counter_for
from foldline.core.budget import Budget
from foldline.core.config import Config
from foldline.core.errors import BudgetError, FoldlineError, InputError, UnknownFormat
from foldline.core.strategy import Policy
from foldline.core.token_amounts import Amount
from foldline.formats.files import read_file
from foldline.settings import load

DEFAULT_GOAL: Final = Amount("20%", share=0.2)
MAX_SIZE: Final = 128_000_000
"""Largest file that a scan measures, in bytes."""

EPILOG = """\b
Examples:
  foldline scan
  foldline scan ~/logs --limit 50 --sort saved
  foldline scan --window 200k --json

\b
Without DIR: Claude Code (CLAUDE_CONFIG_DIR), Codex (CODEX_HOME), pi
(PI_CODING_AGENT_DIR) and Gemini CLI (GEMINI_CLI_HOME) sessions. Nothing is changed or sent.
"""


@dataclass(slots=True)
class ScanResult:
    """What a scan has found so far; ``others`` counts files that are no session."""

    goal: Amount
    window: bool
    sessions: list[MeasuredSession] = field(default_factory=list)
    left: list[SessionFile] = field(default_factory=list)
    trouble: list[UnreadableFile] = field(default_factory=list)
    others: int = 0


_KEYS: dict[str, Callable[[MeasuredSession], float]] = {
    "newest": lambda session: -session.found.changed,
    "biggest": lambda session: -session.tokens,
    "saved": lambda session: -session.saved,
}


@click.command("scan", epilog=EPILOG, short_help="Find agent sessions, and what could be saved.")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--budget", metavar="N", type=BUDGET, help="Compact to: 8k, or 20% of each (20%).")
@click.option("--window", metavar="N", type=WINDOW, help="Or for a window: 200k.")
@options.policy
@click.option("--limit", type=IntegerType(1, 100_000), default=20, help="Sessions (20).")
@click.option(
    "--sort",
    type=click.Choice(tuple(_KEYS)),
    default="newest",
    help="Order; 'biggest' takes the largest files first (newest).",
)
@click.option("--seconds", type=IntegerType(1, 3_600), default=60, help="Time to take (60).")
@options.voice
def command(
    folder: Path | None,
    budget: Amount | None,
    window: Amount | None,
    policy: str | None,
    limit: int,
    sort: str,
    seconds: int,
    **rest: Any,
) -> None:
    """
    Find the sessions of coding agents, and show what compaction would save.

    Looks where agents keep their sessions, or in DIR and everything below it.
    """
    voice = options.voiced(rest)
    if budget is not None and window is not None:
        raise click.UsageError("Give --budget or --window, not both.", click.get_current_context())
    config = load().config
    rungs = build_policy(policy, (), config)
    findings = ScanResult(window or budget or DEFAULT_GOAL, window is not None)
    candidates = _candidates(folder, findings, biggest=sort != "newest")
    findings.left = candidates[limit:]
    deadline = time.monotonic() + seconds
    for found in _shown(candidates[:limit], voice):
        if time.monotonic() > deadline:
            findings.left.append(found)
            continue
        _measure(
            found,
            findings,
            lambda f: measure_session(f, findings.goal, rungs, config, window=bool(window)),
        )
    findings.sessions.sort(key=_KEYS[sort])
    if voice.json:
        write_json("scan/1", _as_json(findings))
        return

    show(findings, folder, voice)


def _candidates(folder: Path | None, findings: ScanResult, *, biggest: bool) -> list[SessionFile]:
    """List the files that may be sessions, in the order in which they are worth measuring."""
    places: Iterable[SessionFile | UnreadableFile]
    if folder is None:
        places = (found for home in homes() if home.folder.is_dir() for found in in_home(home))
    elif folder.is_dir():
        places = in_folder(folder)
    else:
        raise InputError(f"{folder} is no folder", hint="'foldline stats' is for one file.")
    found = []
    for place in places:
        if isinstance(place, UnreadableFile):
            findings.trouble.append(place)
        else:
            found.append(place)
    return sorted(found, key=lambda c: -c.size if biggest else -c.changed)


def _measure(
    found: SessionFile, findings: ScanResult, measure: Callable[[SessionFile], MeasuredSession]
) -> None:
    """Measure a session; one that cannot be read is reported and never ends a scan."""
    if found.size > MAX_SIZE:
        findings.trouble.append(UnreadableFile(found.path, "too large to measure in a scan"))
        return
    try:
        findings.sessions.append(measure(found))
    except UnknownFormat as error:
        if found.agent:
            findings.trouble.append(UnreadableFile(found.path, error.message))
        else:
            findings.others += 1
    except FoldlineError as error:
        findings.trouble.append(UnreadableFile(found.path, error.message))


def _shown(candidates: list[SessionFile], voice: Output) -> Iterator[SessionFile]:
    """Go through the candidates, with a progress bar on a terminal."""
    if not (voice.talks and sys.stderr.isatty() and len(candidates) > 1):
        yield from candidates
        return
    from rich.progress import Progress

    from foldline.cli.output import console

    with Progress(console=console(err=True), transient=True) as progress:
        yield from progress.track(candidates, description="Measuring sessions")


def _as_json(findings: ScanResult) -> dict[str, Any]:
    return {
        "goal": {"window" if findings.window else "budget": findings.goal.text},
        "sessions": [_row(session) for session in findings.sessions],
        "not_measured": len(findings.left),
        "others": findings.others,
        "trouble": [{"path": str(t.path), "why": t.why} for t in findings.trouble],
    }


def _row(session: MeasuredSession) -> dict[str, Any]:
    return {
        "path": str(session.found.path),
        "agent": session.agent,
        "project": session.project,
        "changed": moment(session.found.changed).isoformat(),
        "bytes": session.found.size,
        "messages": session.messages,
        "tokens": session.tokens,
        "tokens_after": session.after,
        "saved": session.saved,
        "status": session.status,
    }


HEAD: Final = 64 * 1024
"""Bytes at the beginning of a file in which the folder of its project is looked for."""

_FOLDER: Final = re.compile(r'"cwd"\s*:\s*("(?:[^"\\]|\\.){1,400}")')


@dataclass(frozen=True, slots=True)
class MeasuredSession:
    """
    A session with its size.

    ``tokens`` is what its current conversation takes, ``after`` what it would take compacted.
    """

    found: SessionFile
    agent: str
    project: str
    messages: int
    tokens: int
    after: int
    status: str

    @property
    def saved(self) -> int:
        """Tokens that compaction would save."""
        return self.tokens - self.after


def measure_session(
    found: SessionFile,
    goal: Amount,
    policy: Policy,
    config: Config | None = None,
    *,
    window: bool,
) -> MeasuredSession:
    """
    Read a session and compact it, in memory only.

    Args:
        found: The file.
        goal: The budget, or the window.
        policy: How to compact.
        config: The thresholds, and what may be spent.
        window: Whether ``goal`` is the window.

    Raises:
        InputError: It cannot be read.
    """
    recording = read_file(found.path)
    there = recording.current.transcript
    counter = counter_for(there, None)
    tokens = counter.messages(there.messages)
    after, status = tokens, "unchanged"
    try:
        overhead = counter.overhead(there.system, there.tools) if window else 0
        budget = (
            (config or Config()).budget(goal.tokens, overhead=overhead)
            if window
            else Budget.of_tokens(goal.of(tokens))
        )
        receipt = compact_transcript(there, counter, budget, policy, config=config).receipt
        status = receipt.status
        after = receipt.tokens_after if status == "compacted" else tokens
    except BudgetError:
        status = "failed"
    agent = recording.format
    return MeasuredSession(
        found, agent, project(found), len(there.messages), tokens, after, status
    )


def project(found: SessionFile) -> str:
    """Return the folder that a session says it worked in, else the folder that the file is in."""
    try:
        with found.path.open("rb") as file:
            head = file.read(HEAD).decode("utf-8", "replace")
    except OSError:
        head = ""
    match = _FOLDER.search(head)
    if match:
        try:
            return str(json.loads(match[1]))
        except ValueError:
            pass
    return str(found.path.parent)


MAX_TROUBLE = 5
"""How many places that could not be read are named."""


def show(findings: ScanResult, folder: Path | None, voice: Output) -> None:
    """Print the sessions, their sum, and what could not be read."""
    if findings.sessions:
        _show_table(findings)
    else:
        voice.note(_nothing(findings, folder))
    if findings.left:
        voice.note(
            f"{plural(len(findings.left), 'file')} not measured; --limit and --seconds allow more."
        )
    if findings.others:
        voice.note(f"{plural(findings.others, 'other file')} held no conversation.")
    for trouble in findings.trouble[:MAX_TROUBLE]:
        voice.note(f"skipped {trouble.path}: {trouble.why}")
    if len(findings.trouble) > MAX_TROUBLE:
        voice.note(f"skipped {len(findings.trouble) - MAX_TROUBLE:,} more; --json names them all.")


def _show_table(findings: ScanResult) -> None:
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
        f"\n{plural(len(findings.sessions), 'session')}: {before:,} tokens, "
        f"{after:,} when compacted to {goal}: {share(before - after, before)} saved."
    )


def _saved(session: MeasuredSession) -> str:
    if session.status == "compacted":
        return share(session.saved, session.tokens)
    return "cannot" if session.status == "failed" else "fits"


def _place(session: MeasuredSession) -> str:
    """Name a session by the end of its project's folder and its file."""
    return f"{Path(session.project).name or session.project}/{session.found.path.name}"


def _nothing(findings: ScanResult, folder: Path | None) -> str:
    if folder is not None:
        return f"No agent session was found in {folder}."
    looked = ", ".join(str(home.folder) for home in homes())
    hint = "" if findings.trouble else " 'foldline scan DIR' looks elsewhere."
    return f"No agent session was found; looked in {looked}.{hint}"
