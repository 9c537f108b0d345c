"""``foldline config show``: every setting, its value, and its source."""

from __future__ import annotations

from typing import Any

import click

from foldline.cli import options
from foldline.cli.output import Output, one_line
from foldline.settings import load

EPILOG = """\b
Examples:
  foldline config show
  FOLDLINE_THRESHOLDS__ACT_AT=0.7 foldline config show --changed
  foldline config show --json

\b
Precedence: the environment, the project's foldline.toml (or [tool.foldline] in pyproject.toml),
the user's foldline.toml, the defaults.
"""


@click.command("config", epilog=EPILOG)
@click.argument("action", metavar="[show]", type=click.Choice(("show",)), default="show")
@click.option("--changed", is_flag=True, help="Only settings that differ from the default.")
@options.output
def command(action: str, changed: bool, output: Output) -> None:  # noqa: ARG001  # there is but one
    """Show every setting that applies in this folder, its value, and where it comes from."""
    settings = load()
    rows = [row for row in settings.rows() if not changed or row[2] != "default"]
    output.records(
        "config/1",
        {"settings": [{"key": k, "value": value, "origin": origin} for k, value, origin in rows]},
        ("setting", "*value", "*from"),
        [(key, _words(value), origin) for key, value, origin in rows],
        empty="Every setting has its default value.",
    )


def _words(value: Any) -> str:
    """Return a value as readable text."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "—"
    if isinstance(value, list):
        return one_line(", ".join(map(str, value))) or "(none)"
    return f"{value:,}" if isinstance(value, int) else one_line(str(value))
