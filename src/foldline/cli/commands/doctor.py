"""``foldline doctor``: check this installation."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final, Literal, TypeAlias

import click

from foldline.cli import options, stores
from foldline.cli.agent_sessions import SessionFile, homes, in_home
from foldline.cli.output import Output, one_line, write_json
from foldline.errors import FoldlineError
from foldline.evaluation.figures import plural, size
from foldline.frozen import frozen

EPILOG = """\b
Examples:
  foldline doctor
  foldline doctor --json

\b
Exit code 0: everything works, 1: something needs repair.
"""

Health: TypeAlias = Literal["ok", "note", "problem"]

_REQUIRED: Final = re.compile(r"[\w.-]+")
"""The name of a package that Foldline requires."""

EXTRAS: Final = {
    "splintr-rs": "counts tokens with real vocabularies, offline: pip install 'foldline[tokens]'",
    "tiktoken": "the same with OpenAI's own package: pip install 'foldline[tiktoken]'",
}

INTEGRATIONS: Final = (
    ("langchain", "langchain", "langchain", "FoldlineMiddleware, Compressor"),
    ("openai-agents", "openai-agents", "openai_agents", "FoldlineSession"),
    ("pydantic-ai", "pydantic-ai-slim", "pydantic_ai", "FoldlineHistory"),
    ("openai", "openai", "loop", "sending"),
    ("anthropic", "anthropic", "loop", "sending"),
)
"""Extra, package, our module, and what it provides."""


@frozen
class Check:
    """The result of one check: its name, its state, and a description."""

    name: str
    health: Health
    words: str


@click.command("doctor", epilog=EPILOG)
@options.archive
@options.output
def command(archive_path: Path | None, output: Output) -> int:
    """Check this installation: packages, counter, archive, terminal, integrations, agents."""
    checks = list(_checks(stores.archive_file(archive_path)))
    healthy = all(check.health != "problem" for check in checks)
    if output.json:
        write_json("doctor/1", {"healthy": healthy, "checks": [asdict(c) for c in checks]})
    else:
        _show(checks)
    return 0 if healthy else 1


def _checks(archive: Path) -> Iterator[Check]:
    new = sys.version_info >= (3, 11)
    words = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield Check("foldline", "ok", version("foldline"))
    yield Check("python", "ok" if new else "problem", words)
    yield from _packages()
    yield _counter()
    yield _models()
    yield _archive(archive)
    yield _terminal()
    yield _sandbox()
    yield from _integrations()
    yield from _agents()


def _packages() -> Iterator[Check]:
    every = [_REQUIRED.match(line) for line in requires("foldline") or ()]
    required = [found[0] for found in every if found and "extra ==" not in found.string]
    for name in (*required, *EXTRAS):
        try:
            yield Check(name, "ok", version(name))
        except PackageNotFoundError:
            needed = name in required
            words = f"missing; run: pip install {name}" if needed else f"missing; {EXTRAS[name]}"
            yield Check(name, "problem" if needed else "note", words)


def _integrations() -> Iterator[Check]:
    """Import each adapter as a program would: only this proves that it works here."""
    for extra, package, module, offers in INTEGRATIONS:
        name = f"for {extra}"
        try:
            found = f"{package} {version(package)}"
        except PackageNotFoundError:
            yield Check(name, "note", f"missing; run: pip install 'foldline[{extra}]'")
            continue
        try:
            import_module(f"foldline.integrations.{module}")
        except (FoldlineError, ImportError, AttributeError) as error:
            words = f"{found} does not fit: {one_line(str(error))}"
            yield Check(name, "problem", f"{words}; run: pip install -U 'foldline[{extra}]'")
        else:
            yield Check(name, "ok", f"{found}: {offers}")


def _counter() -> Check:
    from foldline.tokens.choose import choose_counter

    gpt, claude = choose_counter("gpt-5"), choose_counter("claude")
    tokens = gpt.count("Foldline counts these words.")
    exact = "exact" if gpt.exact else "an estimate"
    words = f"{gpt.name} for OpenAI models ({exact}), {claude.name} for Claude"
    return Check("counter", "ok" if 3 <= tokens <= 9 else "problem", words)


def _models() -> Check:
    """List which keys are set, by name only; no request is sent."""
    from foldline.models.catalogue import VARIABLE, Catalogue

    try:
        known = Catalogue.load()
    except FoldlineError as error:
        return Check("models", "problem", f"{error} ({VARIABLE})")
    found = sorted(key for key, is_set in known.keys().items() if is_set)
    words = f"{plural(known.size, 'model')} known; " + (
        f"keys: {', '.join(found)}" if found else "no key is set; only a summarizer needs one"
    )
    return Check("models", "ok", words)


def _archive(path: Path) -> Check:
    if not path.exists():
        folder = next((parent for parent in path.parents if parent.exists()), path.parent)
        usable = folder.is_dir() and os.access(folder, os.W_OK)
        words = f"{path}: none yet" + ("" if usable else f", and {folder} cannot be written")
        return Check("archive", "ok" if usable else "problem", words)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as opened:
            (schema,) = opened.execute("PRAGMA user_version").fetchone()
            (sessions,) = opened.execute("SELECT count(*) FROM sessions").fetchone()
    except sqlite3.Error as error:
        return Check("archive", "problem", f"{path}: {error}; use another one with --archive")
    words = f"{path}: {plural(sessions, 'session')}, {size(path.stat().st_size)}, schema {schema}"
    if not os.access(path, os.W_OK):
        return Check("archive", "problem", f"{words}, cannot be written")
    return Check("archive", "ok", words)


def _terminal() -> Check:
    from foldline.cli.output import console

    screen = console()
    colours = screen.color_system or "no"
    kind = "a terminal" if screen.is_terminal else "no terminal"
    words = f"{kind}, {screen.width} columns, {colours} colours, {screen.encoding}"
    return Check("output", "ok", words)


def _sandbox() -> Check:
    """Report which sandbox confines an agent's terminal; each is tried."""
    from foldline.tools.terminal.sandbox import INSTALL, try_confinement

    best = try_confinement("bubblewrap")
    if best.confinement is not None:
        return Check("sandbox", "ok", "bubblewrap; its self-test found no way out")
    second = try_confinement("landlock")
    if second.confinement is not None:
        words = f"landlock and seccomp, since bubblewrap: {best.words}. {second.words}"
    else:
        words = f"none, so TerminalTool will not open: {best.words}; landlock: {second.words}."
    return Check("sandbox", "note", f"{words} {INSTALL}")


def _agents() -> Iterator[Check]:
    for home in homes():
        if home.folder.is_dir():
            found = [item for item in in_home(home) if isinstance(item, SessionFile)]
            total = size(sum(item.size for item in found))
            words = f"{plural(len(found), 'session file')}, {total}, in {home.folder}"
            yield Check(home.agent, "ok", words)


def _show(checks: list[Check]) -> None:
    from rich.text import Text

    from foldline.cli.output import console, printable, table

    screen = console()
    signs = {"ok": ("✓", "+", "green"), "note": ("·", "-", "yellow"), "problem": ("✗", "!", "red")}
    grid = table("", "", "*")
    grid.show_header = False
    grid.columns[2].overflow = "fold"
    for check in checks:
        fine, coarse, colour = signs[check.health]
        sign = Text(fine if screen.has_blocks else coarse, style=colour)
        grid.add_row(sign, check.name, printable(check.words))
    screen.print(grid)
