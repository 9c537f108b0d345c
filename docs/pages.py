"""Pages of the documentation that are made when `make docs` builds it: help, reference, README."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

import foldline
from foldline.cli.main import cli

ROOT = Path(__file__).resolve().parents[1]

FRONT_DOORS = (
    "agents", "context", "formats", "integrations", "memory", "models", "notes", "retrieval",
    "testing", "tools",
)  # fmt: skip
"""Packages whose public names are documented beside those of `foldline` itself."""

FROM_THE_ROOT = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that no file in `docs/` holds."""
    from mkdocs.structure.files import File

    pages = {page: _from_the_root(name) for name, page in FROM_THE_ROOT.items()}
    pages["reference/cli.md"] = command_line()
    pages["reference/library.md"] = library()
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def _from_the_root(name: str) -> str:
    """Return a page of the repository with its links as they are inside the site."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
    for other, page in FROM_THE_ROOT.items():
        text = text.replace(f"]({other}", f"]({page}")
    # What is not part of the site is named, not linked.
    return re.sub(r"(?<!!)\[([^\]]*)\]\((?!https?:|#|[\w/-]+\.(?:md|svg|png))[^)]*\)", r"\1", text)


def command_line() -> str:
    """Return the help of every command as Markdown."""
    lines = ["# Command line", ""]
    for path, command in _commands("foldline", cli):
        with click.Context(command, info_name=path) as context:
            help_ = command.get_help(context)
        lines += [f"## {path}", "", "```text", help_, "```", ""]
    return "\n".join(lines)


def _commands(path: str, command: click.Command) -> list[tuple[str, click.Command]]:
    found = [(path, command)]
    if isinstance(command, click.Group):
        with click.Context(command, info_name=path) as context:
            for name in command.list_commands(context):
                child = command.get_command(context, name)
                if child is not None:
                    found += _commands(f"{path} {name}", child)
    return found


def library() -> str:
    """Return the page of all public names, each described by its docstring."""
    names = [f"::: foldline.{name}" for name in foldline.__all__]
    doors = [f"::: foldline.{name}\n    options:\n      members: false" for name in FRONT_DOORS]
    return "# Library\n\n" + "\n\n".join([*names, *doors]) + "\n"
