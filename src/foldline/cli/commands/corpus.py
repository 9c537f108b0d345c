"""``foldline corpus``: statistics, compaction, retention and search over many sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import click

from foldline.cli import options
from foldline.cli.options import BUDGET, WINDOW, IntegerType
from foldline.cli.output import Output, console, shorten_path
from foldline.core.budget import Amount
from foldline.corpus import BuildIndex, Compact, CorpusReport, MeasureRetention, Scan, run, search
from foldline.corpus.operation import Operation
from foldline.corpus.runner import Progress
from foldline.errors import InputError
from foldline.evaluation.figures import plural
from foldline.settings import load

EPILOG = """\b
Examples:
  foldline corpus scan ~/logs -o out/scan
  foldline corpus compact 'logs/**/*.jsonl' --budget 25% -o out/compact --workers 8
  foldline corpus measure s3://bucket/sessions -o out/measure --engine dask
  foldline corpus index ~/logs -o out/index --scheduler tcp://10.0.0.5:8786
  foldline corpus search out/index "connection refused"

\b
PATTERN is a file, a folder or a pattern, local or in a store (s3://, gs://, https://).
OUT gets parts/*.parquet, with a row per conversation, and manifest.json. Run the same command
again to resume after an interruption. Input files are never changed or sent.
"""
MOST_FAILURES = 5
"""Maximum number of failures listed; the tables have them all."""


@click.group("corpus", epilog=EPILOG)
def command() -> None:
    """Work on many sessions at once, on the cores of this machine or on a Dask cluster."""


_run_options = options.together(
    click.argument("patterns", metavar="PATTERN...", nargs=-1, required=True),
    click.option("-o", "--output", "out", metavar="OUT", required=True, help="Output folder."),
    options.choice(
        "--engine", ("local", "dask"), help="Run processes, or a Dask cluster, on this machine."
    ),
    click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler: tcp://10.0.0.5:8786."),
    options.number("--workers", IntegerType(1, 1_024), None, "Worker processes."),
    options.output,
)
"""Options that all runs take."""


@command.command("scan", short_help="Count messages, calls and tokens.")
@options.model
@_run_options
def scan(model: str | None, output: Output, **rest: Any) -> None:
    """Count messages, calls and tokens of every conversation."""
    _run(Scan(model), output, rest)


@command.command("compact", short_help="Compact every conversation.")
@options.number("--budget", BUDGET, None, "Tokens: 8000, 8k, or 25% of each.")
@options.number("--window", WINDOW, None, "Or the window of the model: 200k.")
@options.policy
@options.model
@click.option(
    "--to",
    metavar="FMT",
    type=options.FORMAT,
    default="openai-chat",
    help="Write messages in this wire format (openai-chat).",
)
@_run_options
def compact(
    budget: Amount | None, window: Amount | None, policy: str | None, output: Output, **rest: Any
) -> None:
    """Compact every conversation to a budget, with its receipt; no model is called."""
    if (budget is None) == (window is None):
        options.refuse("Give --budget or --window.")
    size = None if budget is None else _share(budget)
    span = _tokens(window)
    model, to, config = rest.pop("model"), rest.pop("to"), load().config
    _run(Compact(size, span, policy or "", model, to, config), output, rest)


@command.command("measure", short_help="Measure what is kept, and what sessions cost.")
@options.budgets
@options.policies
@options.priced_model
@options.replay_window
@_run_options
def measure(
    budgets: tuple[Amount, ...], policies: tuple[str, ...], model: str, output: Output, **rest: Any
) -> None:
    """Measure what compaction keeps of every session, and the cost of replaying it."""
    sizes, span = tuple(map(_share, budgets)), _tokens(rest.pop("window"))
    _run(MeasureRetention(sizes, policies, model, span, load().config), output, rest)


@command.command("index", short_help="Index the words of every conversation.")
@_run_options
def index(output: Output, **rest: Any) -> None:
    """Index the words of every conversation, for 'foldline corpus search'."""
    _run(BuildIndex(), output, rest)


@command.command("search", short_help="Search an index.")
@click.argument("out", metavar="OUT")
@click.argument("query", metavar="QUERY...", nargs=-1, required=True)
@click.option(
    "-k", "most", type=click.IntRange(1, 1_000), default=10, help="Maximum matches (10)."
)
@options.output
def find(out: str, query: tuple[str, ...], most: int, output: Output) -> None:
    """Find conversations by their words in OUT, an index written by 'foldline corpus index'."""
    found = search(out, " ".join(query), most)
    rows = []
    for one in found:
        path, score = shorten_path(one.path, 56), f"{one.score:.2f}"
        rows.append((path, one.offset, str(one.message), score, " ".join(one.matched)))
    value = {"matches": [asdict(one) for one in found]}
    columns = ("session", ">byte", ">message", ">score", "*matched")
    output.records("corpus-search/1", value, columns, rows)


def _tokens(window: Amount | None) -> int | None:
    return None if window is None else window.tokens


def _share(amount: Amount) -> float:
    """Return an amount as operations take it: tokens, or a share below 1."""
    return min(amount.share, 0.999_999) or float(amount.tokens)


def _run(operation: Operation, output: Output, rest: dict[str, Any]) -> None:
    with _progress(output) as progress:
        report = run(operation, progress=progress, **rest)
    _report(report, output)
    if report.sessions == report.failed:
        raise InputError(f"No session of {report.sessions:,} could be read")
    rows = [
        (name, f"{value:,.4f}" if isinstance(value, float) else value)
        for name, value in _readable(report.totals)
    ]
    failures = [{"path": p, "offset": at, "why": why} for p, at, why in report.failures]
    value = asdict(report) | {"failures": failures}
    columns = ("sum of all sessions", ">")
    output.records(f"corpus-{operation.name}/1", value, columns, rows)


def _readable(totals: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield sums, and means for fractions."""
    for name, value in totals.items():
        before, _, last = name.rpartition("/")
        mean = before.startswith("retention/") and last != "count"
        yield (f"{name} (mean)", value / totals[f"{before}/count"]) if mean else (name, value)


@contextmanager
def _progress(output: Output) -> Iterator[Progress | None]:
    """Show progress, on a terminal only."""
    if not output.is_live:
        yield None
        return
    from rich.progress import Progress as Bars

    with Bars(console=console(err=True), transient=True) as bars:
        bar = bars.add_task("Working", total=None)
        yield lambda done, whole: bars.update(bar, completed=done, total=whole)


def _report(report: CorpusReport, output: Output) -> None:
    earlier = f", {report.resumed:,} of them done earlier" if report.resumed else ""
    parts = f"{plural(report.parts, 'part')}{earlier}"
    output.note(f"{plural(report.sessions, 'session')} in {parts}: {report.out}")
    for path, offset, why in report.failures[:MOST_FAILURES]:
        output.note(f"failed {path}{f' at byte {offset}' if offset else ''}: {why}")
    if report.failed > MOST_FAILURES:
        output.note(f"{report.failed:,} sessions failed; the column 'error' has every reason.")
