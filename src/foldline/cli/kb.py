"""``foldline kb``: documents, and what is found in them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from foldline.cli import options
from foldline.cli.lazy import NamingGroup
from foldline.cli.numbers import Number, Whole
from foldline.cli.output import (
    Voice,
    console,
    counted,
    flexible,
    moment,
    one_line,
    shortened,
    size,
    table,
    write_json,
    write_text,
)
from foldline.errors import InputError, StoreError
from foldline.memory.knowledge import Added, Findings, Knowledge, Report
from foldline.memory.knowledge.front import THRESHOLD
from foldline.memory.knowledge.values import Outcome
from foldline.settings.folders import data_folder

EPILOG = """\b
Examples:
  foldline kb add docs/ README.md
  foldline kb add src/ --only '*.py'
  foldline kb search "how are retries limited?"
  foldline kb search "retries" --budget 2000 > evidence.txt
  foldline kb ls
  foldline kb rm docs/old.md

\b
Nothing is sent anywhere. Documents that have not changed are left as they are.
"""

MOST_TOLD = 5
"""So many files that were skipped are named."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which knowledge is meant."""

    file: Path
    namespace: str


@click.group(
    "kb",
    cls=NamingGroup,
    epilog=EPILOG,
    short_help="Search documents, with their sources.",
)
@click.option(
    "--file",
    "file",
    metavar="PATH",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file of the knowledge (default: knowledge.db in FOLDLINE_HOME, or in the data "
    "folder of the user).",
)
@click.option("--namespace", metavar="NAME", default="default", show_default=True)
@click.pass_context
def command(ctx: click.Context, file: Path | None, namespace: str) -> None:
    """Put documents into a store, and find what they say."""
    ctx.obj = Place(file or data_folder() / "knowledge.db", namespace)


@contextmanager
def opened(place: Place, *, make: bool = False) -> Iterator[Knowledge]:
    """
    Open the store.

    Raises:
        StoreError: There is none, and none is to be made.
    """
    if make:
        options.make_folder(place.file)
    elif not place.file.exists():
        raise StoreError(
            f"There is no knowledge {place.file}.",
            hint="'foldline kb add' makes it, --file or FOLDLINE_HOME names another.",
        )
    with Knowledge.open(place.file, namespace=place.namespace) as knowledge:
        yield knowledge


@command.command("add", short_help="Add files and folders.")
@click.argument("paths", metavar="PATH|-…", nargs=-1, required=True)
@click.option("--name", metavar="NAME", default="", help="What to call a file, or stdin.")
@click.option("--only", metavar="PATTERN", default="", help="Of folders, only these: '*.md'.")
@options.voice
@click.pass_obj
def add(place: Place, /, paths: tuple[str, ...], name: str, only: str, **rest: Any) -> None:
    """
    Add files, or all text files of folders; "-" is stdin, which needs --name.

    What has changed is replaced, what has not is left, and what is gone from a folder is removed.
    """
    voice = options.voiced(rest)
    if name and len(paths) > 1:
        raise click.UsageError("--name is for one file.", click.get_current_context())
    with opened(place, make=True) as knowledge:
        reports = [_added(knowledge, path, name, only, voice) for path in paths]
    report = Report(
        tuple(one for r in reports for one in r.documents),
        tuple(one for r in reports for one in r.skipped),
        tuple(one for r in reports for one in r.removed),
    )
    if voice.json:
        write_json("kb.add/1", _as_json(report))
        return
    for one in report.documents:
        voice.warn(f"{one.document}: {warning}" for warning in one.warnings)
    for skipped in report.skipped[:MOST_TOLD]:
        voice.note(f"skipped {skipped.path}: {skipped.why}")
    if len(report.skipped) > MOST_TOLD:
        voice.note(f"skipped {len(report.skipped) - MOST_TOLD:,} more; --json names them all.")
    voice.note(_told(report))


def _added(knowledge: Knowledge, path: str, name: str, only: str, voice: Voice) -> Report:
    if path == "-":
        return Report((_from_stdin(knowledge, name),))
    with voice.working(f"Reading {path}", long=Path(path).is_dir()):
        return knowledge.add(path, name=name, only=only)


def _from_stdin(knowledge: Knowledge, name: str) -> Added:
    from foldline.memory.documents import ReadLimits, read_document

    if not name:
        raise click.UsageError("stdin needs a --name.", click.get_current_context())
    limits = ReadLimits()
    data = sys.stdin.buffer.read(limits.bytes + 1)
    if len(data) > limits.bytes:
        raise InputError(f"stdin has more than {limits.bytes:,} bytes")
    reading = read_document(data, name, limits)
    return knowledge.add_reading(name, reading)


def _told(report: Report) -> str:
    full = Report(tuple(one for one in report.documents if one.chunks))
    outcomes: tuple[Outcome, ...] = ("added", "replaced", "unchanged")
    counts: list[tuple[int, str]] = [(full.count(outcome), outcome) for outcome in outcomes]
    counts += [(len(report.documents) - len(full.documents), "without text")]
    counts += [(len(report.removed), "removed")]
    said = ", ".join(f"{number:,} {word}" for number, word in counts if number)
    return f"Documents: {said}." if said else "No document was found."


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "documents": [asdict(one) for one in report.documents],
        "skipped": [{"path": str(one.path), "why": one.why} for one in report.skipped],
        "removed": list(report.removed),
    }


@command.command("search", short_help="Find what documents say.")
@click.argument("query")
@click.option("--limit", metavar="N", type=Whole(1, 200), default=5, show_default=True)
@click.option(
    "--min-strength",
    "threshold",
    metavar="X",
    type=Number(0, 1),
    default=THRESHOLD,
    show_default=True,
    help="What it takes to be evidence, 0 to 1.",
)
@click.option(
    "--budget",
    metavar="TOKENS",
    type=Whole(1),
    help="Write the evidence as a part of a prompt, within so many tokens.",
)
@options.voice
@click.pass_obj
def search(
    place: Place, /, query: str, limit: int, threshold: float, budget: int | None, **rest: Any
) -> None:
    """Find the passages that QUERY means, the best first, with their sources."""
    voice = options.voiced(rest)
    with opened(place) as knowledge:
        if budget is not None:
            packed = knowledge.evidence(query, budget, limit=limit, threshold=threshold)
            found = packed.findings
            text = packed.text
        else:
            found, text = knowledge.search(query, limit, threshold=threshold), ""
    if voice.json:
        extra = {} if budget is None else {"text": text}
        rows = [passage.to_dict() for passage in found]
        head = {"evidence": found.evidence, "strongest": round(found.strongest, 4)}
        write_json("kb.search/1", {**head, "results": rows, **extra})
        return
    if text:
        write_text(text)
    elif found and budget is None:
        _show(found)
    voice.note(found.told)


def _show(found: Findings) -> None:
    for number, passage in enumerate(found, 1):
        head = f"[{number}] {passage.source}  ({passage.strength:.0%})"
        write_text(f"{one_line(head, 400)}\n{passage.text.strip(chr(10))}\n")


@command.command("ls", short_help="List the documents.")
@options.voice
@click.pass_obj
def listed(place: Place, /, **rest: Any) -> None:
    """List the documents by name."""
    voice = options.voiced(rest)
    with opened(place) as knowledge:
        found = knowledge.documents()
    if voice.json:
        rows = [asdict(one) | {"added": moment(one.added).isoformat()} for one in found]
        write_json("kb.ls/1", {"documents": rows})
        return
    if not found:
        voice.note("There is no document.")
        return
    screen = console()
    grid = table("*document", "*title", "kind", ">chunks", ">tokens", "added")
    for one in found:
        grid.add_row(
            flexible(shortened(one.name, max(20, screen.width - 60))),
            flexible(one.title, 40),
            one.kind,
            f"{one.chunks:,}",
            f"{one.tokens:,}",
            f"{moment(one.added).astimezone():%Y-%m-%d %H:%M}",
        )
    screen.print(grid)
    voice.note(f"{counted(len(found), 'document')}.")


@command.command("rm", short_help="Remove documents.")
@click.argument("names", metavar="NAME…", nargs=-1, required=True)
@options.voice
@click.pass_obj
def remove(place: Place, /, names: tuple[str, ...], **rest: Any) -> None:
    """Remove documents, by the names that 'ls' shows or the paths of their files."""
    voice = options.voiced(rest)
    removed, missing = list[str](), list[str]()
    with opened(place) as knowledge:
        for name in names:
            path = str(Path(name).absolute())
            found = next((one for one in (name, path) if knowledge.remove(one)), None)
            (missing if found is None else removed).append(found or name)
    if voice.json:
        write_json("kb.rm/1", {"removed": removed, "missing": missing})
    else:
        voice.note(f"{counted(len(removed), 'document')} removed.")
    if missing:
        hint = "'foldline kb ls' lists the names."
        raise InputError(f"there is no document {missing[0][:80]!r}", hint=hint)


@command.command("stats", short_help="Show what the store holds.")
@options.voice
@click.pass_obj
def stats(place: Place, /, **rest: Any) -> None:
    """Show how many documents, chunks and tokens there are."""
    voice = options.voiced(rest)
    with opened(place) as knowledge:
        found = knowledge.stats()
    if voice.json:
        write_json("kb.stats/1", asdict(found))
        return
    others = [name for name in found.namespaces if name != found.namespace]
    write_text(
        f"{counted(found.documents, 'document')}, {counted(found.chunks, 'chunk')}, "
        f"{found.tokens:,} tokens in the namespace {one_line(found.namespace, 80)}; "
        f"{size(found.bytes)} in all"
    )
    if others:
        voice.note(f"Other namespaces: {one_line(', '.join(others), 400)}.")


options.also_after(command)
