"""The command ``foldline``: what it offers, and nothing that takes time to import."""

from __future__ import annotations

import click

from foldline.cli.groups import LazyGroup
from foldline.cli.streams import prepare

SUMMARIES = {
    "compact": "Bring a conversation within a budget.",
    "stats": "Show where the tokens of a conversation go.",
    "inspect": "See what the model sees, and what it no longer sees.",
    "scan": "Find the agent sessions on this machine, and what compaction would save.",
    "bench": "Measure what compaction keeps, on your own sessions.",
    "corpus": "Work on many sessions, on many cores or machines.",
    "serve": "Run a proxy that compacts what agents send.",
    "recall": "Show what a compaction removed.",
    "sessions": "List, show, export and delete what the archive holds.",
    "wrap": "Run Claude Code, Codex or opencode through the proxy.",
    "mcp": "Offer recall, past sessions, notes and memory to agents, over MCP.",
    "archive": "Copy and check whole archives.",
    "context": "Build, judge and compare contexts.",
    "note": "Keep notes and tasks in files that people can edit.",
    "memory": "Remember, search and forget.",
    "kb": "Search documents, with their sources.",
    "maintain": "Explore, analyze and plan for a codebase.",
    "config": "Show the settings, and where they come from.",
    "formats": "List the formats that are read and written.",
    "doctor": "Check this installation.",
    "completion": "Let your shell complete commands and names.",
}

EPILOG = """\b
Examples:
  foldline stats session.jsonl
  foldline compact session.jsonl --budget 25% -o smaller.jsonl
  foldline recall 1f0c2a9b --grep Error

\b
Exit codes: 0 done, 1 unexpected, 2 usage, 3 bad input, 4 cannot fit,
5 archive, 130 interrupted, 141 nobody reads the output.
"""


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
