"""``foldline inspect``: what a model saw, what it no longer sees, and what that cost."""

from __future__ import annotations

import re
import time
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import click

from foldline.archive import Archive
from foldline.cli import options
from foldline.cli.agent_homes import Candidate, Trouble, homes, in_folder, in_home
from foldline.cli.output import Voice, write_bytes, write_json
from foldline.cli.survey import project
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
class Start:
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
@options.voice
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
    **rest: Any,
) -> None:
    """
    See in a browser what a model saw, what it no longer sees, why, and what that cost.

    Takes a transcript, a folder, an archive, or a handle that the archive knows.
    """
    voice = options.voiced(rest)
    config = load().config
    archive = options.archive_file(archive_path)
    start = _start(what, archive, source_format or "auto")
    if out is not None:
        if str(out) != "-":
            check_output(out, str(start.path))
        trace = _trace(start, config, (conversation, model or "", session or ""), voice)
        _write(trace, out, start, voice)
        return
    shelf = Shelf(lambda: _listed(start, archive), config, model or "")
    _serve(shelf, start, config, (model or "", port), opens, voice)


def _start(what: str | None, archive: Path, format: str) -> Start:  # noqa: A002  # as the option
    """
    Find out what was named.

    Raises:
        InputError: There is nothing of this name.
    """
    if what is None:
        return Start("machine", archive)
    path = Path(what)
    if path.is_dir():
        return Start("folder", path)
    if path.exists():
        return Start("archive", path) if _is_archive(path) else Start("file", path, format)
    if _HANDLE.fullmatch(what) and archive.exists():
        return Start("archive", archive, handle=what)
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


def _listed(start: Start, archive: Path) -> Iterator[Listed]:
    """List the sessions that can be looked at; those that cannot be listed are left out."""
    if start.kind == "archive":
        yield from in_archive(start.path)
        return
    if start.kind == "file":
        status = start.path.stat()
        yield _as_listed(
            Candidate(start.path, status.st_size, status.st_mtime), format=start.format
        )
        return
    places = (
        in_folder(start.path)
        if start.kind == "folder"
        else (found for home in homes() if home.folder.is_dir() for found in in_home(home))
    )
    found = [place for place in places if not isinstance(place, Trouble)]
    for candidate in sorted(found, key=lambda one: -one.changed)[:MOST]:
        yield _as_listed(candidate)
    if start.kind == "machine" and archive.exists():
        try:
            yield from in_archive(archive)
        except StoreError:
            return


def _as_listed(found: Candidate, format: str = "auto") -> Listed:  # noqa: A002  # as the option
    return Listed(
        title=found.path.name,
        agent=found.agent or "transcript",
        origin="file",
        place=found.path,
        project=project(found),
        size=found.size,
        changed=found.changed,
        format=format,
    )


# --- one file -------------------------------------------------------------------------------


def _trace(start: Start, config: Config, said: tuple[str | None, str, str], voice: Voice) -> Trace:
    """
    Read the one session that is to be written.

    Raises:
        InputError: More than one may be meant.
    """
    from foldline.inspector.loading import from_archive, from_file

    conversation, model, session = said
    with voice.working(f"Reading {start.path}", long=True):
        if start.kind == "file":
            index = int(conversation) - 1 if conversation and conversation.isdecimal() else None
            return from_file(
                start.path,
                config,
                _silent,
                conversation=index,
                model=model,
                format=start.format,
            )
        if start.kind == "archive":
            name = session or (_holder(start) if start.handle else in_archive(start.path)[0].name)
            return from_archive(start.path, name, config, _silent, model=model)
    raise InputError(
        "A report is of one session", hint="Name its file, or an archive with --session NAME."
    )


def _silent(_: float, __: str) -> None:
    """Tell nobody how far it is."""


def _write(trace: Trace, out: Path, start: Start, voice: Voice) -> None:
    from foldline.inspector.report import report

    data = report(trace, time.time()).encode("utf-8", "replace")
    if str(out) == "-":
        write_bytes(data)
        return
    write_whole(out, data, str(start.path))
    if voice.json:
        write_json("inspect/1", {"report": str(out), "bytes": len(data)})
    else:
        voice.note(f"Wrote {out}, {len(data):,} bytes. It needs no network and no server.")


# --- the page -------------------------------------------------------------------------------


def _serve(
    shelf: Shelf,
    start: Start,
    config: Config,
    said: tuple[str, int],
    opens: bool,
    voice: Voice,
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
    if voice.json:
        write_json("inspect/1", {"link": link})
    else:
        click.echo(link)
        voice.note("Open this link; only this machine can. Ctrl-C ends it.")
    if opens:
        webbrowser.open(link)
    serve(Site(shelf, Survey(config, model), access.token), access, place)


def _first_page(shelf: Shelf, start: Start) -> str:
    """Return the page to begin with: the one session that was named, or the table of all."""
    found = shelf.sessions()
    if start.kind == "file":
        return f"/s/{found[0].key}"
    if start.handle:
        name = _holder(start)
        listed = next(one for one in found if one.name == name)
        return f"/s/{listed.key}/messages/{_message(start, name)}"
    return "/"


def _holder(start: Start) -> str:
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


def _message(start: Start, name: str) -> str:
    wanted = start.handle.partition(".")[0].lower()
    with Archive.open(start.path) as archive:
        return next(m.id for m in archive.messages(name) if m.id.startswith(wanted))
