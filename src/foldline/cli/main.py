"""The command ``foldline``: its commands, each imported only when it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from foldline.cli.errors import NamingGroup, OutputClosed, run
from foldline.cli.streams import prepare
from foldline.core.validation import suggest_name

SUMMARIES = {
    "compact": "Compact a conversation to a budget.",
    "stats": "Show where the tokens of a conversation go.",
    "inspect": "Show what the model sees, and what it no longer sees.",
    "scan": "Find the agent sessions on this machine, and what compaction would save.",
    "bench": "Measure what compaction keeps, on your own sessions.",
    "corpus": "Work on many sessions, on many cores or machines.",
    "serve": "Run a proxy that compacts what agents send.",
    "recall": "Show content that a compaction removed.",
    "sessions": "List, show, export and delete archived sessions.",
    "wrap": "Run Claude Code, Codex or opencode through the proxy.",
    "mcp": "Serve recall, past sessions, notes and memory over MCP.",
    "archive": "Copy and check whole archives.",
    "context": "Build, evaluate and compare contexts.",
    "note": "Keep notes and tasks in files that people can edit.",
    "memory": "Remember, search and forget.",
    "kb": "Search documents, with their sources.",
    "maintain": "Explore, analyze and plan for a codebase.",
    "config": "Show the settings, and where they come from.",
    "formats": "List the formats that are read and written.",
    "doctor": "Check this installation.",
    "completion": "Print a completion script for your shell.",
}

EPILOG = """\b
Examples:
  foldline stats session.jsonl
  foldline compact session.jsonl --budget 25% -o smaller.jsonl
  foldline recall 1f0c2a9b --grep Error

\b
Exit codes: 0 done, 1 unexpected, 2 usage, 3 bad input, 4 cannot fit,
5 archive, 130 interrupted, 141 output closed by its reader.
"""


class LazyGroup(NamingGroup):
    """
    A group whose commands live in modules of their own.

    The module ``foldline.cli.commands.NAME`` has the command in its attribute ``command``.

    Args:
        summaries: What each command does, by name, in the order of the help.
        settings: Arguments of `click.Group`.
    """

    def __init__(self, *, summaries: Mapping[str, str], **settings: Any) -> None:
        super().__init__(**settings)
        self._summaries = summaries

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # of click
        """List the commands, in the order of the help."""
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
        """Find a command by name; suggest the nearest name if there is none."""
        unknown = args and args[0] not in self._summaries and not args[0].startswith("-")
        if unknown and not ctx.resilient_parsing:
            near = suggest_name(args[0], self._summaries)
            ctx.fail(f"There is no command {args[0][:60]!r}. {near}".rstrip())
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command name or an option without importing any command."""
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
            # click would exit with 1, which here means an unexpected error.
            raise OutputClosed from error


def _show_version(ctx: click.Context, _: click.Parameter, requested: bool) -> None:
    if requested:
        import foldline

        click.echo(f"foldline {foldline.__version__}")
        ctx.exit()


@click.group(
    "foldline",
    cls=LazyGroup,
    summaries=SUMMARIES,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show where an error came from.")
def cli() -> None:
    """
    Keep long-running LLM agents inside their context window, and lose nothing.

    Results go to stdout, notes to stderr; "-" is stdin or stdout.
    """


def main() -> None:
    """Run the command line; the entry point of the script ``foldline``."""
    prepare()
    cli(prog_name="foldline")
