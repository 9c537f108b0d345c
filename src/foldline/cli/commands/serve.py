"""``foldline serve``: a proxy between an unmodified agent and its provider."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from foldline.cli import options, stores
from foldline.cli.options import PERIOD, SIZE, IntegerType, NumberType
from foldline.errors import MissingExtra

if TYPE_CHECKING:
    from foldline.proxy.request_rewriting import ProxyOptions
    from foldline.stores.protocol import Store

EPILOG = """\b
Examples:
  foldline serve --upstream anthropic --port 8080
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080 claude
  foldline serve --upstream http://127.0.0.1:11434 --window 32000 --dry-run

\b
The first line on stdout is the address. Keys come from the client with every request and are not
stored. GET /healthz and /metrics have totals; stderr has a line of JSON for every request.
"""


@click.command("serve", epilog=EPILOG)
@click.option(
    "--upstream",
    metavar="NAME|URL",
    required=True,
    help="The provider: anthropic, openai, or another address.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@options.number("--port", IntegerType(0, 65_535), 0, "Port to listen on (default: any free one).")
@click.option(
    "--db",
    type=options.FILE,
    help=f"Where sessions are stored (default: archive.db {options.DATA_FOLDER}).",
)
@options.number("--window", IntegerType(1_000), None, "Window in tokens (the model's own).")
@click.option(
    "--token",
    default="",
    envvar="FOLDLINE_SERVE_TOKEN",
    help="Token that every request must send as x-foldline-token (or FOLDLINE_SERVE_TOKEN).",
)
@options.policy
@options.choice(
    "--summarizer",
    ("same", "light", "none"),
    "none",
    "Summarize in the background with the client's own key: with the model that the "
    "client uses, or its cheaper sibling.",
)
@options.number("--spend", NumberType(0), 1.0, "Spending limit for all such summaries.", "USD")
@click.option("--dry-run", is_flag=True, help="Only measure: forward every request unchanged.")
@click.option(
    "--no-archive", is_flag=True, help="Keep sessions in memory only; nothing can be recalled."
)
@click.option("--keep", metavar="TIME", type=PERIOD, help="Delete sessions older than this: 30d.")
@click.option(
    "--max-size",
    metavar="SIZE",
    type=SIZE,
    help="Delete the oldest sessions while the archive is larger: 1GB.",
)
@click.option("--redact", is_flag=True, help="Redact likely keys in stored sessions.")
@options.debug
@click.option("-q", "--quiet", is_flag=True, help="Do not log requests on stderr.")
def command(upstream: str, db: Path | None, quiet: bool, **settings: Any) -> None:
    """
    Run a proxy that keeps an agent inside its context window.

    The agent sends its whole history each time; the proxy sends the session's view of it, and
    forwards everything else unchanged. If the proxy fails, the original request is sent.
    """
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise MissingExtra(missing[0], "serve")
    # Imported here: they load the network stack, which the help does not need.
    from foldline.proxy.server import ProxyServer
    from foldline.stores.retention import Retention

    most = settings["max_size"]
    service = ProxyServer(
        upstream,
        _options(upstream, **settings),
        _store(db, **settings),
        settings["host"],
        settings["port"],
        settings["token"],
        log=None if quiet else sys.stderr,
        retention=Retention(settings["keep"], most and int(most)),
    )
    service.run(lambda address: click.echo(address))


def _options(
    upstream: str,
    *,
    window: int | None,
    policy: str | None,
    dry_run: bool,
    summarizer: Literal["same", "light", "none"],
    spend: float,
    **_: Any,
) -> ProxyOptions:
    from foldline.cli.policy_options import build_policy
    from foldline.models.endpoint import Endpoint
    from foldline.proxy.background_summaries import BackgroundSummarizers
    from foldline.proxy.request_rewriting import ProxyOptions
    from foldline.proxy.server import resolve_upstream
    from foldline.settings.loading import load_config

    config, summarizers = load_config(), None
    if summarizer != "none":
        provider = Endpoint(resolve_upstream(upstream))
        summarizers = BackgroundSummarizers(provider, summarizer, spend)
        # One summary may cost no more than the total; an unknown price counts as too much.
        config = config.replace(memory={"enabled": True}, limits={"usd": spend})
    ladder = build_policy(policy, ()) if policy else None
    return ProxyOptions(config, window, ladder, dry_run, summarizers)


def _store(
    db: Path | None, *, no_archive: bool, dry_run: bool, redact: bool, **_: Any
) -> Store | None:
    if no_archive or dry_run:
        return None
    from foldline.redaction import redact_json
    from foldline.stores.sqlite import SqliteStore
    from foldline.stores.wrapped import RedactingStore

    path = stores.archive_file(db)
    stores.make_folder(path, "--db", "--no-archive")
    # The client has the whole history, and sends it again after a power cut.
    store = SqliteStore(path, durability="process")
    return RedactingStore(store, redact_json) if redact else store
