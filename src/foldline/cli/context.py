"""``foldline context``: build a context, look at a prompt, compare two ways to build."""

from __future__ import annotations

import click

from foldline.cli.context_build import build
from foldline.cli.context_compare import compare
from foldline.cli.context_lint import lint
from foldline.cli.lazy import NamingGroup

EPILOG = """\b
Examples:
  foldline context build --query "Why is the build red?" --notes notes --file src --budget 4000
  foldline context lint prompt.md
  foldline context compare queries.txt --file docs --with min_relevance=0.3
"""


@click.group(
    "context",
    cls=NamingGroup,
    epilog=EPILOG,
    short_help="Build, judge and compare contexts.",
)
def command() -> None:
    """Build what a model sees for one question, judge a prompt, compare two ways to build."""


command.add_command(build)
command.add_command(lint)
command.add_command(compare)
