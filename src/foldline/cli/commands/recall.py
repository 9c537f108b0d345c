"""``foldline recall``: show content that a compaction removed."""

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
@click.option("--session", metavar="NAME", help="Search this session only.")
@click.option("--query", metavar="WORDS", help="Show the passages that best answer a question.")
@click.option("--grep", metavar="RE", help="Only lines that match, with their numbers.")
@options.number("--context", IntegerType(0, 10_000), 2, "Context lines around a match.")
@click.option("--lines", metavar="A:B", help="Only these lines, from 1; -50: are the last 50.")
@click.option("--json-path", "path", metavar="P", help="Only this value of JSON content.")
@click.option("--raw", is_flag=True, help="The original wire message, as JSON.")
@options.number("--max-tokens", IntegerType(1), None, "Maximum tokens to show.")
@options.number("--start", IntegerType(0), 0, "Continue from this match or character.")
@options.archive_place
@options.output
def command(
    handle: str | None,
    listed: bool,
    archive_path: Path | str | None,
    raw: bool,
    output: Output,
    **access: Any,
) -> None:
    """
    Show the original text of HANDLE, as named in a receipt, a stub or a snapshot.

    The text goes to stdout unchanged; a note about omitted parts goes to stderr.
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
    """Return an original as JSON; some messages are Python objects."""
    return [freeze(item) for item in raw] if isinstance(raw, list) else freeze(raw)
