"""``foldline bench``: what compaction keeps, breaks and costs, on your own sessions."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click

from foldline.cli import options
from foldline.cli.agent_homes import Candidate, Trouble, homes, in_folder, in_home
from foldline.cli.amounts import BUDGET, WINDOW
from foldline.cli.exits import OutputError
from foldline.cli.numbers import Whole
from foldline.cli.output import Voice, console, counted, write_json, write_text
from foldline.cli.scan import MAX_SIZE
from foldline.cli.tuning import tuned_policy
from foldline.core.budget import Amount
from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.errors import InputError, UnknownFormat
from foldline.evaluation import findings
from foldline.evaluation.markdown import escaped
from foldline.evaluation.measuring import Plan
from foldline.evaluation.methods import clearing, policy_method, trimming
from foldline.evaluation.plain import as_text
from foldline.evaluation.recordings import Measured, Replays, measure_file
from foldline.evaluation.report import NO_PLOTS, write_report
from foldline.evaluation.sections import Section
from foldline.models.catalogue import Catalogue
from foldline.models.info import ModelInfo
from foldline.settings import load

EPILOG = """\b
Examples:
  foldline bench
  foldline bench ~/logs session.jsonl --budgets 5%,10%,20%
  foldline bench --policy default --policy clear --limit 50 -o report

\b
Without FILE or DIR: the sessions that 'foldline scan' finds. Each is cut at three places;
what stood before a cut is compacted, and what the agent used after it is looked for.
Nothing is changed or sent.
"""

BUDGETS: Final = "5%,10%,20%"
MODEL: Final = "claude-sonnet-4-5"
MAX_BUDGETS: Final = 12
MOST_TOLD: Final = 5
"""How many files that could not be measured are named."""


class Budgets(click.ParamType):  # type: ignore[type-arg]  # since click 8.5 only
    """Reads several amounts, separated by commas."""

    name = "amounts"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Amount, ...]:
        """Turn the text of an option into amounts, each once."""
        if isinstance(value, tuple):
            return value
        words = [word for word in str(value).split(",") if word.strip()]
        if not 1 <= len(words) <= MAX_BUDGETS:
            self.fail(f"give 1 to {MAX_BUDGETS} budgets, such as {BUDGETS}.", param, ctx)
        return tuple(dict.fromkeys(BUDGET.convert(word, param, ctx) for word in words))


@dataclass(slots=True)
class Tally:
    """What was measured so far; ``others`` held no conversation, ``small`` too little of one."""

    measured: list[Measured] = field(default_factory=list)
    trouble: list[Trouble] = field(default_factory=list)
    others: int = 0
    small: int = 0
    left: int = 0


@click.command("bench", epilog=EPILOG, short_help="Measure what is kept, on your own sessions.")
@click.argument("places", metavar="[FILE|DIR]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--budgets", metavar="N,N", type=Budgets(), default=BUDGETS, help=f"Cut to ({BUDGETS})."
)
@click.option(
    "--policy",
    "policies",
    metavar="NAME",
    multiple=True,
    shell_complete=options.complete_policy,
    help="Repeatable (default).",
)
@click.option("--limit", type=Whole(1, 100_000), default=20, help="Files (20).")
@click.option("--seconds", type=Whole(1, 86_400), default=300, help="To take (300).")
@click.option("--model", metavar="NAME", default=MODEL, help=f"Whose prices ({MODEL}).")
@click.option("--window", metavar="N", type=WINDOW, help="Replayed in it (the model's).")
@click.option(
    "-o",
    "--report",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write report.md there, with plots.",
)
@options.voice
def command(
    places: tuple[Path, ...],
    budgets: tuple[Amount, ...],
    policies: tuple[str, ...],
    model: str,
    window: Amount | None,
    folder: Path | None,
    **rest: Any,
) -> None:
    """
    Measure what compaction keeps, on your own sessions.

    FILE is a transcript; of a DIR every transcript below it is taken.
    """
    voice, limits = options.voiced(rest), rest
    info = _priced(model)
    config = load().config
    ladders = [tuned_policy(name, (), config) for name in dict.fromkeys(policies)]
    ladders = ladders or [tuned_policy(None, (), config)]
    plan = _plan(budgets, ladders, config)
    replays = Replays(ladders, window.tokens if window else info.readable, config, model)
    _check_folder(folder)
    tally = Tally()
    candidates = sorted(_candidates(places, tally), key=lambda found: -found.changed)
    tally.left = max(0, len(candidates) - limits["limit"])
    deadline = time.monotonic() + limits["seconds"]
    for found in _shown(candidates[: limits["limit"]], voice):
        if time.monotonic() > deadline:
            tally.left += 1
        else:
            _measure(found, tally, plan, replays)
    if not any(one.observations for one in tally.measured):
        raise InputError(_nothing(places, tally), hint="Name longer sessions, or a folder.")
    _tell_trouble(tally, voice)
    sections = _sections(tally, plan, info, replays.window)
    _deliver(sections, tally, folder, voice)


def _priced(model: str) -> ModelInfo:
    info = Catalogue.load().find(model)
    if info.prices is None:
        raise click.UsageError(
            f"The price of {model[:60]!r} is not known; --model names another one.",
            click.get_current_context(),
        )
    return info


def _plan(budgets: Sequence[Amount], ladders: Sequence[Policy], config: Config) -> Plan:
    methods = [policy_method(ladder, config) for ladder in ladders]
    return Plan((*methods, clearing(), trimming()), {b.text: b.of for b in budgets})


def _check_folder(folder: Path | None) -> None:
    """Refuse a folder for the report that cannot be one, before any work is done."""
    if folder is not None and folder.exists() and not folder.is_dir():
        raise OutputError(f"The report {folder} is no folder.", hint="Name a folder.")


def _candidates(places: Sequence[Path], tally: Tally) -> Iterator[Candidate]:
    """List the files that may be sessions, each once."""
    seen = set[Path]()
    for found in _found(places):
        if isinstance(found, Trouble):
            tally.trouble.append(found)
        elif found.path not in seen:
            seen.add(found.path)
            yield found


def _found(places: Sequence[Path]) -> Iterable[Candidate | Trouble]:
    for home in () if places else homes():
        if home.folder.is_dir():
            yield from in_home(home)
    for place in places:
        try:
            status = place.stat()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"{place} cannot be read: {reason}") from error
        if place.is_dir():
            yield from in_folder(place)
        else:
            yield Candidate(place, status.st_size, status.st_mtime, "named")


def _measure(found: Candidate, tally: Tally, plan: Plan, replays: Replays) -> None:
    """Measure a file; one that cannot be read is told, and never ends a run."""
    if found.size > MAX_SIZE:
        tally.trouble.append(Trouble(found.path, "too large to measure"))
        return
    try:
        one = measure_file(found.path, plan, replays)
    except UnknownFormat as error:
        if found.agent:
            tally.trouble.append(Trouble(found.path, error.message))
        else:
            tally.others += 1
    except InputError as error:
        tally.trouble.append(Trouble(found.path, error.message))
    else:
        tally.small += not one.observations
        tally.measured.append(one)


def _shown(candidates: list[Candidate], voice: Voice) -> Iterator[Candidate]:
    """Go through the candidates, with a progress bar on a terminal."""
    if not (voice.talks and sys.stderr.isatty() and candidates):
        yield from candidates
        return
    from rich.progress import Progress

    with Progress(console=console(err=True), transient=True) as progress:
        yield from progress.track(candidates, description="Measuring sessions")


def _sections(tally: Tally, plan: Plan, info: ModelInfo, window: int) -> list[Section]:
    seen = [one for measured in tally.measured for one in measured.observations]
    scores = [one.score for one in seen]
    assert info.prices is not None  # noqa: S101  # checked before anything was measured
    sections = [
        findings.retention(scores, plan.methods[0].name),
        findings.validity(seen),
        findings.speed(seen),
        findings.price(tally.measured, info.prices, info.name, window),
    ]
    return [section for section in sections if section is not None]


def _deliver(sections: Sequence[Section], tally: Tally, folder: Path | None, voice: Voice) -> None:
    if folder is not None:
        try:
            plotted = write_report(folder, _head(tally), sections)
        except OSError as error:
            raise OutputError(f"The report {folder} cannot be written: {error}.") from error
        voice.note(f"report: {folder / 'report.md'}" + ("" if plotted else f". {NO_PLOTS}"))
    if voice.json:
        trouble = [{"path": str(t.path), "why": t.why} for t in tally.trouble]
        counts = {"too_small": tally.small, "others": tally.others, "not_measured": tally.left}
        found = [section.to_json() for section in sections]
        write_json("bench/1", {"sections": found, **counts, "trouble": trouble})
    else:
        write_text("\n".join(map(as_text, sections)))


def _head(tally: Tally) -> str:
    import foldline

    measured = counted(sum(bool(one.observations) for one in tally.measured), "session")
    sources = ", ".join(sorted({escaped(one.source) for one in tally.measured}))
    return f"# Compaction, measured\n\n{measured} ({sources}), foldline {foldline.__version__}."


def _tell_trouble(tally: Tally, voice: Voice) -> None:
    if tally.left:
        voice.note(
            f"{counted(tally.left, 'file')} not measured; --limit and --seconds allow more."
        )
    if tally.small:
        voice.note(f"{counted(tally.small, 'session')} too small to say much.")
    if tally.others:
        voice.note(f"{counted(tally.others, 'other file')} held no conversation.")
    for trouble in tally.trouble[:MOST_TOLD]:
        voice.note(f"skipped {trouble.path}: {trouble.why}")
    if len(tally.trouble) > MOST_TOLD:
        voice.note(f"skipped {len(tally.trouble) - MOST_TOLD:,} more; --json names them all.")


def _nothing(places: Sequence[Path], tally: Tally) -> str:
    where = ", ".join(map(str, places[:3])) if places else "the places where agents keep theirs"
    if len(tally.trouble) == 1 and not tally.measured:
        return f"no session could be measured: {tally.trouble[0].path}: {tally.trouble[0].why}"
    what = "is long enough to be measured" if tally.measured else "was found"
    return f"no session {what} in {where}"
