"""``foldline scan``: the agent sessions on this machine, and what compaction would save."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

from foldline.api import budget_for, compact_transcript
from foldline.cli import options
from foldline.cli.agent_sessions import MeasuringRun, SessionFile, homes, project_folder
from foldline.cli.options import BUDGET, WINDOW, IntegerType
from foldline.cli.output import Output, console, one_line, table, write_json
from foldline.cli.policy_options import build_policy
from foldline.cli.reading import counter_for
from foldline.core.budget import Amount
from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.errors import BudgetError, InputError
from foldline.evaluation.figures import local_time, moment, plural, share, size
from foldline.formats.files import read_file
from foldline.frozen import frozen
from foldline.settings import load

DEFAULT_BUDGET: Final = Amount("20%", share=0.2)

EPILOG = """\b
Examples:
  foldline scan
  foldline scan ~/logs --limit 50 --sort saved
  foldline scan --window 200k --json

\b
Without DIR: Claude Code (CLAUDE_CONFIG_DIR), Codex (CODEX_HOME), pi
(PI_CODING_AGENT_DIR) and Gemini CLI (GEMINI_CLI_HOME) sessions. Nothing is changed or sent.
"""


@frozen
class MeasuredSession:
    """
    A session with its size.

    ``tokens`` is the size of its current conversation, ``after`` its size when compacted.
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
    budget: Amount | None,
    window: int | None,
    policy: Policy,
    config: Config,
) -> MeasuredSession:
    """
    Read a session and compact it in memory only.

    Args:
        found: The file.
        budget: Maximum size of its messages; or
        window: the window of the model, in tokens.
        policy: How to compact.
        config: The thresholds and spending limits.

    Raises:
        InputError: It cannot be read.
    """
    recording = read_file(found.path)
    transcript = recording.current.transcript
    counter = counter_for(transcript, None)
    tokens = counter.messages(transcript.messages)
    after, status = tokens, "failed"
    overhead = counter.overhead(transcript.system, transcript.tools)
    with suppress(BudgetError):
        limits = budget_for(budget.of(tokens) if budget else None, window, overhead, config)
        receipt = compact_transcript(transcript, counter, limits, policy, config=config).receipt
        status = receipt.status
        after = receipt.tokens_after if status == "compacted" else tokens
    project, size = project_folder(found), len(transcript.messages)
    return MeasuredSession(found, recording.format, project, size, tokens, after, status)


_KEYS: dict[str, Callable[[MeasuredSession], float]] = {
    "newest": lambda session: -session.found.changed,
    "biggest": lambda session: -session.tokens,
    "saved": lambda session: -session.saved,
}


@click.command("scan", epilog=EPILOG)
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@options.number("--budget", BUDGET, None, "Compact to: 8k, or 20% of each (20%).")
@options.number("--window", WINDOW, None, "Or compact for this window: 200k.")
@options.policy
@options.number("--limit", IntegerType(1, 100_000), 20, "Maximum number of sessions to measure.")
@options.choice("--sort", tuple(_KEYS), help="Order; 'biggest' measures the largest files first.")
@options.number("--seconds", IntegerType(1, 3_600), 60, "Time limit in seconds.")
@options.output
def command(
    folder: Path | None,
    budget: Amount | None,
    window: Amount | None,
    policy: str | None,
    limit: int,
    sort: str,
    seconds: int,
    output: Output,
) -> None:
    """
    Find the sessions of coding agents, and show what compaction would save.

    Search the folders where agents keep their sessions, or DIR and everything below it.
    """
    if budget is not None and window is not None:
        options.refuse("Give --budget or --window, not both.")
    if folder is not None and not folder.is_dir():
        raise InputError(f"{folder} is not a folder", hint="Use 'foldline stats' for one file.")
    config = load().config
    ladder = build_policy(policy, (), config)
    goal = window or budget or DEFAULT_BUDGET
    run = MeasuringRun[MeasuredSession]()
    files = run.find(() if folder is None else (folder,))
    files.sort(key=lambda file: -file.changed if sort == "newest" else -file.size)
    size_limit = None if window else goal
    tokens = window.tokens if window else None
    run.measure(
        files,
        lambda file: measure_session(file, size_limit, tokens, ladder, config),
        output,
        limit=limit,
        seconds=seconds,
    )
    run.measured.sort(key=_KEYS[sort])
    if output.json:
        value = {
            "goal": {"budget" if window is None else "window": goal.text},
            "sessions": [_row(session) for session in run.measured],
        }
        write_json("scan/1", value | run.omissions())
        return
    if run.measured:
        goal_text = goal.text if window is None else f"a window of {goal.text}"
        _show(run.measured, goal_text, output)
    else:
        output.note(_explain_nothing(run, folder))
    run.note(output)


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


def _show(sessions: list[MeasuredSession], goal: str, output: Output) -> None:
    screen = console()
    wide = screen.width >= 100
    sizes = (">size", ">messages") if wide else ()
    dated = ("changed",) if screen.width >= 56 else ()
    rows = []
    for one in sessions:
        date = (local_time(one.found.changed)[5:],) if dated else ()
        size_cells = (size(one.found.size), one.messages) if wide else ()
        # The end of the project's folder, and the file.
        place = f"{Path(one.project).name or one.project}/{one.found.path.name}"
        figures = (one.tokens, one.after, _saving(one))
        rows.append((one_line(one.agent, 16), place, *date, *size_cells, *figures))
    columns = ("agent", "*session", *dated, *sizes, ">tokens", ">after", ">saved")
    output.draw(table(*columns, rows=rows))
    before = sum(session.tokens for session in sessions)
    after = sum(session.after for session in sessions)
    screen.print(
        f"\n{plural(len(sessions), 'session')}: {before:,} tokens, "
        f"{after:,} when compacted to {goal}: {share(before - after, before)} saved."
    )


def _saving(session: MeasuredSession) -> str:
    if session.status == "compacted":
        return share(session.saved, session.tokens)
    return "cannot" if session.status == "failed" else "fits"


def _explain_nothing(run: MeasuringRun[MeasuredSession], folder: Path | None) -> str:
    if run.left:
        read = plural(run.others, "file")
        return f"No agent session was found in the first {read}; the others were not read."
    if folder is not None:
        return f"No agent session was found in {folder}."
    searched = ", ".join(str(home.folder) for home in homes())
    hint = "" if run.unreadable else " 'foldline scan DIR' searches elsewhere."
    return f"No agent session was found; searched {searched}.{hint}"
