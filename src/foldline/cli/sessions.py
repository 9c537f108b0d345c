"""``foldline sessions``: what the archive holds: listed, shown, written out, and deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from foldline.archive import Archive
from foldline.cli import options
from foldline.cli.lengths import PERIOD, SIZE
from foldline.cli.output import counted, size, write_json, write_text
from foldline.cli.session_tables import list_sessions, show_session
from foldline.cli.writing import check_output, write_whole
from foldline.errors import InputError
from foldline.session.export import export as export_messages
from foldline.stores.retention import Retention

EPILOG = """\b
Examples:
  foldline sessions
  foldline sessions show agent-1
  foldline sessions export agent-1 -o agent-1.jsonl
  foldline sessions delete agent-1 agent-2
  foldline sessions delete --keep 30d --max-size 1GB --yes

\b
The archive holds what was said in plain text, readable by you only. What is deleted is
overwritten in the file; copies and backups of it are yours to delete.
"""


@click.group(
    "sessions",
    epilog=EPILOG,
    short_help="List, show, export and delete what the archive holds.",
    invoke_without_command=True,
)
@options.archive
@click.pass_context
def command(ctx: click.Context, archive_path: Path | None) -> None:
    """List, show, export and delete the sessions of the archive; without a verb, list them."""
    ctx.obj = archive_path
    if ctx.invoked_subcommand is None:
        ctx.invoke(listed, as_json=False, quiet=False, archive_path=None)


def _archive(ctx: click.Context, given: Path | None) -> Archive:
    """Open the archive that a verb or the group names; it must exist."""
    return options.existing_archive(given or ctx.obj)


@command.command("list", short_help="List the sessions, the newest first.")
@options.archive
@options.voice
@click.pass_context
def listed(ctx: click.Context, /, archive_path: Path | None, **rest: Any) -> None:
    """List the sessions, the one that was changed last first."""
    voice = options.voiced(rest)
    with _archive(ctx, archive_path) as archive:
        list_sessions(archive.sessions(), voice)


@command.command("show", short_help="Show a session and its compactions.")
@click.argument("name")
@options.archive
@options.voice
@click.pass_context
def show(ctx: click.Context, /, name: str, archive_path: Path | None, **rest: Any) -> None:
    """Show how large the session NAME is, and what each compaction of it did."""
    voice = options.voiced(rest)
    with _archive(ctx, archive_path) as archive:
        receipts = archive.receipts(name)
        info = next(info for info in archive.sessions() if info.head.name == name)
    show_session(info, receipts, voice)


@command.command("export", short_help="Write a session out as it was on the wire.")
@click.argument("name")
@click.option(
    "-o", "--output", "out", metavar="OUT", default="-", help="Where to; '-' or nothing is stdout."
)
@options.archive
@options.voice
@click.pass_context
def export(
    ctx: click.Context, /, name: str, out: str, archive_path: Path | None, **rest: Any
) -> None:
    """Write every message of the session NAME as it came, one JSON value a line."""
    voice = options.voiced(rest)
    target = None if out == "-" else Path(out)
    source = str(options.archive_file(archive_path or ctx.obj))
    if target is not None:
        check_output(target, source)
    lines = _Lines()
    with _archive(ctx, archive_path) as archive:
        count = export_messages(archive.messages(name), lines)
    text = "".join(lines.written)
    if target is None:
        write_text(text)
    else:
        write_whole(target, text.encode(), source)
    if voice.json and target is not None:
        write_json("sessions.export/1", {"name": name, "messages": count, "file": str(target)})
    voice.note(f"{counted(count, 'message')}.")


class _Lines:
    """A text file in memory, so that an error leaves no half of an export behind."""

    def __init__(self) -> None:
        self.written = list[str]()

    def write(self, text: str) -> None:
        self.written.append(text)


@command.command("delete", short_help="Delete sessions for good.")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--keep", metavar="TIME", type=PERIOD, help="All that are older: 30d, 12h.")
@click.option("--max-size", metavar="SIZE", type=SIZE, help="The oldest, until the rest is 1GB.")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@click.option("--yes", is_flag=True, help="Do it; needed unless sessions are named.")
@options.archive
@options.voice
@click.pass_context
def delete(
    ctx: click.Context,
    /,
    names: tuple[str, ...],
    keep: float | None,
    max_size: float | None,
    everything: bool,
    yes: bool,
    archive_path: Path | None,
    **rest: Any,
) -> None:
    """
    Delete the sessions NAME, or those that --keep, --max-size or --all say.

    Their bytes are overwritten; what another session holds too stays. Nothing brings them back.
    """
    voice = options.voiced(rest)
    limits = keep is not None or max_size is not None
    if not (names or limits or everything):
        raise click.UsageError("Name sessions, or say --keep, --max-size or --all.", ctx)
    if (limits or everything) and not yes:
        raise click.UsageError("This cannot be undone; say --yes.", ctx)
    with _archive(ctx, archive_path) as archive:
        gone = _known(archive, names)
        if everything:
            gone = tuple(info.head.name for info in archive.sessions())
        archive.delete(*gone)
        if limits:
            most = None if max_size is None else int(max_size)
            gone += archive.prune(Retention(keep, most))
        left = archive.size()
    if voice.json:
        write_json("sessions.delete/1", {"deleted": list(gone), "bytes_left": left})
        return
    voice.note(f"Deleted {counted(len(gone), 'session')}; the archive takes {size(left)} now.")


def _known(archive: Archive, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of sessions that are there; one that is not is an error before any goes."""
    there = {info.head.name for info in archive.sessions()} if names else set()
    for name in names:
        if name not in there:
            raise InputError(
                f"there is no session {name[:80]!r}; nothing was deleted",
                hint="'foldline sessions' lists them.",
            )
    return tuple(dict.fromkeys(names))
