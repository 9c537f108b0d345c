"""Exit codes, and how errors are reported: one sentence, and a hint."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from typing import Any

import click

from foldline.cli.output import printable, write_json
from foldline.errors import (
    BudgetError,
    CannotFit,
    FoldlineError,
    InputError,
    MissingExtra,
    RecallError,
    StoreError,
)
from foldline.frozen import field, frozen
from foldline.redaction import explain_error


class Exit(IntEnum):
    """The exit codes of the command line."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2
    INPUT = 3
    CANNOT_FIT = 4
    STORE = 5
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class OutputClosed(Exception):
    """Raised when the reader of the output closed it."""


class OutputError(FoldlineError):
    """The result cannot be written to its destination."""


_CODES: dict[Exit, tuple[type[FoldlineError], ...]] = {
    Exit.USAGE: (BudgetError, MissingExtra, OutputError),
    Exit.INPUT: (InputError, RecallError),
    Exit.CANNOT_FIT: (CannotFit,),
    Exit.STORE: (StoreError,),
}


def exit_code(error: FoldlineError) -> Exit:
    """Return the exit code of an error."""
    codes = (code for code, kinds in _CODES.items() if isinstance(error, kinds))
    return next(codes, Exit.UNEXPECTED)


@frozen
class CommandFailure:
    """A failed command: the class of the error, its sentences, and its details."""

    kind: str
    code: Exit
    message: str
    hint: str = ""
    details: dict[str, Any] = field(default_factory=dict)


class NamingGroup(click.Group):
    """A group whose usage errors point to the help of the failing subcommand."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand; click does not name it if an option lacks its value."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            name = ctx.invoked_subcommand
            called = self.get_command(ctx, name) if name else None
            if error.ctx is None and called is not None:
                error.ctx = click.Context(called, parent=ctx, info_name=name)
            raise


def run(command: Callable[[], object], *, debug: bool, as_json: bool = False) -> int:
    """
    Run a command to its end.

    Args:
        command: The function to run; a returned integer is the exit code.
        debug: Whether to show where an error came from.
        as_json: Whether an error is also written to stdout as one JSON object.

    Returns:
        The exit code. Errors are reported on stderr, in one sentence and a hint.
    """
    try:
        result = command()
        sys.stdout.flush()
    except (BrokenPipeError, OutputClosed):
        return _end_quietly()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return Exit.USAGE
    except click.ClickException as error:
        return _report(_usage(error), debug, as_json)
    except (click.Abort, KeyboardInterrupt):
        words = "Interrupted; nothing was left incomplete."
        return _report(CommandFailure("Interrupted", Exit.INTERRUPTED, words), debug, as_json)
    except Exception as error:  # noqa: BLE001  # last resort: a sentence instead of a traceback
        return _report(_failure(error), debug, as_json)
    return result if isinstance(result, int) else Exit.DONE


def _failure(error: Exception) -> CommandFailure:
    kind = type(error).__name__
    if isinstance(error, FoldlineError):
        known = {k: v for k, v in vars(error).items() if k not in ("message", "hint")}
        return CommandFailure(kind, exit_code(error), _sentence(error), error.hint, known)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return CommandFailure(kind, Exit.UNEXPECTED, f"{where}{error.strerror or error}.")
    what = explain_error(error) if str(error) else kind
    hint = "This is a bug in Foldline; run it again with --debug to see where."
    return CommandFailure(kind, Exit.UNEXPECTED, f"Unexpected {what[:300]}.", hint)


def _usage(error: click.ClickException) -> CommandFailure:
    """Describe a usage error, and point to the help of the command."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "foldline"
    message = " ".join(error.format_message().split())
    stop = "" if message.endswith((".", "?", "!", ")")) else "."
    return CommandFailure("UsageError", Exit.USAGE, message + stop, f"Try '{path} --help'.")


def _sentence(error: FoldlineError) -> str:
    """Return the message as a sentence, preceded by the place in the input, in lower case."""
    message = error.message
    if isinstance(error, InputError) and (error.index is not None or error.field):
        message = message[:1].upper() + message[1:]
    return message if message.endswith((".", "!", "?")) else f"{message}."


def _report(failure: CommandFailure, debug: bool, as_json: bool) -> int:
    if debug:
        import traceback

        click.echo(printable(traceback.format_exc()), err=True)
    colour = False if os.environ.get("NO_COLOR") else None
    click.secho("foldline: ", err=True, fg="red", bold=True, nl=False, color=colour)
    click.echo(printable(f"{failure.message} {failure.hint}".strip()), err=True)
    if as_json:
        known = {"type": failure.kind, "message": failure.message, "hint": failure.hint}
        error = {**known, "exit_code": int(failure.code), **failure.details}
        with suppress(OSError, OutputError):  # the failure may be that of stdout
            write_json("error/1", {"error": error})
    return failure.code


def _end_quietly() -> int:
    """End quietly when the output is closed, and keep the interpreter from complaining."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    return Exit.BROKEN_PIPE
