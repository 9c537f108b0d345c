"""Click groups: one imports a command only when it is called, both name it in usage errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from foldline.cli.errors import OutputClosed, run


class NamingGroup(click.Group):
    """A group whose usage errors point at the help of the subcommand that was called."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand; click names none where an option lacks its value."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            name = ctx.invoked_subcommand
            called = self.get_command(ctx, name) if name else None
            if error.ctx is None and called is not None:
                error.ctx = click.Context(called, parent=ctx, info_name=name)
            raise


class LazyGroup(NamingGroup):
    """
    A group whose commands live in modules of their own.

    The module ``foldline.cli.commands.NAME`` has the command in its attribute ``command``.

    Args:
        summaries: What each command does, by name, in the order of the help.
        settings: What `click.Group` takes.
    """

    def __init__(self, *, summaries: Mapping[str, str], **settings: Any) -> None:
        super().__init__(**settings)
        self._summaries = summaries

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # of click
        """Name the commands, in the order of the help."""
        return list(self._summaries)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002  # of click
        cmd_name: str,
    ) -> click.Command | None:
        """Import the command with a name."""
        if cmd_name not in self._summaries:
            return None
        found: click.Command = import_module(f"foldline.cli.commands.{cmd_name}").command
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was named, or say which one may have been meant."""
        unknown = args and args[0] not in self._summaries and not args[0].startswith("-")
        if unknown and not ctx.resilient_parsing:
            close = get_close_matches(args[0], self._summaries, 1)
            suggestion = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"There is no command {args[0][:60]!r}.{suggestion}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command, or an option, without importing any command."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [
            CompletionItem(name, help=summary)
            for name, summary in self._summaries.items()
            if name.startswith(incomplete)
        ]

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002  # of click
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._summaries.items()))

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line and leave with an exit code; see `foldline.cli.errors`."""
        extra["standalone_mode"] = False
        given = args[0] if args else extra.get("args")
        words = sys.argv[1:] if given is None else list(given)
        debug = "--debug" in words or bool(os.environ.get("FOLDLINE_DEBUG"))
        parent = super().main
        as_json = "--json" in words
        sys.exit(run(lambda: parent(*args, **extra), debug=debug, as_json=as_json))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a closed pipe is left to `foldline.cli.errors`."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            # click would turn it into exit code 1, which here means an unexpected error.
            raise OutputClosed from error
