"""Exit codes, and the one place where errors become a sentence for people."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from enum import IntEnum

import click

from foldline.core.errors import (
    BudgetError,
    CannotFit,
    FoldlineError,
    InputError,
    MissingExtra,
    RecallError,
    StoreError,
)
from foldline.core.redaction import explained


class Exit(IntEnum):
    """What a script learns from how a command ended."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2
    INPUT = 3
    CANNOT_FIT = 4
    STORE = 5
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class HungUp(Exception):
    """Whoever read the output stopped reading."""


class OutputError(FoldlineError):
    """The result cannot be written where it was to go."""


_CODES: tuple[tuple[type[FoldlineError], Exit], ...] = (
    (BudgetError, Exit.USAGE),
    (InputError, Exit.INPUT),
    (RecallError, Exit.INPUT),
    (CannotFit, Exit.CANNOT_FIT),
    (StoreError, Exit.STORE),
    (MissingExtra, Exit.USAGE),
    (OutputError, Exit.USAGE),
)


def exit_code(error: FoldlineError) -> Exit:
    """Return the exit code of an error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), Exit.UNEXPECTED)


def run(command: Callable[[], object], *, debug: bool) -> int:
    """
    Run a command to its end.

    Args:
        command: What to run; an integer that it returns is the exit code.
        debug: Whether to show where an error came from.

    Returns:
        The exit code. Errors have been told on stderr, in one sentence and a hint.
    """
    try:
        result = command()
        sys.stdout.flush()
    except click.ClickException as error:
        if error.format_message().startswith("Usage:"):  # no command at all: its help
            click.echo(error.format_message(), err=True)
            return Exit.USAGE
        return _told(_usage(error), Exit.USAGE, debug=debug)
    except (click.Abort, KeyboardInterrupt):
        return _told("Interrupted; nothing was left half done.", Exit.INTERRUPTED, debug=debug)
    except (BrokenPipeError, HungUp):
        return _hung_up()
    except FoldlineError as error:
        return _told(_sentence(error), exit_code(error), debug=debug)
    except OSError as error:
        return _told(f"{error}.", Exit.UNEXPECTED, debug=debug)
    except Exception as error:  # noqa: BLE001  # the last line of defence: a sentence, not a dump
        what = explained(error) if str(error) else type(error).__name__
        hint = "This is a bug in Foldline; run it again with --debug to see where."
        return _told(f"Unexpected {what[:300]}. {hint}", Exit.UNEXPECTED, debug=debug)
    return result if isinstance(result, int) else Exit.DONE


def _usage(error: click.ClickException) -> str:
    """Say what is wrong with the command line, and where its help is."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "foldline"
    return f"{error.format_message()} Try '{path} --help'."


def _sentence(error: FoldlineError) -> str:
    """Join message and hint, closing the message with a full stop where it has none."""
    message = error.message[:1].upper() + error.message[1:] if _is_prose(error) else error.message
    stop = "" if message.endswith((".", "!", "?")) else "."
    return f"{message}{stop} {error.hint}".strip()


def _is_prose(error: FoldlineError) -> bool:
    """Tell whether a message begins with a word of ours rather than with a file name."""
    first = error.message.split(" ", 1)[0].rstrip(":")
    return first in ("message", "field", "line", "there", "expected", "what", "the", "a", "no")


def _told(sentence: str, code: Exit, *, debug: bool) -> int:
    from foldline.cli.output import printable

    if debug:
        click.echo(printable(traceback.format_exc()), err=True)
    colour = False if os.environ.get("NO_COLOR") else None
    click.secho("foldline: ", err=True, fg="red", bold=True, nl=False, color=colour)
    click.echo(printable(sentence), err=True)
    return code


def _hung_up() -> int:
    """Nobody reads on: go quietly, and keep the interpreter from complaining at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    return Exit.BROKEN_PIPE
