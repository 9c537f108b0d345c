"""``foldline wrap``: run a coding agent with the proxy and the MCP server, in one command."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import click

from foldline.cli import options, stores
from foldline.cli.commands.coding_agents import (
    CLIENTS,
    WrappedClient,
    shell_commands,
    split_address,
)
from foldline.cli.options import WINDOW
from foldline.cli.output import Output, write_text
from foldline.core.budget import Amount
from foldline.errors import FoldlineError, InputError
from foldline.frozen import frozen

EPILOG = """\b
Examples:
  foldline wrap claude
  foldline wrap codex -- exec "Fix the build."
  foldline wrap --window 100k opencode -- run "Fix the build."
  foldline wrap --print codex

\b
Arguments after -- go to the agent. Keys and logins stay where they are: the agent sends them
with every request, and the proxy forwards them. The command returns the agent's exit code.
"""


@click.command("wrap", epilog=EPILOG)
@click.argument("client", type=click.Choice(tuple(CLIENTS)))
@click.argument("arguments", metavar="[-- ARGS]...", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--print", "printed", is_flag=True, help="Print the equivalent shell commands instead."
)
@click.option(
    "--upstream",
    "upstreams",
    metavar="[NAME=]URL",
    multiple=True,
    help="Address to send requests to instead of the usual one; for a provider of "
    "opencode, with its NAME.",
)
@options.number("--window", WINDOW, None, "Window in tokens (the model's own).")
@click.option("--no-mcp", is_flag=True, help="Do not register the MCP server.")
@click.option("--write", is_flag=True, help="Let the agent compact, and write notes and memory.")
@click.option("--dry-run", is_flag=True, help="Only measure: forward every request unchanged.")
@click.option("--no-archive", is_flag=True, help="Store nothing; recall is then unavailable.")
@options.archive
@click.option("-q", "--quiet", is_flag=True, help="Do not report the savings at the end.")
@options.debug
def command(
    client: str,
    arguments: tuple[str, ...],
    printed: bool,
    upstreams: tuple[str, ...],
    archive_path: Path | None,
    quiet: bool,
    **rest: Any,
) -> int:
    """Run CLIENT behind a proxy that keeps it inside its context window."""
    agent = CLIENTS[client]
    archive = stores.archive_file(archive_path)
    mcp = _mcp(archive, write=rest.pop("write")) if not rest.pop("no_mcp") else ()
    if rest["no_archive"]:
        mcp = ()  # nothing is stored to recall
    addresses = _addresses(agent, upstreams)
    if printed:
        write_text(shell_commands(agent, addresses, mcp))
        return 0
    program = shutil.which(agent.program)
    if program is None:
        raise InputError(
            f"{agent.program} is not installed", hint=f"Run: npm install -g {agent.package}"
        )
    stores.make_folder(archive, "--archive", "--no-archive")
    split = {name: split_address(address) for name, address in addresses.items()}
    log = archive.parent / "proxy.log"
    running, bases = list[RunningProxy](), dict[str, str]()
    with ExitStack() as stack:
        for name, (origin, path) in split.items():
            proxy_arguments = ["--upstream", origin, "--db", str(archive), *_options(**rest)]
            running.append(stack.enter_context(run_proxy(proxy_arguments, log)))
            bases[name] = running[-1].address + path
        setup = agent.setup(bases, mcp, os.environ)
        code = run_client(
            [program, *setup.arguments, *arguments], {**os.environ, **_no_proxy(), **setup.env}
        )
        totals = [one.totals() for one in running]
    Output(quiet=quiet).note(_closing_note(totals, log))
    return code


def _mcp(archive: Path, *, write: bool) -> tuple[str, ...]:
    """Return the command of the MCP server; empty where its package is not installed."""
    if find_spec("mcp") is None:
        Output().note("The agent gets no recall without the extra: pip install 'foldline[mcp]'.")
        return ()
    # Passed explicitly: not every client passes the environment on.
    memory, notes = stores.memory_file(None), os.environ.get("FOLDLINE_NOTES")
    words = [sys.executable, "-m", "foldline", "mcp", "--archive", str(archive.absolute())]
    words += ["--memory", str(memory.absolute())]
    return (*words, *(["--notes", notes] if notes else []), *["--write"] * write)


def _addresses(agent: WrappedClient, given: tuple[str, ...]) -> Mapping[str, str]:
    """Return the provider addresses by name, from the options and the environment."""
    if not given:
        return agent.providers(os.environ)
    named, plain = dict[str, str](), list[str]()
    for one in given:
        name, equals, address = one.partition("=")
        if equals and "/" not in name:
            named[name] = address
        else:
            plain.append(one)
    if plain:
        known = list(agent.providers({}))
        if len(plain) > 1 or len(known) > 1:
            options.refuse(f"Name the provider: --upstream {known[-1]}=URL.")
        named[known[0]] = plain[0]
    for address in named.values():
        split_address(address)
    return named


def _options(*, window: Amount | None, dry_run: bool, no_archive: bool) -> list[str]:
    words = ["--window", str(window.tokens)] if window else []
    return words + ["--dry-run"] * dry_run + ["--no-archive"] * no_archive


def _no_proxy() -> Mapping[str, str]:
    """Return variables that bypass a network proxy for requests to this machine."""
    names = ("NO_PROXY", "no_proxy")
    return {
        name: ",".join(filter(None, (os.environ.get(name), "127.0.0.1,localhost")))
        for name in names
    }


def _closing_note(totals: list[dict[str, Any]], log: Path) -> str:
    if not all(totals):
        return f"Foldline: the proxy ended before the agent did; see {log}."
    return savings_sentence(totals) or "Foldline: no request came through the proxy."


STARTING: Final = 60.0
"""Seconds within which a proxy prints its address."""

ENDING: Final = 15.0
"""Seconds after which a proxy that does not end is killed."""

ASKING: Final = 5.0
"""Seconds within which a proxy answers with its totals."""

LARGEST_LOG: Final = 10_000_000
"""Size in bytes at which the log of the proxies is truncated."""

FORWARDED: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


@frozen
class RunningProxy:
    """A proxy that runs: its address and its process."""

    address: str
    process: subprocess.Popen[bytes]

    def totals(self) -> dict[str, Any]:
        """Request the totals; empty if the proxy does not answer."""
        place = urlsplit(self.address)
        with closing(
            HTTPConnection(place.hostname or "", place.port, timeout=ASKING)
        ) as connection:
            try:
                connection.request("GET", "/healthz")
                totals = json.loads(connection.getresponse().read(1 << 20))
            except (OSError, HTTPException, ValueError):
                return {}
        return totals if isinstance(totals, dict) else {}


@contextmanager
def run_proxy(options: Sequence[str], log: Path) -> Iterator[RunningProxy]:
    """
    Run ``foldline serve`` on a free port for the duration of the block.

    Args:
        options: Options of the command.
        log: File for its output.

    Raises:
        FoldlineError: It does not start; the error has its last line.
    """
    with _log(log) as lines:
        start = lines.tell()
        process = subprocess.Popen(  # noqa: S603  # this program itself
            [sys.executable, "-m", "foldline", "serve", "--port", "0", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=lines,
            # Terminal input is for the client.
            start_new_session=True,
        )
    try:
        yield RunningProxy(_address(process, log, start), process)
    finally:
        _end(process)


def _log(path: Path) -> Any:
    fresh = path.exists() and path.stat().st_size > LARGEST_LOG
    flags = os.O_CREAT | os.O_WRONLY | os.O_APPEND | (os.O_TRUNC if fresh else 0)
    file = os.fdopen(os.open(path, flags, 0o600), "ab")
    file.seek(0, os.SEEK_END)
    return file


def _address(process: subprocess.Popen[bytes], log: Path, start: int) -> str:
    assert process.stdout is not None  # noqa: S101  # requested above
    ready, _, _ = select.select([process.stdout], [], [], STARTING)
    address = process.stdout.readline().decode("utf-8", "replace").strip() if ready else ""
    if address.startswith("http://"):
        return address
    with log.open("rb") as file:
        file.seek(start)
        lines = file.read(4_000).decode("utf-8", "replace").strip()
    reason = lines.splitlines()[-1] if lines else f"no output in {STARTING:.0f} seconds"
    raise FoldlineError(f"The proxy did not start: {reason.removeprefix('foldline: ')}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()  # has no effect on a process that has ended
    try:
        process.wait(ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


# --- the client ----------------------------------------------------------------------------


def run_client(command: Sequence[str], env: Mapping[str, str]) -> int:
    """
    Run a program in the foreground, pass signals on to it, and return its exit code.

    If a signal ended it, the code is that of a shell: 128 plus the number of the signal.

    Raises:
        InputError: It cannot be run.
    """
    with _forward_signals() as forward:
        try:
            client = subprocess.Popen(list(command), env=dict(env))  # noqa: S603  # the user's own
        except OSError as error:
            raise InputError(f"{command[0]} cannot be run: {error.strerror or error}") from error
        forward(client)
        code = client.wait()
    return 128 - code if code < 0 else code


@contextmanager
def _forward_signals() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Forward signals to a client, as soon as there is one."""
    clients, early = list[subprocess.Popen[bytes]](), list[int]()

    def pass_on(number: int, _: object) -> None:
        if not clients:
            early.append(number)
        elif not (number in (signal.SIGINT, signal.SIGQUIT) and _at_terminal()):
            clients[0].send_signal(number)

    def forward(client: subprocess.Popen[bytes]) -> None:
        clients.append(client)
        for number in early:
            client.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in FORWARDED}
    try:
        yield forward
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _at_terminal() -> bool:
    """Return True if the terminal itself sends signals such as Ctrl-C to the client."""
    try:
        with os.fdopen(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY), "rb", 0) as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


# --- what was saved ------------------------------------------------------------------------


def savings_sentence(totals: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence about the traffic and the savings; "" if there was no traffic."""
    requests = _sum(totals, "requests")
    if not requests:
        return ""
    before, less = _sum(totals, "tokens_before"), _sum(totals, "tokens_saved")
    usage = [one.get("usage", {}) for one in totals]
    cached = _sum(usage, "cache_read")
    given = cached + _sum(usage, "input") + _sum(usage, "cache_write")
    words = [f"{requests:,} requests, {_sum(totals, 'compactions'):,} compactions"]
    if before:
        words.append(f"{less:,} of {before:,} tokens of input were not sent ({less / before:.0%})")
    if given:
        words.append(f"the provider read {cached / given:.0%} of its input from its cache")
    failed = _sum(totals, "failed_open")
    if failed:
        words.append(f"{failed:,} requests were forwarded unchanged after a failure in Foldline")
    return f"Foldline: {'; '.join(words)}."


def _sum(rows: Sequence[Mapping[str, Any]], key: str) -> int:
    return sum(int(row.get(key) or 0) for row in rows)
