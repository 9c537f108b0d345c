"""``foldline scan``: the agent sessions on this machine, and what compaction would save."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click

from foldline.cli import options
from foldline.cli.agent_homes import Candidate, Trouble, homes, in_folder, in_home
from foldline.cli.amounts import BUDGET, WINDOW
from foldline.cli.numbers import Whole
from foldline.cli.output import Voice, moment, write_json
from foldline.cli.survey import Surveyed, survey
from foldline.cli.tuning import tuned_policy
from foldline.core.budget import Amount
from foldline.errors import FoldlineError, InputError, UnknownFormat
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
class Findings:
    """What a scan has found so far; ``others`` counts files that are no session."""

    goal: Amount
    window: bool
    sessions: list[Surveyed] = field(default_factory=list)
    left: list[Candidate] = field(default_factory=list)
    trouble: list[Trouble] = field(default_factory=list)
    others: int = 0


_KEYS: dict[str, Callable[[Surveyed], float]] = {
    "newest": lambda session: -session.found.changed,
    "biggest": lambda session: -session.tokens,
    "saved": lambda session: -session.saved,
}


@click.command("scan", epilog=EPILOG, short_help="Find agent sessions, and what could be saved.")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--budget", metavar="N", type=BUDGET, help="Compact to: 8k, or 20% of each (20%).")
@click.option("--window", metavar="N", type=WINDOW, help="Or for a window: 200k.")
@options.policy
@click.option("--limit", type=Whole(1, 100_000), default=20, help="Sessions (20).")
@click.option(
    "--sort",
    type=click.Choice(tuple(_KEYS)),
    default="newest",
    help="Order; 'biggest' takes the largest files first (newest).",
)
@click.option("--seconds", type=Whole(1, 3_600), default=60, help="Time to take (60).")
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
    rungs = tuned_policy(policy, (), config)
    findings = Findings(window or budget or DEFAULT_GOAL, window is not None)
    candidates = _candidates(folder, findings, biggest=sort != "newest")
    findings.left = candidates[limit:]
    deadline = time.monotonic() + seconds
    for found in _shown(candidates[:limit], voice):
        if time.monotonic() > deadline:
            findings.left.append(found)
            continue
        _measure(
            found, findings, lambda f: survey(f, findings.goal, rungs, config, window=bool(window))
        )
    findings.sessions.sort(key=_KEYS[sort])
    if voice.json:
        write_json("scan/1", _as_json(findings))
        return
    from foldline.cli.scan_table import show

    show(findings, folder, voice)


def _candidates(folder: Path | None, findings: Findings, *, biggest: bool) -> list[Candidate]:
    """List the files that may be sessions, in the order in which they are worth measuring."""
    places: Iterable[Candidate | Trouble]
    if folder is None:
        places = (found for home in homes() if home.folder.is_dir() for found in in_home(home))
    elif folder.is_dir():
        places = in_folder(folder)
    else:
        raise InputError(f"{folder} is no folder", hint="'foldline stats' is for one file.")
    found = []
    for place in places:
        if isinstance(place, Trouble):
            findings.trouble.append(place)
        else:
            found.append(place)
    return sorted(found, key=lambda c: -c.size if biggest else -c.changed)


def _measure(
    found: Candidate, findings: Findings, measure: Callable[[Candidate], Surveyed]
) -> None:
    """Measure a session; one that cannot be read is reported and never ends a scan."""
    if found.size > MAX_SIZE:
        findings.trouble.append(Trouble(found.path, "too large to measure in a scan"))
        return
    try:
        findings.sessions.append(measure(found))
    except UnknownFormat as error:
        if found.agent:
            findings.trouble.append(Trouble(found.path, error.message))
        else:
            findings.others += 1
    except FoldlineError as error:
        findings.trouble.append(Trouble(found.path, error.message))


def _shown(candidates: list[Candidate], voice: Voice) -> Iterator[Candidate]:
    """Go through the candidates, with a progress bar on a terminal."""
    if not (voice.talks and sys.stderr.isatty() and len(candidates) > 1):
        yield from candidates
        return
    from rich.progress import Progress

    from foldline.cli.output import console

    with Progress(console=console(err=True), transient=True) as progress:
        yield from progress.track(candidates, description="Measuring sessions")


def _as_json(findings: Findings) -> dict[str, Any]:
    return {
        "goal": {"window" if findings.window else "budget": findings.goal.text},
        "sessions": [_row(session) for session in findings.sessions],
        "not_measured": len(findings.left),
        "others": findings.others,
        "trouble": [{"path": str(t.path), "why": t.why} for t in findings.trouble],
    }


def _row(session: Surveyed) -> dict[str, Any]:
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
