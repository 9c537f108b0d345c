"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.shell_completion import CompletionItem

from foldline.cli.output import Voice
from foldline.core.config import POLICY_NAMES
from foldline.errors import StoreError
from foldline.formats.files import FILE_FORMATS
from foldline.formats.registry import DIALECTS
from foldline.settings.folders import data_folder

if TYPE_CHECKING:
    from foldline.archive import Archive

Command = TypeVar("Command", bound=Callable[..., Any])

READABLE: Final = (*FILE_FORMATS, *DIALECTS)
"""Names for ``--from``: kinds of files, and wire formats."""


def any_file(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a file."""
    return [CompletionItem(incomplete, type="file")]


def complete_policy(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a policy."""
    return [name for name in POLICY_NAMES if name.startswith(incomplete.replace("-", "_"))]


input_file = click.argument("file", metavar="FILE", shell_complete=any_file)

from_format = click.option(
    "--from",
    "source_format",
    metavar="FMT",
    type=click.Choice(READABLE),
    help="What FILE is, if it is not recognised; 'foldline formats' lists the names.",
)

max_bytes = click.option(
    "--max-bytes",
    metavar="N",
    type=click.IntRange(1),
    envvar="FOLDLINE_MAX_BYTES",
    help="Read at most N bytes, decompressed (512 MB; gzip: 25 times its size, or 8 MB).",
)

conversation = click.option(
    "--conversation",
    metavar="NAME|N",
    help="Which conversation of a file that has several, by name or counted from 1; "
    "the last one unless given.",
)

model = click.option(
    "--model", metavar="NAME", help="Count tokens as this model does, such as gpt-4.1 or claude."
)

archive = click.option(
    "--archive",
    "archive_path",
    metavar="PATH",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where removed content is kept (default: archive.db in FOLDLINE_HOME, or in the data "
    "folder of the user).",
)

policy = click.option(
    "--policy",
    metavar="NAME",
    shell_complete=complete_policy,
    help=f"How to compact: {', '.join(POLICY_NAMES)}.",
)


def voice(command: Command) -> Command:
    """Give a command ``--json``, ``--quiet`` and ``--debug``; it receives a `Voice`."""
    for option in (
        click.option("--debug", is_flag=True, expose_value=False, hidden=True),
        click.option("-q", "--quiet", is_flag=True, help="No words on stderr, errors excepted."),
        click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout."),
    ):
        command = option(command)
    return command


def voiced(settings: dict[str, Any]) -> Voice:
    """Take the options of `voice` out of the settings of a command."""
    return Voice(json=settings.pop("as_json"), quiet=settings.pop("quiet"))


def also_after(group: click.Group) -> None:
    """
    Let the options of a group stand behind its subcommands as well, where they win.

    Args:
        group: Its object is a dataclass whose fields are named as the options.
    """
    options = [option for option in group.params if isinstance(option, click.Option)]
    for command in group.commands.values():
        for option in options:
            again = click.Option(
                option.opts,
                type=option.type,
                metavar=option.metavar,
                help=option.help,
                callback=_replaced,
                expose_value=False,
            )
            command.params.append(again)


def _replaced(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    if value is not None and option.name:
        ctx.obj = replace(ctx.obj, **{option.name: value})


def archive_file(given: Path | None) -> Path:
    """Return the path of the archive: as given, in FOLDLINE_HOME, or in the user's data folder."""
    if given is not None:
        return given
    return data_folder() / "archive.db"


def existing_archive(given: Path | None) -> Archive:
    """
    Open an archive that exists.

    Raises:
        StoreError: There is none.
    """
    from foldline.archive import Archive

    path = archive_file(given)
    if not path.exists():
        raise StoreError(
            f"There is no archive {path}.",
            hint="'foldline compact' makes it, --archive or FOLDLINE_HOME names another.",
        )
    return Archive.open(path)


def make_folder(path: Path) -> None:
    """
    Create the folder of an archive, for its owner only.

    Raises:
        StoreError: It cannot be created.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreError(
            f"The folder {path.parent} cannot be made: {error.strerror}.",
            hint="Name another archive with --archive, or go without one: --no-archive.",
        ) from error
