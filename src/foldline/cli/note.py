"""``foldline note``: notes in files that people can edit, found, changed and brought back."""

from __future__ import annotations

from pathlib import Path

import click

from foldline.cli.lazy import NamingGroup
from foldline.cli.note_folder import folder
from foldline.cli.note_reading import ls, search, show, summary
from foldline.cli.note_tasks import task, tasks, tidy
from foldline.cli.note_writing import edit, new, rm

EPILOG = """\b
Examples:
  foldline note new "Login fails since 1.4" --type blocker --tag auth -c "Only with SSO."
  git log -3 | foldline note new "Last changes" --content -
  foldline note search "登录 timeout"
  foldline note edit 3F7K --type conclusion
  foldline note tasks

\b
An id may be cut to its last letters. The folder is ./notes, unless --notes or FOLDLINE_NOTES
names another.
"""


@click.group(
    "note",
    cls=NamingGroup,
    epilog=EPILOG,
    short_help="Keep notes and tasks in files that people can edit.",
)
@folder
def command(folder: Path | None) -> None:  # its subcommands take it
    """Keep notes, and tasks that need each other, in Markdown files that people can edit."""


for one in (new, show, edit, rm, search, ls, summary, tasks, task, tidy):
    command.add_command(one)
