"""``foldline archive``: copy and check whole archives."""

from __future__ import annotations

import secrets
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Final, TextIO

import click

from foldline.cli import options, stores
from foldline.cli.errors import NamingGroup
from foldline.cli.output import Output, one_line, write_json
from foldline.errors import StoreError
from foldline.evaluation.figures import plural
from foldline.sql import is_url
from foldline.stores.opening import open_store
from foldline.stores.protocol import Store
from foldline.stores.transfer import check_sessions, copy_sessions

KEY_BYTES: Final = 32

KEY_MOST: Final = 1_000
"""Maximum length of a key, in characters."""

EPILOG = """\b
Examples:
  foldline archive check
  foldline archive copy agents.db postgresql://agents@db.example/agents
  foldline archive copy postgresql://agents@db.example/agents backup.db

\b
An archive is a SQLite file, or a PostgreSQL database named by its URL. Pass a password
in PGPASSWORD or ~/.pgpass: other users of the machine can see the URL.
"""


@click.group("archive", cls=NamingGroup, epilog=EPILOG)
def command() -> None:
    """Copy archives between SQLite files and PostgreSQL databases, and check what is in them."""


@command.command("copy", short_help="Copy every session to another archive.")
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
@click.option(
    "--key-file",
    type=click.File(),
    help="Encrypt DST with the key in this file instead of the key of SRC.",
)
@click.option("--plain", is_flag=True, help="Leave DST without encryption.")
@options.output
def copy(
    source: str, target: str, key_file: TextIO | None, output: Output, *, plain: bool
) -> None:
    """
    Copy every session of the archive SRC to the archive DST.

    Existing sessions in DST stay, and an interrupted copy resumes where it stopped. Handles,
    receipts and compactions are copied too: recall works from DST as from SRC.

    FOLDLINE_ARCHIVE_KEY holds the key of SRC if it is encrypted. A new DST is
    encrypted with the same key, or with the one in --key-file.
    """
    both = [place if is_url(place) else str(Path(place).absolute()) for place in (source, target)]
    if both[0] == both[1]:
        raise click.UsageError("SRC and DST are the same archive.")
    if plain and key_file is not None:
        raise click.UsageError("Give --plain or --key-file.")
    key = key_file.read(KEY_MOST).strip() if key_file else "" if plain else None
    sessions = messages = batches = 0
    with closing(_open(source)) as old, closing(open_store(target, key=key)) as new:
        for copied in copy_sessions(old, new):
            sessions += 1
            messages += copied.messages
            batches += copied.batches
            output.note(f"{one_line(copied.name, 60)}: {plural(copied.messages, 'message')} added")
    if output.json:
        counts = {"sessions": sessions, "messages": messages, "batches": batches}
        write_json("archive.copy/1", counts)
    output.note(f"{plural(sessions, 'session')}, {plural(messages, 'message')} added.")


@command.command("key", short_help="Make a key for an encrypted archive.")
@options.output
def make_key(output: Output) -> None:
    """
    Print a new random key.

    Keep it in FOLDLINE_ARCHIVE_KEY or a file, readable only by those who may read the archive:
    without it, nothing in an archive encrypted with it can be read again.
    """
    key = secrets.token_urlsafe(KEY_BYTES)
    output.result("archive.key/1", {"key": key}, text=key)


@command.command("check", short_help="Read everything, and report damage.")
@click.argument("place", metavar="[ARCHIVE]", required=False)
@options.output
@click.pass_context
def check(ctx: click.Context, /, place: str | None, output: Output) -> None:
    """
    Read every message and compaction of ARCHIVE and compare it with its hash.

    Exit with 5 if anything is damaged; the rest of the archive stays usable.
    """
    with closing(_open(place or str(stores.archive_file(None)))) as store:
        checks = tuple(check_sessions(store))
    messages, damaged = sum(one.messages for one in checks), []
    for one in checks:
        if one.problem:
            damaged.append(asdict(one))
            lost = f"{plural(one.unreadable, 'message')} cannot be read." if one.unreadable else ""
            output.note(f"{one_line(one.name, 60)}: {lost} {one.problem}")
    if output.json:
        value = {"sessions": len(checks), "messages": messages, "damaged": damaged}
        write_json("archive.check/1", value)
    verdict = f"{len(damaged)} of them damaged" if damaged else "all of it readable"
    output.note(f"{plural(len(checks), 'session')}, {plural(messages, 'message')}: {verdict}.")
    ctx.exit(5 if damaged else 0)


def _open(place: str) -> Store:
    if not is_url(place) and not Path(place).is_file():
        raise StoreError(f"There is no archive {place}.", hint="Name a file, or a URL.")
    return open_store(place, takes_plain=True)
