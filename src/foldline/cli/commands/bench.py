"""``foldline bench``: what compaction keeps, breaks and costs, on your own sessions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from foldline.cli import options
from foldline.cli.agent_sessions import MeasuringRun
from foldline.cli.errors import OutputError
from foldline.cli.options import IntegerType
from foldline.cli.output import Output, write_json, write_text
from foldline.cli.policy_options import build_policy
from foldline.core.budget import Amount
from foldline.errors import InputError
from foldline.evaluation import findings
from foldline.evaluation.figures import plural
from foldline.evaluation.methods import clearing, policy_method, trimming
from foldline.evaluation.report import NO_PLOTS, write_report
from foldline.evaluation.retention import MeasurementPlan, RecordingResult, Replays, measure_file
from foldline.evaluation.sections import ReportSection, as_text, escape
from foldline.models.catalogue import Catalogue
from foldline.models.info import ModelInfo
from foldline.settings import load

EPILOG = """\b
Examples:
  foldline bench
  foldline bench ~/logs session.jsonl --budgets 5%,10%,20%
  foldline bench --policy default --policy clear --limit 50 -o report

\b
Without FILE or DIR: the sessions that 'foldline scan' finds. Each is cut at three points;
the history before a cut is compacted, then searched for what the agent used after it.
Nothing is changed or sent.
"""


@click.command("bench", epilog=EPILOG)
@click.argument("places", metavar="[FILE|DIR]...", nargs=-1, type=click.Path(path_type=Path))
@options.budgets
@options.policies
@options.number("--limit", IntegerType(1, 100_000), 20, "Maximum number of sessions to measure.")
@options.number("--seconds", IntegerType(1, 86_400), 300, "Time limit in seconds.")
@options.priced_model
@options.replay_window
@click.option(
    "-o",
    "--report",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write report.md to this folder, with plots.",
)
@options.output
def command(
    places: tuple[Path, ...],
    budgets: tuple[Amount, ...],
    policies: tuple[str, ...],
    model: str,
    window: Amount | None,
    folder: Path | None,
    output: Output,
    **limits: int,
) -> None:
    """
    Measure what compaction keeps, on your own sessions.

    FILE is a transcript; for a DIR, every transcript below it is measured.
    """
    info = _find_prices(model)
    config = load().config
    ladders = [build_policy(name, (), config) for name in dict.fromkeys(policies or (None,))]
    methods = (*(policy_method(one, config) for one in ladders), clearing(), trimming())
    plan = MeasurementPlan(methods, {budget.text: budget.of for budget in budgets})
    replays = Replays(ladders, window.tokens if window else info.readable, config, model)
    if folder is not None and folder.exists() and not folder.is_dir():
        raise OutputError(f"The report {folder} is not a folder.", hint="Name a folder.")
    run = MeasuringRun[RecordingResult]()
    files = sorted(run.find(places), key=lambda file: -file.changed)
    run.measure(files, lambda file: measure_file(file.path, plan, replays), output, **limits)
    if not any(one.observations for one in run.measured):
        raise InputError(_explain_nothing(places, run), hint=_advise(run))
    run.note(output)
    small = sum(not one.observations for one in run.measured)
    if small:
        output.note(f"{plural(small, 'session')} too small to be meaningful.")
    sections = _sections(run.measured, plan, info, replays.window)
    if folder is not None:
        _write_report(folder, sections, run.measured, output)
    if output.json:
        value = {"sections": [section.to_json() for section in sections], "too_small": small}
        write_json("bench/1", value | run.omissions())
    else:
        write_text("\n".join(map(as_text, sections)))


def _find_prices(model: str) -> ModelInfo:
    info = Catalogue.load().find(model)
    if info.prices is None:
        options.refuse(f"The price of {model[:60]!r} is not known; --model names another one.")
    return info


def _sections(
    measured: Sequence[RecordingResult], plan: MeasurementPlan, info: ModelInfo, window: int
) -> list[ReportSection]:
    seen = [observation for one in measured for observation in one.observations]
    scores = [one.score for one in seen]
    assert info.prices is not None  # noqa: S101  # checked before the first measurement
    sections = (
        findings.retention(scores, plan.methods[0].name),
        findings.validity(seen),
        findings.speed(seen),
        findings.price(measured, info.prices, info.name, window),
    )
    return [section for section in sections if section is not None]


def _write_report(
    folder: Path,
    sections: Sequence[ReportSection],
    measured: Sequence[RecordingResult],
    output: Output,
) -> None:
    try:
        plotted = write_report(folder, _head(measured), sections)
    except OSError as error:
        raise OutputError(f"The report {folder} cannot be written: {error}.") from error
    output.note(f"report: {folder / 'report.md'}" + ("" if plotted else f". {NO_PLOTS}"))


def _head(measured: Sequence[RecordingResult]) -> str:
    import foldline

    sessions = plural(sum(bool(one.observations) for one in measured), "session")
    sources = ", ".join(sorted({escape(one.source) for one in measured}))
    return f"# Compaction, measured\n\n{sessions} ({sources}), foldline {foldline.__version__}."


def _explain_nothing(places: Sequence[Path], run: MeasuringRun[RecordingResult]) -> str:
    where = ", ".join(map(str, places[:3])) if places else "the places where agents keep theirs"
    if len(run.unreadable) == 1 and not run.measured:
        (only,) = run.unreadable
        return f"No session could be measured: {only.path}: {only.why}"
    what = "is long enough to be measured" if run.measured else "was found"
    unread = f"; {plural(run.left, 'file')} not measured" if run.left else ""
    return f"No session {what} in {where}{unread}"


def _advise(run: MeasuringRun[RecordingResult]) -> str:
    if run.left:
        return "Name a smaller folder, or raise --seconds."
    return "Name longer sessions, or a folder."
