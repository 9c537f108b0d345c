"""``foldline formats``: the formats that are read and written."""

from __future__ import annotations

from typing import Any

import click

from foldline.cli import options
from foldline.cli.output import Output, console, table, write_json

EPILOG = """\b
Examples:
  foldline formats
  foldline formats --json
"""


@click.command("formats", epilog=EPILOG)
@options.output
def command(output: Output) -> None:
    """
    List the wire formats and the kinds of transcript files that are read and written.

    Files are recognised by their content; otherwise --from names the format. A compacted
    file is written in its own format, or with --to as messages in a wire format.
    """
    from foldline.formats.files import FILE_FORMATS, UNREADABLE
    from foldline.formats.registry import DIALECTS

    wires = [(name, wire.title) for name, wire in DIALECTS.items()]
    kinds = [(name, kind.title) for name, kind in FILE_FORMATS.items()]
    if output.json:
        value = {"wire": _rows(wires, to=True), "files": _rows(kinds, to=False)}
        write_json("formats/1", {**value, "not_read": UNREADABLE})
        return
    sections = {"wire format": wires, "kind of file": kinds, "known, not read": UNREADABLE.items()}
    for heading, rows in sections.items():
        console().print(table(heading, "*what it is", rows=rows))
        console().print()
    output.note(
        "All but the last kind are read and written, gzip is read. --to takes wire formats."
    )


def _rows(names: list[tuple[str, str]], *, to: bool) -> list[dict[str, Any]]:
    return [
        {"name": name, "title": title, "reads": True, "writes": True, "converts_to": to}
        for name, title in names
    ]
