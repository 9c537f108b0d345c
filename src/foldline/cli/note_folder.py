"""The folder of the notes on the command line, and options that commands on it share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from foldline.cli import options
from foldline.cli.numbers import Whole
from foldline.errors import InputError
from foldline.notes import KINDS, LEVELS, Notes

Command = TypeVar("Command", bound=Callable[..., Any])

kind = click.option("--type", "kind", type=click.Choice(KINDS), help="What kind of note.")
level = click.option("--level", type=click.Choice(LEVELS), help="How long it matters.")
tags = click.option("--tag", "tags", metavar="WORD", multiple=True, help="May be repeated.")
limit = click.option(
    "--limit", metavar="N", type=Whole(0, 10_000), default=20, help="How many at most."
)


def _or_before(ctx: click.Context, _: click.Parameter, value: Path | None) -> Path | None:
    """Take the folder that was named before the subcommand where none is named after it."""
    return value or (ctx.parent.params.get("folder") if ctx.parent else None)


folder = click.option(
    "--notes",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    callback=_or_before,
    help="The folder of the notes (default: FOLDLINE_NOTES, or ./notes).",
)


def in_folder(command: Command) -> Command:
    """Give a command the folder of the notes, and what `options.voice` gives."""
    return folder(options.voice(command))


def opened(folder: Path | None, *, make: bool = False) -> Notes:
    """
    Open the folder of the notes.

    Args:
        folder: As given on the command line.
        make: Whether it is made where it is missing.

    Raises:
        InputError: It is missing.
    """
    path = folder or Path(os.environ.get("FOLDLINE_NOTES") or "notes")
    if not make and not path.is_dir():
        raise InputError(
            f"there is no folder of notes {path}",
            hint="'foldline note new' makes it, --notes or FOLDLINE_NOTES names another.",
        )
    return Notes.open(path)
