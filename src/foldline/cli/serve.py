"""``foldline serve``: a proxy between an agent that nobody changes and its provider."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from foldline.cli import options
from foldline.core.errors import MissingExtra

EPILOG = """\b
Examples:
  foldline serve --upstream anthropic --port 8080
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080 claude
  foldline serve --upstream http://127.0.0.1:11434 --window 32000 --dry-run

\b
The first line on stdout is the address. Keys come from the client with every request; none is
kept. GET /healthz and /metrics have the totals; stderr has a line of JSON for every request.
"""


@click.command("serve", epilog=EPILOG, short_help="Run a proxy that compacts what agents send.")
@click.option(
    "--upstream",
    metavar="NAME|URL",
    required=True,
    help="The provider: anthropic, openai, or the address of another one.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    help="The port to listen at; 0, as by default, takes a free one.",
)
@click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where sessions are kept (default: archive.db in FOLDLINE_HOME, or in the data folder "
    "of the user).",
)
@click.option(
    "--window", type=click.IntRange(1_000), help="Tokens of the window; default the model's own."
)
@click.option("--token", default="", help="What every request has to bring in x-foldline-token.")
@options.policy
@click.option("--dry-run", is_flag=True, help="Only measure: every request goes out as it came.")
@click.option(
    "--no-archive", is_flag=True, help="Keep sessions in memory only; nothing can be recalled."
)
@click.option("--debug", is_flag=True, expose_value=False, hidden=True)
@click.option("-q", "--quiet", is_flag=True, help="No lines for requests on stderr.")
def command(upstream: str, db: Path | None, quiet: bool, **settings: Any) -> None:
    """
    Stand between an agent and its provider, and keep the agent inside its context window.

    The agent sends its whole history each time; the proxy sends what a session shows of it, and
    everything else as it came. If anything fails in here, the original request goes out.
    """
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise MissingExtra(missing[0], "serve")
    # Imported here: they load the network, which the help does not need.
    from foldline.proxy.deciding import Options
    from foldline.proxy.serving import Service
    from foldline.settings.loading import load_config

    archived = not (settings["no_archive"] or settings["dry_run"])
    service = Service(
        upstream,
        Options(
            load_config(), settings["window"], settings["policy"], dry_run=settings["dry_run"]
        ),
        None,
        settings["host"],
        settings["port"],
        settings["token"],
        log=None if quiet else sys.stderr,
    )
    if archived:
        service = _archived(service, options.archive_file(db))
    service.run(lambda address: click.echo(address))


def _archived(service: Any, path: Path) -> Any:
    from dataclasses import replace

    from foldline.stores.sqlite import SqliteStore

    options.make_folder(path)
    # The client has everything that was said: after a power cut it says it again.
    return replace(service, store=SqliteStore(path, durability="process"))
