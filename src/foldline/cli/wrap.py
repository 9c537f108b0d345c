"""``foldline wrap``: run a coding agent with the proxy and the MCP server, in one command."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from foldline.cli import options
from foldline.cli.amounts import WINDOW
from foldline.cli.output import Voice, write_text
from foldline.cli.wrapped_clients import CLIENTS, WrappedClient, by_hand, split_address
from foldline.cli.wrapping import proxies, run_client, saved
from foldline.core.budget import Amount
from foldline.errors import InputError
from foldline.settings.folders import data_folder

EPILOG = """\b
Examples:
  foldline wrap claude
  foldline wrap codex -- exec "Mend the build."
  foldline wrap --window 100k opencode -- run "Mend the build."
  foldline wrap --print codex

\b
What stands behind -- goes to the agent. Keys and logins stay where they are: the agent sends them
with every request, and the proxy passes them on. The agent's exit code is the one of this command.
"""


@click.command("wrap", epilog=EPILOG, short_help="Run Claude Code, Codex or opencode through it.")
@click.argument("client", type=click.Choice(tuple(CLIENTS)))
@click.argument("arguments", metavar="[-- ARGS]...", nargs=-1, type=click.UNPROCESSED)
@click.option("--print", "printed", is_flag=True, help="Show how to do it by hand instead.")
@click.option(
    "--upstream",
    "upstreams",
    metavar="[NAME=]URL",
    multiple=True,
    help="Where its requests go, instead of where they go without Foldline; of a provider of "
    "opencode by its NAME.",
)
@click.option("--window", metavar="N", type=WINDOW, help="Tokens of the window (the model's own).")
@click.option("--no-mcp", is_flag=True, help="Do not register the MCP server.")
@click.option("--write", is_flag=True, help="Let the agent compact, and keep notes and memory.")
@click.option("--dry-run", is_flag=True, help="Only measure: every request goes out as it came.")
@click.option("--no-archive", is_flag=True, help="Keep nothing; then nothing can be recalled.")
@options.archive
@click.option("-q", "--quiet", is_flag=True, help="Do not say at the end what was saved.")
@click.option("--debug", is_flag=True, expose_value=False, hidden=True)
def command(
    client: str,
    arguments: tuple[str, ...],
    printed: bool,
    upstreams: tuple[str, ...],
    archive_path: Path | None,
    quiet: bool,
    **rest: Any,
) -> int:
    """Run CLIENT through a proxy that keeps it inside its context window, and ends with it."""
    agent = CLIENTS[client]
    archive = options.archive_file(archive_path)
    mcp = _mcp(archive, write=rest.pop("write")) if not rest.pop("no_mcp") else ()
    if rest["no_archive"]:
        mcp = ()  # there is nothing to recall from
    addresses = _addresses(agent, upstreams)
    if printed:
        write_text(by_hand(agent, addresses, mcp))
        return 0
    program = shutil.which(agent.program)
    if program is None:
        raise InputError(
            f"{agent.program} is not installed", hint=f"Run: npm install -g {agent.package}"
        )
    options.make_folder(archive)
    split = {name: split_address(address) for name, address in addresses.items()}
    wanted = {
        name: ["--upstream", origin, "--db", str(archive), *_options(**rest)]
        for name, (origin, _) in split.items()
    }
    with proxies(wanted, archive.parent / "proxy.log") as running:
        bases = {name: running[name].address + path for name, (_, path) in split.items()}
        setup = agent.setup(bases, mcp, os.environ)
        code = run_client(
            [program, *setup.arguments, *arguments], {**os.environ, **_no_proxy(), **setup.env}
        )
        totals = [one.totals() for one in running.values()]
    Voice(quiet=quiet).note(_ending(totals, archive.parent / "proxy.log"))
    return code


def _mcp(archive: Path, *, write: bool) -> tuple[str, ...]:
    """Return the command of the MCP server; empty where its package is not installed."""
    if find_spec("mcp") is None:
        Voice().note("The agent gets no recall without the extra: pip install 'foldline[mcp]'.")
        return ()
    # Said in so many words: not every client passes the environment on.
    memory, notes = data_folder() / "memory.db", os.environ.get("FOLDLINE_NOTES")
    words = [sys.executable, "-m", "foldline", "mcp", "--archive", str(archive.absolute())]
    words += ["--memory", str(memory.absolute())]
    return (*words, *(["--notes", notes] if notes else []), *["--write"] * write)


def _addresses(agent: WrappedClient, given: tuple[str, ...]) -> Mapping[str, str]:
    """Return the addresses of the providers, by name, as the user and the environment say."""
    named, plain = dict[str, str](), list[str]()
    for one in given:
        name, equals, address = one.partition("=")
        if equals and "/" not in name:
            named[name] = address
        else:
            plain.append(one)
    if not given:
        return agent.providers(os.environ)
    if plain:
        known = list(agent.providers({}))
        if len(plain) > 1 or len(known) > 1:
            raise click.UsageError(
                f"Say whose address it is: --upstream {known[-1]}=URL.",
                click.get_current_context(),
            )
        named[known[0]] = plain[0]
    for address in named.values():
        split_address(address)
    return named


def _options(*, window: Amount | None, dry_run: bool, no_archive: bool) -> list[str]:
    words = ["--window", str(window.tokens)] if window else []
    return words + ["--dry-run"] * dry_run + ["--no-archive"] * no_archive


def _no_proxy() -> Mapping[str, str]:
    """Keep the requests to this machine away from a proxy of the company's network."""
    local = "127.0.0.1,localhost"
    return {
        name: f"{os.environ[name]},{local}" if os.environ.get(name) else local
        for name in ("NO_PROXY", "no_proxy")
    }


def _ending(totals: list[dict[str, Any]], log: Path) -> str:
    if not all(totals):
        return f"Foldline: the proxy ended before the agent did; {log} says why."
    return saved(totals) or "Foldline: no request came through the proxy."
