"""``foldline recall``: show what a compaction removed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from foldline.cli import options, stores
from foldline.cli.commands.sessions import list_sessions
from foldline.cli.options import IntegerType
from foldline.cli.output import Output, json_text, write_json, write_text
from foldline.session.codec import freeze

EPILOG = """\b
Examples:
  foldline recall 1f0c2a9b
  foldline recall 1f0c2a9b --query 'why did the build fail' --max-tokens 250
  foldline recall 1f0c2a9b --grep 'Error|FAILED' --context 5
  foldline recall 1f0c2a9b --lines -50:
  foldline recall 1f0c2a9b --json-path '$.items[0].name'
  foldline recall --list
"""


@click.command("recall", epilog=EPILOG)
@click.argument("handle", required=False)
@click.option("--list", "listed", is_flag=True, help="List the sessions of the archive instead.")
@click.option("--session", metavar="NAME", help="Look in this session only.")
@click.option("--query", metavar="WORDS", help="The passages that answer a question best.")
@click.option("--grep", metavar="RE", help="Only lines that match, with their numbers.")
@options.number("--context", IntegerType(0, 10_000), 2, "Lines around a hit.")
@click.option("--lines", metavar="A:B", help="Only these lines, from 1; -50: are the last 50.")
@click.option("--json-path", "path", metavar="P", help="Only this value of content that is JSON.")
@click.option("--raw", is_flag=True, help="The original as it was on the wire, as JSON.")
@options.number("--max-tokens", IntegerType(1), None, "Most tokens to show.")
@options.number("--start", IntegerType(0), 0, "Continue from this match or character.")
@options.archive
@options.output
def command(
    handle: str | None,
    listed: bool,
    archive_path: Path | None,
    raw: bool,
    output: Output,
    **access: Any,
) -> None:
    """
    Show the original text under HANDLE, which a receipt, a stub or a snapshot names.

    All of it goes to stdout as it was; a note about what is left out goes to stderr.
    """
    if (handle is None) == (not listed):
        options.refuse("Give a HANDLE or --list.")
    with stores.open_archive(archive_path) as archive:
        if handle is None:
            list_sessions(archive.sessions(), output)
            return
        found = archive.recall(handle, **access)
    if output.json:
        names = ("handle", "message_id", "role", "note", "text")
        value = {name: getattr(found, name) for name in names}
        write_json("recall/1", value | ({"raw": _wire(found.raw)} if raw else {}))
        return
    write_text(json_text(_wire(found.raw)) if raw else found.text)
    if found.note and not raw:
        output.note(found.note)


def _wire(raw: Any) -> Any:
    """Return an original as the JSON value that is kept of it; some messages are objects."""
    return [freeze(item) for item in raw] if isinstance(raw, list) else freeze(raw)
