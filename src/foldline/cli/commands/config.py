"""``foldline config show``: every setting, its value, and where that comes from."""

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
The environment beats foldline.toml (or [tool.foldline] in pyproject.toml) of the project,
that beats foldline.toml of the user, and that the defaults.
"""


@click.command("config", epilog=EPILOG)
@click.argument("action", metavar="[show]", type=click.Choice(("show",)), default="show")
@click.option("--changed", is_flag=True, help="Only what is not the default.")
@options.output
def command(action: str, changed: bool, output: Output) -> None:  # noqa: ARG001  # there is but one
    """Show every setting that holds in this folder, its value, and where that comes from."""
    settings = load()
    rows = [row for row in settings.rows() if not changed or row[2] != "default"]
    output.records(
        "config/1",
        {"settings": [{"key": k, "value": value, "origin": origin} for k, value, origin in rows]},
        ("setting", "*value", "*from"),
        [(key, _words(value), origin) for key, value, origin in rows],
        empty="Every setting has its default.",
    )


def _words(value: Any) -> str:
    """Return a value as people read it."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "—"
    if isinstance(value, list):
        return one_line(", ".join(map(str, value))) or "(none)"
    return f"{value:,}" if isinstance(value, int) else one_line(str(value))
