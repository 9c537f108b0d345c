"""The sessions of an archive as tables, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from foldline.archive import Archive
from foldline.cli import options, stores
from foldline.cli.options import PERIOD, SIZE
from foldline.cli.output import Output, one_line, table, write_json, write_text
from foldline.cli.writing import check_output, write_whole
from foldline.engine.receipt import Receipt
from foldline.errors import InputError
from foldline.evaluation.figures import local_time, moment, plural, size
from foldline.session.export import export as export_messages
from foldline.stores.protocol import SessionInfo
from foldline.stores.retention import Retention


def list_sessions(sessions: Sequence[SessionInfo], output: Output) -> None:
    """Write a list of sessions to stdout."""
    output.records(
        "sessions/1",
        {"sessions": [_row(info) for info in sessions]},
        ("*session", "format", ">messages", ">compactions", ">size", "changed"),
        map(_cells, sessions),
        empty="The archive is empty.",
        noun="session",
    )


def _cells(info: SessionInfo) -> tuple[Any, ...]:
    name, kind = info.head.name, one_line(info.head.dialect, 20)
    return name, kind, info.messages, info.batches, size(info.size), local_time(info.updated)


def show_session(info: SessionInfo, receipts: Sequence[Receipt], output: Output) -> None:
    """Write a session and its receipts to stdout."""
    if output.json:
        listed = [receipt.to_dict() for receipt in receipts]
        write_json("sessions.show/1", {**_row(info), "receipts": listed})
        return
    window = f" of {info.head.window:,} tokens" if info.head.window else ""
    rows = (
        ("format", info.head.dialect or "unknown"),
        ("model", f"{info.head.model or 'not named'}{window}"),
        ("started", local_time(info.head.created)),
        ("changed", local_time(info.updated)),
        ("messages", f"{info.messages:,}, {size(info.size)}"),
    )
    done = [receipt for receipt in receipts if receipt.status == "compacted"]
    facts = table("session", "*" + one_line(info.head.name), rows=rows)
    output.draw(facts, *([_receipts(done)] if done else ()))
    saved = sum(receipt.tokens_before - receipt.tokens_after for receipt in done)
    output.note(f"{plural(len(done), 'compaction')}, {saved:,} tokens removed from the view.")


def _receipts(receipts: Sequence[Receipt]) -> Grid:
    rows = []
    for number, one in enumerate(receipts, 1):
        messages = f"{one.messages_before:,} → {one.messages_after:,}"
        price = f"${one.spent.usd:.4f}" if one.spent.attempts else ""
        rows.append((number, one.tokens_before, one.tokens_after, messages, one.reason, price))
    return table(">#", ">before", ">after", ">messages", "*by", ">model", rows=rows)


def _row(info: SessionInfo) -> dict[str, Any]:
    return {
        "name": info.head.name,
        "format": info.head.dialect,
        "model": info.head.model,
        "window": info.head.window,
        "messages": info.messages,
        "compactions": info.batches,
        "bytes": info.size,
        "created": moment(info.head.created).isoformat(),
        "updated": moment(info.updated).isoformat(),
    }


if TYPE_CHECKING:
    from foldline.cli.drawing import Grid

EPILOG = """\b
Examples:
  foldline sessions
  foldline sessions show agent-1
  foldline sessions export agent-1 -o agent-1.jsonl
  foldline sessions delete agent-1 agent-2
  foldline sessions delete --keep 30d --max-size 1GB --yes

\b
The archive holds conversations in plain text, readable by you only. Deleted sessions are
overwritten in the file; deleting its copies and backups is up to you.
"""


@click.group("sessions", epilog=EPILOG, invoke_without_command=True)
@options.archive_place
@click.pass_context
def command(ctx: click.Context, archive_path: Path | str | None) -> None:
    """List, show, export and delete the sessions of the archive; list them by default."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_command, as_json=False, quiet=False, archive_path=archive_path)


_on_archive = options.on_store(options.archive_place, ("archive_path",), stores.open_archive)
"""Pass a command the archive, which must exist, and its output."""


@command.command("list", short_help="List the sessions, the newest first.")
@_on_archive
def list_command(archive: Archive, output: Output) -> None:
    """List the sessions, the most recently changed first."""
    list_sessions(archive.sessions(), output)


@command.command("show", short_help="Show a session and its compactions.")
@click.argument("name")
@_on_archive
def show(archive: Archive, name: str, output: Output) -> None:
    """Show the size of the session NAME, and what each compaction of it did."""
    receipts = archive.receipts(name)
    info = next(info for info in archive.sessions() if info.head.name == name)
    show_session(info, receipts, output)


@command.command("export", short_help="Export the original messages of a session.")
@click.argument("name")
@options.output_file("Where to write; '-' or nothing is stdout.")
@options.archive_place
@options.output
def export(name: str, out: Path | None, archive_path: Path | str | None, output: Output) -> None:
    """Write every original message of the session NAME, one JSON value per line."""
    target = None if out == options.STDOUT else out
    source = str(stores.archive_place(archive_path))
    if target is not None:
        check_output(target, source)
    lines = StringIO()  # so that an error leaves no partial export
    with stores.open_archive(archive_path) as archive:
        count = export_messages(archive.messages(name), lines)
    text = lines.getvalue()
    if target is None:
        write_text(text)
    else:
        write_whole(target, text.encode(), source)
    if output.json and target is not None:
        write_json("sessions.export/1", {"name": name, "messages": count, "file": str(target)})
    output.note(f"{plural(count, 'message')}.")


@command.command("delete", short_help="Delete sessions for good.")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--keep", metavar="TIME", type=PERIOD, help="Delete older sessions: 30d, 12h.")
@click.option("--max-size", metavar="SIZE", type=SIZE, help="Delete the oldest beyond this: 1GB.")
@click.option("--all", "everything", is_flag=True, help="Delete all sessions.")
@click.option("--yes", is_flag=True, help="Confirm; required unless sessions are named.")
@options.archive_place
@options.output
def delete(
    names: tuple[str, ...],
    keep: float | None,
    max_size: float | None,
    everything: bool,
    yes: bool,
    archive_path: Path | str | None,
    output: Output,
) -> None:
    """
    Delete the sessions NAME, or those that --keep, --max-size or --all select.

    Their bytes are overwritten, except those shared with other sessions. This cannot be undone.
    """
    limits = keep is not None or max_size is not None
    if not (names or limits or everything):
        options.refuse("Name sessions, or give --keep, --max-size or --all.")
    if (limits or everything) and not yes:
        options.refuse("This cannot be undone; confirm with --yes.")
    with stores.open_archive(archive_path) as archive:
        stored = dict.fromkeys(info.head.name for info in archive.sessions())
        if missing := [name for name in names if name not in stored]:
            raise InputError(
                f"There is no session {missing[0][:80]!r}; nothing was deleted",
                hint="'foldline sessions' lists them.",
            )
        deleted = tuple(stored if everything else dict.fromkeys(names))
        archive.delete(*deleted)
        if limits:
            most = None if max_size is None else int(max_size)
            deleted += archive.prune(Retention(keep, most))
        left = archive.size()
    output.result(
        "sessions.delete/1",
        {"deleted": list(deleted), "bytes_left": left},
        f"Deleted {plural(len(deleted), 'session')}; the archive now takes {size(left)}.",
    )
