"""``foldline inspect``: what a model saw, what it no longer sees, and what that cost."""

from __future__ import annotations

import re
import time
import webbrowser
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import click

from foldline.archive import Archive
from foldline.cli import options, stores
from foldline.cli.agent_sessions import SessionFile, find_sessions, named_file, project_folder
from foldline.cli.output import Output, write_bytes, write_json
from foldline.cli.reading import open_input
from foldline.cli.writing import check_output, write_whole
from foldline.core.config import Config
from foldline.errors import FoldlineError, InputError, MissingExtra, StoreError
from foldline.frozen import frozen, replace
from foldline.inspector.loading import read_entry
from foldline.inspector.pages.sessions import SessionSurvey
from foldline.inspector.session_cache import SessionCache, archive_entries
from foldline.inspector.trace import SessionEntry, SessionTrace
from foldline.settings import load

MAGIC: Final = b"SQLite format 3\0"
"""First bytes of an archive."""

MOST: Final = 2_000
"""Maximum number of sessions listed, the most recently changed first."""

_HANDLE: Final = re.compile(r"[0-9a-fA-F]{6,32}(?:\.\d{1,6})?")

EPILOG = """\b
Examples:
  foldline inspect
  foldline inspect session.jsonl
  foldline inspect agent.db
  foldline inspect 1f0c2a9b
  foldline inspect session.jsonl -o report.html

\b
Without an argument: the agent sessions on this machine, and the archive.
The page is served on this machine only, at the printed link. Ctrl-C stops it.
"""


@frozen
class Target:
    """What to inspect: ``path`` is a file, folder or archive; ``handle`` names content in it."""

    kind: Literal["machine", "folder", "file", "archive"]
    path: Path
    format: str = "auto"
    handle: str = ""


@click.command("inspect", epilog=EPILOG)
@click.argument("what", metavar="[FILE|DIR|ARCHIVE|HANDLE]", required=False)
@options.from_format
@options.conversation
@options.model
@options.output_file("Write one self-contained HTML file instead; '-' is stdout.")
@click.option("--session", metavar="NAME", help="Session of an archive to write.")
@options.number("--port", click.IntRange(0, 65_535), 0, "Port of the page (any free one).")
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
    Show in a browser what a model saw, what it no longer sees, why, and the cost.

    Takes a transcript, a folder, an archive, or a handle in the archive.
    """
    config = load().config
    archive = stores.archive_file(archive_path)
    target = _find_target(what, archive, source_format or "auto")
    if out is not None:
        if out != options.STDOUT:
            check_output(out, str(target.path))
        with output.working(f"Reading {target.path}", long=True):
            if target.kind == "file":
                trace = _file_trace(target, config, model or "", conversation)
            else:
                trace = _archive_trace(target, config, model or "", session)
        _write(trace, out, target, output)
        return
    cache = SessionCache(lambda: _list_sessions(target, archive), config, model or "")
    _serve(cache, target, SessionSurvey(config, model or ""), port, opens=opens, output=output)


def _find_target(what: str | None, archive: Path, format: str) -> Target:  # noqa: A002  # as the option
    """
    Resolve the argument.

    Raises:
        InputError: Nothing has this name.
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
        hint="Name one, or a handle in the archive; without a name, all sessions are listed.",
    )


def _is_archive(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC
    return False


def _list_sessions(target: Target, archive: Path) -> Iterator[SessionEntry]:
    """List the sessions that can be read, and leave out the others."""
    if target.kind == "archive":
        yield from archive_entries(target.path)
        return
    if target.kind == "file":
        yield _listing(replace(named_file(target.path), agent=""), format=target.format)
        return
    places = (target.path,) if target.kind == "folder" else ()
    found = [one for one in find_sessions(places) if isinstance(one, SessionFile)]
    for file in sorted(found, key=lambda one: -one.changed)[:MOST]:
        yield _listing(file)
    if target.kind == "machine" and archive.exists():
        with suppress(StoreError):
            yield from archive_entries(archive)


def _listing(found: SessionFile, format: str = "auto") -> SessionEntry:  # noqa: A002  # as the option
    path, agent, project = found.path, found.agent or "transcript", project_folder(found)
    return SessionEntry(
        path.name, agent, "file", path, "", project, found.size, found.changed, format
    )


# --- one file -------------------------------------------------------------------------------


def _file_trace(
    target: Target, config: Config, model: str, conversation: str | None
) -> SessionTrace:
    path, index = target.path, None
    if conversation is not None:
        known = None if target.format == "auto" else target.format
        index = open_input(str(path), known, conversation, Output(quiet=True)).index
    entry = SessionEntry(
        path.name, "transcript", "file", path, format=target.format, conversation=index
    )
    return read_entry(entry, config, lambda *_: None, model)


def _archive_trace(
    target: Target, config: Config, model: str, session: str | None
) -> SessionTrace:
    """
    Read the session of an archive that a report is written for.

    Raises:
        InputError: The session is ambiguous.
    """
    if target.kind != "archive":
        raise InputError(
            "A report shows one session", hint="Name its file, or an archive with --session NAME."
        )
    if session is None and target.handle:
        session, _ = _find_message(target)
    name = session or archive_entries(target.path)[0].name
    entry = SessionEntry(name, "foldline", "archive", target.path, name)
    return read_entry(entry, config, lambda *_: None, model)


def _write(trace: SessionTrace, out: Path, target: Target, output: Output) -> None:
    from foldline.inspector.report import report

    data = report(trace, time.time()).encode("utf-8", "replace")
    if out == options.STDOUT:
        write_bytes(data)
        return
    write_whole(out, data, str(target.path))
    note = f"Wrote {out}, {len(data):,} bytes. It needs no network and no server."
    output.result("inspect/1", {"report": str(out), "bytes": len(data)}, note)


# --- the page -------------------------------------------------------------------------------


def _serve(
    cache: SessionCache,
    target: Target,
    survey: SessionSurvey,
    port: int,
    *,
    opens: bool,
    output: Output,
) -> None:
    """
    Serve the pages until Ctrl-C is pressed.

    Raises:
        MissingExtra: The web server is not installed.
    """
    try:
        from foldline.inspector.web import Access, listen, serve
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "starlette", "inspect") from error
    from foldline.inspector.site import InspectorSite

    first = _first_page(cache, target)
    place = listen(port)
    access = Access(place.getsockname()[1])
    link = access.link(first)
    if output.json:
        write_json("inspect/1", {"link": link})
    else:
        click.echo(link)
        output.note("Open this link; only this machine can. Ctrl-C stops the server.")
    if opens:
        webbrowser.open(link)
    serve(InspectorSite(cache, survey, access.token), access, place)


def _first_page(cache: SessionCache, target: Target) -> str:
    """Return the start page: the named session, or the table of all sessions."""
    found = cache.sessions()
    if target.kind == "file":
        return f"/s/{found[0].key}"
    if target.handle:
        name, message = _find_message(target)
        listed = next(one for one in found if one.name == name)
        return f"/s/{listed.key}/messages/{message}"
    return "/"


def _find_message(target: Target) -> tuple[str, str]:
    """
    Return the session whose message has a handle, and the id of the message.

    Raises:
        RecallError: No message has it.
    """
    prefix = target.handle.partition(".")[0].lower()
    with Archive.open(target.path) as archive:
        archive.recall(target.handle)  # raises if it names nothing
        for info in archive.sessions():
            for message in archive.messages(info.head.name):
                if message.id.startswith(prefix):
                    return info.head.name, message.id
    raise FoldlineError(
        f"{target.handle} is a snapshot, not a message.", hint="Open its session instead."
    )
