"""``foldline mcp``: recall, past sessions, notes and memory as tools for any agent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from foldline.cli import options, stores
from foldline.cli.options import IntegerType
from foldline.cli.output import Output
from foldline.errors import MissingExtra
from foldline.mcp.tools import (
    archive_opener,
    compact_tool,
    limit_answers,
    memory_tool,
    notes_tool,
    recall_tool,
    search_tool,
    stats_tool,
)
from foldline.settings import load
from foldline.tokens.choose import choose_counter
from foldline.tools.recall import MOST
from foldline.tools.spec import Tool
from foldline.values.tokens import TokenCounter

EPILOG = """\b
Examples:
  claude mcp add foldline -- foldline mcp
  foldline mcp --write --notes ./notes
  foldline mcp --http 8765

\b
Tools: recall, search, stats, note, memory; with --write also compact, and changes of notes and
memory. Over stdio, or over HTTP with --http; then the first line is the address.
"""

LIMIT: Final = MOST
"""Maximum tokens of an answer."""

LOCAL: Final = ("127.0.0.1", "localhost", "::1")


@click.command("mcp", epilog=EPILOG)
@click.option("--write", is_flag=True, help="Allow compact, and changes of notes and memory.")
@options.notes_folder
@click.option(
    "--memory",
    metavar="PATH",
    type=options.FILE,
    help="File of the memory (default: next to the user's archive).",
)
@click.option("--user", metavar="NAME", default="default", help="Owner of the memory.")
@options.number("--max-tokens", IntegerType(200, 100_000), LIMIT, "Maximum tokens of an answer.")
@click.option(
    "--http", "port", metavar="PORT", type=IntegerType(1, 65_535), help="Serve over HTTP."
)
@click.option(
    "--host", metavar="ADDRESS", default=LOCAL[0], help=f"Address to bind to ({LOCAL[0]})."
)
@click.option(
    "--token", metavar="TEXT", envvar="FOLDLINE_TOKEN", help="Token that clients must send."
)
@options.archive
@options.debug
def command(
    write: bool,
    folder: Path | None,
    memory: Path | None,
    user: str,
    max_tokens: int,
    port: int | None,
    host: str,
    token: str | None,
    archive_path: Path | None,
) -> None:
    """Serve recall, search over past sessions, stats, notes and memory to an agent over MCP."""
    if port is not None and host not in LOCAL and not token:
        options.refuse(
            f"{host} is reachable by others: give --token (or FOLDLINE_TOKEN), which clients "
            "send as 'Authorization: Bearer …'."
        )
    archive = stores.archive_file(archive_path)
    opens = archive_opener(archive)
    tools = [recall_tool(opens, max_tokens), search_tool(opens, max_tokens), stats_tool(opens)]
    if write:
        tools.append(compact_tool(archive, opens, load().config))
    tools.append(notes_tool(stores.notes_folder(folder), write=write))
    tools.append(memory_tool(stores.memory_file(memory), user, write=write))
    counter = TokenCounter(choose_counter())
    _serve([limit_answers(tool, max_tokens, counter) for tool in tools], port, host, token or "")


def _serve(tools: Sequence[Tool], port: int | None, host: str, token: str) -> None:
    try:
        from foldline.mcp.server import PATH, serve_http, serve_stdio
    except ImportError as error:
        raise MissingExtra("mcp", "mcp") from error
    if port is None:
        serve_stdio(tools)
        return
    click.echo(f"http://{host}:{port}{PATH}")
    if not token:
        Output().note("Every user of this machine can connect; --token keeps others out.")
    serve_http(tools, host, port, token)
