"""Settings in TOML files: the user's, and the nearest one of the project."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from foldline.errors import BudgetError, InputError
from foldline.settings.folders import config_folder
from foldline.settings.templates import KEY, resolve_template

FILE: Final = "foldline.toml"
PYPROJECT: Final = "pyproject.toml"

LARGEST: Final = 1 << 20
"""A file with settings is no larger than this, in bytes."""

HIGHEST: Final = 100
"""Folders in which a file of the project is looked for: where a program runs, and above."""

DEEPEST: Final = 4
"""Tables in tables that are looked into; no setting lies deeper."""

ROOT: Final = "files.root"

USERS: Final = ("summarizer", "limits.usd", "files.never")
"""What only the user decides: who is paid, how much, and which files stay private."""


def said_in_files(start: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """
    Yield what the file of the user says, then what that of the project says.

    Args:
        start: The folder where the search begins.
        environ: The environment.

    Returns:
        Pairs of a path, and values by dotted keys.

    Raises:
        InputError: A file cannot be read.
        BudgetError: The file of a project wants files from elsewhere, or decides for the user.
    """
    user = config_folder(environ) / FILE
    if user.is_file():
        yield str(user), _with_template(flat(_table(user), str(user)), user, inside=False)
    project = _project(start)
    if project is not None and project != user:
        said = flat(_table(project), str(project))
        _undecided(project, said)
        if isinstance(said.get(ROOT), str):
            said[ROOT] = _inside(project, said[ROOT])
        yield str(project), _with_template(said, project, inside=True)


def _with_template(said: dict[str, Any], file: Path, *, inside: bool) -> dict[str, Any]:
    if KEY in said:
        said[KEY] = resolve_template(said[KEY], file.parent, inside=inside)
    return said


def flat(table: Mapping[str, Any], place: str, within: str = "") -> dict[str, Any]:
    """
    Return the values of tables by dotted keys.

    Args:
        table: Values, and tables of them.
        place: Where it stands, for errors.
        within: The key of the table itself.

    Raises:
        BudgetError: The tables are nested deeper than any setting.
    """
    out: dict[str, Any] = {}
    for name, value in table.items():
        key = f"{within}{name}"
        if not isinstance(value, Mapping):
            out[key] = value
        elif key.count(".") < DEEPEST:
            out |= flat(value, place, f"{key}.")
        else:
            raise BudgetError(f"There is no setting {key[:80]!r}, in {place}.")
    return out


def _project(start: Path) -> Path | None:
    """Find the nearest file with settings, in a folder or above it."""
    folder = start.absolute()
    for place in (folder, *folder.parents)[:HIGHEST]:
        own, project = place / FILE, place / PYPROJECT
        if own.is_file():
            return own
        if project.is_file() and _table(project):
            return project
    return None


def _table(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path} is larger than {LARGEST:,} bytes", hint="Make it smaller.")
        whole = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} cannot be read: {error}", hint="Mend the file, or move it away."
        ) from error
    if path.name != PYPROJECT:
        return whole
    tools = whole.get("tool")
    mine = tools.get("foldline") if isinstance(tools, dict) else None
    return mine if isinstance(mine, dict) else {}


def _undecided(file: Path, said: Mapping[str, Any]) -> None:
    """Refuse what a file that came with somebody else's code must not decide."""
    for key in USERS:
        if key in said:
            raise BudgetError(
                f"{key} in {file} is for the user to decide, not for a project.",
                hint="Set it in your own settings, in the environment, or in the program.",
            )


def _inside(file: Path, root: str) -> str:
    """Return the directory that a project names; it came with the code, so it must lie in it."""
    folder = file.parent.resolve()
    wanted = (folder / root).resolve()
    if not wanted.is_relative_to(folder):
        raise BudgetError(
            f"{ROOT} in {file} lies outside of the project.",
            hint="Name a folder in it, or set it in your own settings or in the program.",
        )
    return str(wanted)
