"""``foldline kb``: add and search documents."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from foldline.cli import options
from foldline.cli.errors import Exit, NamingGroup
from foldline.cli.options import IntegerType
from foldline.cli.output import Output, console, one_line, shorten_path, write_json, write_text
from foldline.cli.stores import existing, make_folder
from foldline.cli.streams import read_stdin
from foldline.errors import InputError, MissingExtra
from foldline.evaluation.figures import local_time, moment, plural, size
from foldline.memory.documents import ReadLimits, Skipped, read_document
from foldline.memory.knowledge import AddedDocument, IngestReport, Knowledge
from foldline.memory.knowledge.document_tables import Outcome
from foldline.memory.knowledge.knowledge_base import THRESHOLD
from foldline.settings.sources import data_folder

EPILOG = """\b
Examples:
  foldline kb add docs/ README.md
  foldline kb add src/ --only '*.py'
  foldline kb search "how are retries limited?"
  foldline kb search "retries" --budget 2000 > evidence.txt
  foldline kb ls
  foldline kb rm docs/old.md

\b
Nothing is sent anywhere. Unchanged documents are skipped.
"""


_file = options.store_file("knowledge")
_namespace = partial(click.option, "--namespace", metavar="NAME")


@click.group("kb", cls=NamingGroup, epilog=EPILOG)
@_file
@_namespace(default="default", show_default=True)
def command(file: Path | str | None, namespace: str) -> None:  # its subcommands take them
    """Add documents to a store, and search them."""


def _place(file: Path | str | None) -> Path | str:
    return file or data_folder() / "knowledge.db"


def _open(file: Path | str | None, namespace: str) -> Knowledge:
    """
    Open the store.

    Raises:
        StoreError: There is none.
    """
    place = existing(_place(file), "knowledge", made_by="kb add", option="--file")
    return Knowledge.open(place, namespace=namespace)


_target_options = options.together(_file, _namespace(callback=options.or_before))
_on_knowledge = options.on_store(_target_options, ("file", "namespace"), _open)
"""Pass a command the open store, and its output."""


@command.command("add", short_help="Add files and folders.")
@click.argument("paths", metavar="PATH|-…", nargs=-1, required=True)
@click.option("--name", metavar="NAME", default="", help="Name of the file, or of stdin.")
@click.option("--only", metavar="PATTERN", default="", help="Only these files of folders: '*.md'.")
@_target_options
@options.output
def add(
    file: Path | str | None,
    namespace: str,
    paths: tuple[str, ...],
    name: str,
    only: str,
    output: Output,
) -> int:
    """
    Add files, or all text files of folders; "-" is stdin, which needs --name.

    Changed files are replaced, unchanged ones skipped, and files deleted from a folder removed.
    Unreadable files are skipped; if PATH is one, the exit code is 3.
    """
    if name and len(paths) > 1:
        options.refuse("--name is for one file.")
    if "-" in paths and not name:
        options.refuse("stdin needs a --name.")
    reports, unread = list[IngestReport](), list[Skipped]()
    with Knowledge.open(make_folder(_place(file), "--file"), namespace=namespace) as knowledge:
        for path in paths:
            try:
                reports.append(_add_path(knowledge, path, name, only, output))
            except (InputError, MissingExtra) as error:
                if len(paths) == 1:
                    raise
                why = str(error).removeprefix(Path(path).name).strip()
                unread.append(Skipped(Path(path), why))
    report = IngestReport(
        tuple(one for r in reports for one in r.documents),
        (*unread, *(one for r in reports for one in r.skipped)),
        tuple(one for r in reports for one in r.removed),
    )
    if output.json:
        write_json("kb.add/1", _as_json(report))
        return Exit.INPUT if unread else Exit.DONE
    for one in report.documents:
        output.warn(f"{one.document}: {warning}" for warning in one.warnings)
    output.note_unreadable([(one.path, one.why) for one in report.skipped])
    output.note(_summary(report))
    if unread:
        raise InputError(f"{len(unread)} of {len(paths)} paths could not be read")
    return Exit.DONE


def _add_path(
    knowledge: Knowledge, path: str, name: str, only: str, output: Output
) -> IngestReport:
    if path == "-":
        return IngestReport((_add_stdin(knowledge, name),))
    with output.working(f"Reading {path}", long=Path(path).is_dir()):
        return knowledge.add(path, name=name, only=only)


def _add_stdin(knowledge: Knowledge, name: str) -> AddedDocument:
    limits = ReadLimits()
    return knowledge.add_reading(name, read_document(read_stdin(limits.bytes), name, limits))


def _summary(report: IngestReport) -> str:
    full = IngestReport(tuple(one for one in report.documents if one.chunks))
    outcomes: tuple[Outcome, ...] = ("added", "replaced", "unchanged")
    counts: dict[str, int] = {outcome: full.count(outcome) for outcome in outcomes}
    counts["without text"] = len(report.documents) - len(full.documents)
    counts["removed"] = len(report.removed)
    parts = ", ".join(f"{number:,} {word}" for word, number in counts.items() if number)
    return f"Documents: {parts}." if parts else "No document was found."


def _as_json(report: IngestReport) -> dict[str, Any]:
    return {
        "documents": [asdict(one) for one in report.documents],
        "skipped": [{"path": str(one.path), "why": one.why} for one in report.skipped],
        "removed": list(report.removed),
    }


@command.command("search", short_help="Search the documents.")
@options.query
@options.number("--limit", IntegerType(1, 200), 5)
@options.fraction("--min-strength", THRESHOLD, "Minimum strength of a passage to be evidence.")
@options.number("--budget", IntegerType(1), None, "Write evidence for a prompt, at most N tokens.")
@_on_knowledge
def search(
    knowledge: Knowledge,
    /,
    query: str,
    limit: int,
    min_strength: float,
    budget: int | None,
    output: Output,
) -> None:
    """Find the passages that answer QUERY, best first, with their sources."""
    if budget is not None:
        packed = knowledge.evidence(query, budget, limit=limit, threshold=min_strength)
        found, text = packed.findings, packed.text
    else:
        found, text = knowledge.search(query, limit, threshold=min_strength), ""
    if output.json:
        extra = {} if budget is None else {"text": text}
        rows = [passage.to_dict() for passage in found]
        head = {"evidence": found.evidence, "strongest": round(found.strongest, 4)}
        write_json("kb.search/1", {**head, "results": rows, **extra})
        return
    if text:
        write_text(text)
    for number, passage in enumerate(found if budget is None else (), 1):
        line = f"[{number}] {passage.source}  ({passage.strength:.0%})"
        write_text(f"{one_line(line, 400)}\n{passage.text.strip(chr(10))}\n")
    if found.evidence and budget is not None and not text:
        unfit = plural(len(found), "passage")
        room = plural(budget, "token")
        output.note(f"{unfit} found, but none fits into {room}; raise --budget.")
    else:
        output.note(found.message)


@command.command("ls", short_help="List the documents.")
@_on_knowledge
def list_documents(knowledge: Knowledge, /, output: Output) -> None:
    """List the documents by name."""
    found = knowledge.documents()
    records = [asdict(one) | {"added": moment(one.added).isoformat()} for one in found]
    room = max(20, console().width - 60)
    rows = []
    for one in found:
        name, title = shorten_path(one.name, room), one_line(one.title, 40)
        rows.append((name, title, one.kind, one.chunks, one.tokens, local_time(one.added)))
    output.records(
        "kb.ls/1",
        {"documents": records},
        ("*document", "*title", "kind", ">chunks", ">tokens", "added"),
        rows,
        empty="There is no document.",
        noun="document",
    )


@command.command("rm", short_help="Remove documents.")
@click.argument("names", metavar="NAME…", nargs=-1, required=True)
@_on_knowledge
def remove(knowledge: Knowledge, /, names: tuple[str, ...], output: Output) -> None:
    """Remove documents, by the names that 'ls' shows or the paths of their files."""
    removed, missing = list[str](), list[str]()
    for name in names:
        path = str(Path(name).absolute())
        found = next((one for one in (name, path) if knowledge.remove(one)), None)
        (missing if found is None else removed).append(found or name)
    value = {"removed": removed, "missing": missing}
    output.result("kb.rm/1", value, f"{plural(len(removed), 'document')} removed.")
    if missing:
        hint = "'foldline kb ls' lists them."
        raise InputError(f"There is no document {missing[0][:80]!r}", hint=hint)


@command.command("stats", short_help="Show the size of the store.")
@_on_knowledge
def stats(knowledge: Knowledge, /, output: Output) -> None:
    """Show the number of documents, chunks and tokens."""
    found = knowledge.stats()
    others = ", ".join(name for name in found.namespaces if name != found.namespace)
    text = (
        f"{plural(found.documents, 'document')}, {plural(found.chunks, 'chunk')}, "
        f"{found.tokens:,} tokens in the namespace {one_line(found.namespace, 80)}; "
        f"{size(found.bytes)} in all"
    )
    notes = (f"Other namespaces: {one_line(others, 400)}.",) if others else ()
    output.result("kb.stats/1", asdict(found), *notes, text=text)
