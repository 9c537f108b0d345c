"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from click.shell_completion import CompletionItem

from foldline.cli.option_types import BUDGETS, DEFAULT_BUDGETS
from foldline.cli.output import Output
from foldline.core.config import POLICY_NAMES
from foldline.formats.files import FILE_FORMATS
from foldline.formats.registry import DIALECTS

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

PRICED_MODEL: Final = "claude-sonnet-4-5"

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

priced_model = click.option(
    "--model",
    metavar="NAME",
    default=PRICED_MODEL,
    help=f"Whose prices ({PRICED_MODEL}).",
)

budgets = click.option(
    "--budgets",
    metavar="N,N",
    type=BUDGETS,
    default=DEFAULT_BUDGETS,
    help=f"Cut to ({DEFAULT_BUDGETS}).",
)

STDOUT: Final = Path("-")
"""What stands for stdout where a file is named."""


def output_file(help: str) -> Callable[[Decorated], Decorated]:  # noqa: A002  # as click has it
    """Return the option ``-o``: the file that a result goes to, `STDOUT` for stdout."""
    return click.option(
        "-o",
        "--output",
        "out",
        metavar="OUT",
        type=click.Path(path_type=Path),
        shell_complete=any_file,
        help=help,
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


def output(command: Callable[..., object]) -> Callable[..., object]:
    """Give a command ``--json``, ``--quiet`` and ``--debug``; it receives an `Output`."""

    @wraps(command)
    def with_output(*arguments: Any, as_json: bool, quiet: bool, **settings: Any) -> object:
        return command(*arguments, output=Output(as_json, quiet), **settings)

    decorated: Callable[..., object] = with_output
    for option in (
        click.option("--debug", is_flag=True, expose_value=False, hidden=True),
        click.option("-q", "--quiet", is_flag=True, help="No notes on stderr, only errors."),
        click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout."),
    ):
        decorated = option(decorated)
    return decorated


def accept_after_subcommand(group: click.Group) -> None:
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
                callback=_override,
                expose_value=False,
            )
            command.params.append(again)


def _override(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    if value is not None and option.name:
        ctx.obj = replace(ctx.obj, **{option.name: value})
