"""``foldline memory``: what agents remember between conversations."""

from __future__ import annotations

from pathlib import Path

import click

from foldline.cli import options
from foldline.cli.lazy import NamingGroup
from foldline.cli.memory_place import Place
from foldline.cli.memory_reading import listed, search, show, stats
from foldline.cli.memory_writing import add, clear, consolidate, forget, remove, undo
from foldline.settings.folders import data_folder

EPILOG = """\b
Examples:
  foldline memory add "The launch moved to May" --importance 0.8
  git log -1 --format=%B | foldline memory add - --kind episodic
  foldline memory search "when is the launch?"
  foldline memory forget --by time --older-than 90
  foldline memory undo 17

\b
Nothing is overwritten or erased, except by 'clear'.
"""


@click.group(
    "memory",
    cls=NamingGroup,
    epilog=EPILOG,
    short_help="Remember, search and forget.",
)
@click.option(
    "--file",
    "file",
    metavar="PATH",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file of the memory (default: memory.db in FOLDLINE_HOME, or in the data folder of "
    "the user).",
)
@click.option("--user", metavar="NAME", default="default", show_default=True, help="Whose memory.")
@click.pass_context
def command(ctx: click.Context, file: Path | None, user: str) -> None:
    """Look into a memory, and change it."""
    ctx.obj = Place(file or data_folder() / "memory.db", user)


for one in (add, search, listed, show, remove, forget, undo, consolidate, stats, clear):
    command.add_command(one)
options.also_after(command)
