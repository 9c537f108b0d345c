"""Options that several commands share, and the types of their values: numbers, sizes, times."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import click
from click.types import FuncParamType

from foldline.cli.output import Output
from foldline.core.budget import Amount
from foldline.core.config import POLICY_NAMES
from foldline.errors import BudgetError, InputError
from foldline.formats.files import FILE_FORMATS
from foldline.formats.registry import DIALECTS
from foldline.sql import is_url

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class _RangeType(click.ParamType):  # type: ignore[type-arg]  # since click 8.5 only
    """A number type whose error names the allowed numbers."""

    noun: str

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a number, or fail with the allowed numbers."""
        try:
            found = super().convert(value, param, ctx)
        except click.BadParameter:
            found = None
        if found is None or found != found:  # no range check rejects nan
            self.fail(_refusal(value, self.noun, self), param, ctx)
        return found


class IntegerType(_RangeType, click.IntRange):
    """A whole number; both ends of its range may be open."""

    noun = "a whole number"


class NumberType(_RangeType, click.FloatRange):
    """A number such as 0.2; both ends of its range may be open."""

    noun = "a number"


class PlaceType(click.Path):
    """A file as a path, or the URL of a PostgreSQL database."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a path, or return a URL."""
        return value if is_url(value) else super().convert(value, param, ctx)


class FileType(click.Path):
    """A file as a path; the URL of a database is refused instead of taken as a path."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a path."""
        if is_url(value):
            self.fail("this command takes a file, not a database.", param, ctx)
        return super().convert(value, param, ctx)


def _refusal(value: Any, what: str, limits: Any) -> str:
    least, most = limits.min, limits.max
    start = "above" if limits.min_open else "from"
    if least is not None:
        end = f" to {most:,}" if most is not None else "" if limits.min_open else " up"
        what = f"{what} {start} {least:,}{end}"
    return f"{str(value)[:40]!r} is not {what}."


_WRITTEN: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([a-zA-Z]{1,3})")


def _unit_type(what: str, units: Mapping[str, float], example: str) -> click.ParamType:  # type: ignore[type-arg]  # since click 8.5 only
    """
    Return a type that reads a number with a unit.

    Args:
        what: Name of the quantity.
        units: Value of each unit, by lower-case name.
        example: Example values.
    """

    def number(value: str | float) -> float:
        if isinstance(value, (int, float)):
            return float(value)
        text = value.strip()
        found = _WRITTEN.fullmatch(text)
        worth = units.get(found[2].lower()) if found else None
        if found is None or worth is None:
            raise click.BadParameter(f"{text[:40]!r} is not a {what}: write {example}.")
        if not float(found[1]):
            raise click.BadParameter(f"{text[:40]!r} would keep nothing.")
        return float(found[1]) * worth

    return FuncParamType(number)


PERIOD: Final = _unit_type(
    "length of time",
    {"m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0, "y": 31_557_600.0},
    "30d, 12h or 8w",
)
"""A length of time, in seconds."""

SIZE: Final = _unit_type(
    "size", {"kb": 1e3, "mb": 1e6, "gb": 1e9, "k": 1e3, "m": 1e6, "g": 1e9}, "500MB or 2GB"
)
"""A size, in bytes."""


def _amount(value: str | Amount, *, shares: bool) -> Amount:
    try:
        return value if isinstance(value, Amount) else Amount.parse(value, shares=shares)
    except BudgetError as error:
        raise click.BadParameter(error.message) from error


def _budget(value: str | Amount) -> Amount:
    """Read tokens, or a share."""
    return _amount(value, shares=True)


def _window(value: str | Amount) -> Amount:
    """Read tokens."""
    return _amount(value, shares=False)


def _budgets(value: str | tuple[Amount, ...]) -> tuple[Amount, ...]:
    """Read several amounts, separated by commas, each once."""
    if isinstance(value, tuple):
        return value
    words = [word for word in value.split(",") if word.strip()]
    if not 1 <= len(words) <= MAX_BUDGETS:
        raise click.BadParameter(f"give 1 to {MAX_BUDGETS} budgets, such as {DEFAULT_BUDGETS}.")
    return tuple(dict.fromkeys(map(_budget, words)))


BUDGET: Final = FuncParamType(_budget)
WINDOW: Final = FuncParamType(_window)
BUDGETS: Final = FuncParamType(_budgets)

DEFAULT_BUDGETS: Final = "5%,10%,20%"

MAX_BUDGETS: Final = 12


FILE: Final = FileType(path_type=Path, dir_okay=False)
PLACE: Final = PlaceType(path_type=Path, dir_okay=False)
FOLDER: Final = click.Path(path_type=Path, file_okay=False)
FRACTION: Final = NumberType(0, 1)
FORMAT: Final = click.Choice(tuple(DIALECTS))

DATA_FOLDER: Final = "in FOLDLINE_HOME, or in the data folder of the user"


# --- options -------------------------------------------------------------------------------

PRICED_MODEL: Final = "claude-sonnet-4-5"

READABLE: Final = (*FILE_FORMATS, *DIALECTS)
"""Names for ``--from``: kinds of files, and wire formats."""


def complete_policy(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a policy."""
    return [name for name in POLICY_NAMES if name.startswith(incomplete.replace("-", "_"))]


input_file = click.argument("file", metavar="FILE", type=click.Path(readable=False))
"""Existence is checked when FILE is read, with a better error."""


def _refuse_empty(_: click.Context, __: click.Parameter, value: str) -> str:
    if not value.strip():
        raise InputError("The query is empty", hint="Give the words to search for.")
    return value


query = click.argument("query", callback=_refuse_empty)

from_format = click.option(
    "--from",
    "source_format",
    metavar="FMT",
    type=click.Choice(READABLE),
    help="Format of FILE, if it is not recognised; 'foldline formats' lists the names.",
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
    help="Conversation of a file that holds several: its name, or its number "
    "from 1 (default: the last).",
)

model = click.option(
    "--model", metavar="NAME", help="Count tokens for this model, such as gpt-4.1 or claude."
)

priced_model = click.option(
    "--model",
    metavar="NAME",
    default=PRICED_MODEL,
    help=f"Model whose prices apply ({PRICED_MODEL}).",
)

budgets = click.option(
    "--budgets",
    metavar="N,N",
    type=BUDGETS,
    default=DEFAULT_BUDGETS,
    help=f"Budgets to compact to ({DEFAULT_BUDGETS}).",
)

STDOUT: Final = Path("-")
"""File name that stands for stdout."""


def number(
    name: str,
    kind: Any,
    default: float | None,
    help: str | None = None,  # noqa: A002  # as click has it
    metavar: str = "N",
) -> Callable[[Decorated], Decorated]:
    """Return an option that takes a number; its help shows a default other than 0."""
    return click.option(
        name, metavar=metavar, type=kind, default=default, show_default=bool(default), help=help
    )


def fraction(
    name: str,
    default: float,
    help: str | None = None,  # noqa: A002  # as click has it
) -> Callable[[Decorated], Decorated]:
    """Return an option that takes a number from 0 to 1."""
    return number(name, FRACTION, default, help, "X")


def choice(
    name: str,
    values: Sequence[str],
    default: str = "",
    help: str | None = None,  # noqa: A002  # as click has it
) -> Callable[[Decorated], Decorated]:
    """Return an option that takes one of several words; the first is the default."""
    kind = click.Choice(values)
    return click.option(
        name, type=kind, default=default or values[0], show_default=True, help=help
    )


def or_before(ctx: click.Context, option: click.Parameter, value: Any) -> Any:
    """Return the value given before the subcommand if none was given after it."""
    if value is not None or ctx.parent is None:
        return value
    return ctx.parent.params.get(option.name or "")


def max_usd(help: str, *, min_open: bool = False) -> Callable[[Decorated], Decorated]:  # noqa: A002  # as click has it
    """Return the option ``--max-usd``: the spending limit for a model."""
    kind = NumberType(0, min_open=min_open)
    return click.option("--max-usd", "usd", metavar="N", type=kind, help=help)


replay_window = number("--window", WINDOW, None, "Window to replay sessions in (the model's).")


def store_file(name: str) -> Callable[[Decorated], Decorated]:
    """Return the option ``--file``: the location of a store, by the name of its content."""
    words = f"File of the {name} (default: {name}.db {DATA_FOLDER}), or a PostgreSQL database."
    return click.option("--file", metavar="PATH|URL", type=PLACE, callback=or_before, help=words)


def output_file(help: str) -> Callable[[Decorated], Decorated]:  # noqa: A002  # as click has it
    """Return the option ``-o``: the file that a result goes to, `STDOUT` for stdout."""
    kind = click.Path(path_type=Path)
    return click.option("-o", "--output", "out", metavar="OUT", type=kind, help=help)


_archive = partial(click.option, "--archive", "archive_path", callback=or_before)
_ARCHIVE_WORDS: Final = f"Where removed content is stored (default: archive.db {DATA_FOLDER}"

archive = _archive(metavar="PATH", type=FILE, help=f"{_ARCHIVE_WORDS}).")

archive_place = _archive(
    metavar="PATH|URL", type=PLACE, help=f"{_ARCHIVE_WORDS}), or a PostgreSQL database."
)

notes_folder = click.option(
    "--notes",
    "folder",
    metavar="DIR",
    type=FOLDER,
    callback=or_before,
    help="Folder of the notes (default: FOLDLINE_NOTES, or ./notes).",
)

policies = click.option(
    "--policy",
    "policies",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_policy,
    help="Policy to measure; repeatable (default).",
)

policy = click.option(
    "--policy",
    metavar="NAME",
    shell_complete=complete_policy,
    help=f"How to compact: {', '.join(POLICY_NAMES)}.",
)


def refuse(words: str) -> NoReturn:
    """
    End a command whose options are inconsistent.

    Raises:
        UsageError: Always; it points to the help of the command.
    """
    raise click.UsageError(words, click.get_current_context())


def together(*given: Callable[[Any], Any]) -> Callable[[Decorated], Decorated]:
    """Return several options as one decorator, in the order of the help."""

    def decorate(command: Decorated) -> Decorated:
        for option in reversed(given):
            command = option(command)
        return command

    return decorate


debug = click.option("--debug", is_flag=True, expose_value=False, hidden=True)

_output_options = together(
    click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout."),
    click.option("-q", "--quiet", is_flag=True, help="No notes on stderr, only errors."),
    debug,
)


def output(command: Callable[..., object]) -> Callable[..., object]:
    """Give a command ``--json``, ``--quiet`` and ``--debug``; it receives an `Output`."""

    @wraps(command)
    def with_output(*arguments: Any, as_json: bool, quiet: bool, **settings: Any) -> object:
        return command(*arguments, output=Output(as_json, quiet), **settings)

    return _output_options(with_output)


def on_store(
    option: Callable[[Any], Any], names: Sequence[str], opens: Callable[..., Any]
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """
    Return a decorator that passes a command an open store and its `Output`.

    Args:
        option: The options that name the store.
        names: Names of their values in click.
        opens: Opens the store from those values; it is closed after the command.
    """

    def decorate(command: Callable[..., object]) -> Callable[..., object]:
        @wraps(command)
        def with_store(**settings: Any) -> object:
            with opens(*map(settings.pop, names)) as store:
                return command(store, **settings)

        return together(option, output)(with_store)

    return decorate
