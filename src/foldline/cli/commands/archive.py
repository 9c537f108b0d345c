"""``foldline archive``: whole archives, copied to another place or read through."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import click

from foldline.cli import options, stores
from foldline.cli.groups import NamingGroup
from foldline.cli.output import Output, one_line, plural, write_json
from foldline.errors import StoreError
from foldline.sql import is_url
from foldline.stores.opening import open_store
from foldline.stores.protocol import Store
from foldline.stores.transfer import check_sessions, copy_sessions

EPILOG = """\b
Examples:
  foldline archive check
  foldline archive copy agents.db postgresql://agents@db.example/agents
  foldline archive copy postgresql://agents@db.example/agents backup.db

\b
An archive is a SQLite file, or a PostgreSQL database named by its URL. A password is better
given in PGPASSWORD or ~/.pgpass than in the URL, which other users of the machine can see.
"""


@click.group("archive", cls=NamingGroup, epilog=EPILOG)
def command() -> None:
    """Copy archives between SQLite files and PostgreSQL databases, and check what is in them."""


@command.command("copy", short_help="Copy every session to another archive.")
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
@options.output
def copy(source: str, target: str, output: Output) -> None:
    """
    Copy every session of the archive SRC to the archive DST.

    What is there already stays, and an interrupted copy goes on where it ended. Handles,
    receipts and compactions come along: every one is recalled from DST as from SRC.
    """
    _refuse_same(source, target)
    sessions = messages = batches = 0
    with closing(_open(source)) as old, closing(open_store(target)) as new:
        for copied in copy_sessions(old, new):
            sessions += 1
            messages += copied.messages
            batches += copied.batches
            output.note(f"{one_line(copied.name, 60)}: {plural(copied.messages, 'message')} added")
    if output.json:
        write_json(
            "archive.copy/1", {"sessions": sessions, "messages": messages, "batches": batches}
        )
    output.note(f"{plural(sessions, 'session')}, {plural(messages, 'message')} added.")


@command.command("check", short_help="Read everything, and name what is damaged.")
@click.argument("place", metavar="[ARCHIVE]", required=False)
@options.output
@click.pass_context
def check(ctx: click.Context, /, place: str | None, output: Output) -> None:
    """
    Read every message and compaction of ARCHIVE and compare it with its hash.

    Exits with 5 if something is damaged; the rest of the archive stays usable.
    """
    with closing(_open(place or str(stores.archive_file(None)))) as store:
        checks = tuple(check_sessions(store))
    damaged = [one for one in checks if one.problem]
    for one in damaged:
        output.note(f"{one_line(one.name, 60)}: {_damage(one.unreadable)} {one.problem}")
    if output.json:
        write_json(
            "archive.check/1",
            {
                "sessions": len(checks),
                "messages": sum(one.messages for one in checks),
                "damaged": [asdict(one) for one in damaged],
            },
        )
    _conclude(output, len(checks), sum(one.messages for one in checks), len(damaged))
    ctx.exit(5 if damaged else 0)


def _damage(unreadable: int) -> str:
    return f"{plural(unreadable, 'message')} cannot be read." if unreadable else ""


def _conclude(output: Output, sessions: int, messages: int, damaged: int) -> None:
    verdict = f"{damaged} of them damaged" if damaged else "all of it readable"
    output.note(f"{plural(sessions, 'session')}, {plural(messages, 'message')}: {verdict}.")


def _open(place: str) -> Store:
    if not is_url(place) and not Path(place).is_file():
        raise StoreError(f"There is no archive {place}.", hint="Name a file, or a URL.")
    return open_store(place)


def _refuse_same(source: str, target: str) -> None:
    both = [place if is_url(place) else str(Path(place).absolute()) for place in (source, target)]
    if both[0] == both[1]:
        raise click.UsageError("SRC and DST are the same archive.")
