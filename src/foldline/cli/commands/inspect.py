"""``foldline inspect``: what a model saw, what it no longer sees, and what that cost."""

from __future__ import annotations

import re
import time
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

import click

from foldline.archive import Archive
from foldline.cli import options, stores
from foldline.cli.agent_sessions import SessionFile, find_sessions, named_file, project_folder
from foldline.cli.output import Output, write_bytes, write_json
from foldline.cli.writing import check_output, write_whole
from foldline.core.config import Config
from foldline.errors import FoldlineError, InputError, MissingExtra, StoreError
from foldline.inspector.shelf import Listed, Shelf, in_archive
from foldline.inspector.trace import Trace
from foldline.settings import load

MAGIC: Final = b"SQLite format 3\0"
"""What an archive begins with."""

MOST: Final = 2_000
"""Sessions that are listed: those that were changed last."""

_HANDLE: Final = re.compile(r"[0-9a-fA-F]{6,32}(?:\.\d{1,6})?")

EPILOG = """\b
Examples:
  foldline inspect
  foldline inspect session.jsonl
  foldline inspect agent.db
  foldline inspect 1f0c2a9b
  foldline inspect session.jsonl -o report.html

\b
Without an argument: the sessions of the agents on this machine, and the archive.
The page is on this machine only, behind the link that is printed. Ctrl-C ends it.
"""


@dataclass(frozen=True, slots=True)
class Target:
    """Where to begin: ``path`` is a file, a folder or an archive, ``handle`` of what it holds."""

    kind: Literal["machine", "folder", "file", "archive"]
    path: Path
    format: str = "auto"
    handle: str = ""


@click.command("inspect", epilog=EPILOG, short_help="See what the model sees, and what not.")
@click.argument("what", metavar="[FILE|DIR|ARCHIVE|HANDLE]", required=False)
@options.from_format
@options.conversation
@options.model
@click.option(
    "-o",
    "--output",
    "out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write one self-contained HTML file instead; '-' is stdout.",
)
@click.option("--session", metavar="NAME", help="Which session of an archive is written.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Of the page (any free).")
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
@options.archive
@options.output
def command(
    what: str | None,
    source_format: str | None,
    conversation: str | None,
    model: str | None,
    out: Path | None,
    session: str | None,
    port: int,
    opens: bool,
    archive_path: Path | None,
    output: Output,
) -> None:
    """
    See in a browser what a model saw, what it no longer sees, why, and what that cost.

    Takes a transcript, a folder, an archive, or a handle that the archive knows.
    """
    config = load().config
    archive = stores.archive_file(archive_path)
    start = _start(what, archive, source_format or "auto")
    if out is not None:
        if str(out) != "-":
            check_output(out, str(start.path))
        trace = _trace(start, config, (conversation, model or "", session or ""), output)
        _write(trace, out, start, output)
        return
    shelf = Shelf(lambda: _list_sessions(start, archive), config, model or "")
    _serve(shelf, start, config, (model or "", port), opens, output)


def _start(what: str | None, archive: Path, format: str) -> Target:  # noqa: A002  # as the option
    """
    Find out what was named.

    Raises:
        InputError: There is nothing of this name.
    """
    if what is None:
        return Target("machine", archive)
    path = Path(what)
    if path.is_dir():
        return Target("folder", path)
    if path.exists():
        return Target("archive", path) if _is_archive(path) else Target("file", path, format)
    if _HANDLE.fullmatch(what) and archive.exists():
        return Target("archive", archive, handle=what)
    raise InputError(
        f"There is no file, folder or archive {what}",
        hint="Name one, or a handle that the archive knows; without a name, all sessions are "
        "listed.",
    )


def _is_archive(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _list_sessions(start: Target, archive: Path) -> Iterator[Listed]:
    """List the sessions that can be looked at; those that cannot be listed are left out."""
    if start.kind == "archive":
        yield from in_archive(start.path)
        return
    if start.kind == "file":
        yield _listing(replace(named_file(start.path), agent=""), format=start.format)
        return
    places = (start.path,) if start.kind == "folder" else ()
    found = [one for one in find_sessions(places) if isinstance(one, SessionFile)]
    for file in sorted(found, key=lambda one: -one.changed)[:MOST]:
        yield _listing(file)
    if start.kind == "machine" and archive.exists():
        try:
            yield from in_archive(archive)
        except StoreError:
            return


def _listing(found: SessionFile, format: str = "auto") -> Listed:  # noqa: A002  # as the option
    return Listed(
        title=found.path.name,
        agent=found.agent or "transcript",
        origin="file",
        place=found.path,
        project=project_folder(found),
        size=found.size,
        changed=found.changed,
        format=format,
    )


# --- one file -------------------------------------------------------------------------------


def _trace(
    start: Target, config: Config, said: tuple[str | None, str, str], output: Output
) -> Trace:
    """
    Read the one session that is to be written.

    Raises:
        InputError: More than one may be meant.
    """
    from foldline.inspector.loading import from_archive, from_file

    conversation, model, session = said
    with output.working(f"Reading {start.path}", long=True):
        if start.kind == "file":
            index = int(conversation) - 1 if conversation and conversation.isdecimal() else None
            return from_file(
                start.path,
                config,
                _no_progress,
                conversation=index,
                model=model,
                format=start.format,
            )
        if start.kind == "archive":
            name = session or (
                _find_session(start) if start.handle else in_archive(start.path)[0].name
            )
            return from_archive(start.path, name, config, _no_progress, model=model)
    raise InputError(
        "A report is of one session", hint="Name its file, or an archive with --session NAME."
    )


def _no_progress(_: float, __: str) -> None:
    """Tell nobody how far it is."""


def _write(trace: Trace, out: Path, start: Target, output: Output) -> None:
    from foldline.inspector.report import report

    data = report(trace, time.time()).encode("utf-8", "replace")
    if str(out) == "-":
        write_bytes(data)
        return
    write_whole(out, data, str(start.path))
    if output.json:
        write_json("inspect/1", {"report": str(out), "bytes": len(data)})
    else:
        output.note(f"Wrote {out}, {len(data):,} bytes. It needs no network and no server.")


# --- the page -------------------------------------------------------------------------------


def _serve(
    shelf: Shelf,
    start: Target,
    config: Config,
    said: tuple[str, int],
    opens: bool,
    output: Output,
) -> None:
    """
    Serve the pages until Ctrl-C.

    Raises:
        MissingExtra: What serves pages is not installed.
    """
    try:
        from foldline.inspector.web import listen, serve
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "starlette", "inspect") from error
    from foldline.inspector.access import Access
    from foldline.inspector.site import Site
    from foldline.inspector.surveying import Survey

    model, port = said
    first = _first_page(shelf, start)
    place = listen(port)
    access = Access(place.getsockname()[1])
    link = access.link(first)
    if output.json:
        write_json("inspect/1", {"link": link})
    else:
        click.echo(link)
        output.note("Open this link; only this machine can. Ctrl-C ends it.")
    if opens:
        webbrowser.open(link)
    serve(Site(shelf, Survey(config, model), access.token), access, place)


def _first_page(shelf: Shelf, start: Target) -> str:
    """Return the page to begin with: the one session that was named, or the table of all."""
    found = shelf.sessions()
    if start.kind == "file":
        return f"/s/{found[0].key}"
    if start.handle:
        name = _find_session(start)
        listed = next(one for one in found if one.name == name)
        return f"/s/{listed.key}/messages/{_message(start, name)}"
    return "/"


def _find_session(start: Target) -> str:
    """
    Return the session that has something under a handle.

    Raises:
        RecallError: None has.
    """
    wanted = start.handle.partition(".")[0].lower()
    with Archive.open(start.path) as archive:
        archive.recall(start.handle)  # raises where it names nothing
        for info in archive.sessions():
            if any(m.id.startswith(wanted) for m in archive.messages(info.head.name)):
                return info.head.name
    raise FoldlineError(
        f"{start.handle} is a snapshot, not a message.", hint="Open its session instead."
    )


def _message(start: Target, name: str) -> str:
    wanted = start.handle.partition(".")[0].lower()
    with Archive.open(start.path) as archive:
        return next(m.id for m in archive.messages(name) if m.id.startswith(wanted))
