"""Sources of settings: the environment, TOML files, and template files."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_origin

from foldline.core.config import Config
from foldline.core.settings_codec import Leaf, leaves, optional
from foldline.core.summary_settings import LONGEST_TEMPLATE, TEMPLATE_NAMES, is_own_template
from foldline.errors import BudgetError, InputError, StoreError

HOME: Final = "FOLDLINE_HOME"
"""The environment variable that names a folder for data and settings."""


def data_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of stored content."""
    return _home(environ) or _platform_data_folder()


def config_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the user's settings."""
    return _home(environ) or _platform_config_folder()


def _home(environ: Mapping[str, str] | None) -> Path | None:
    home = (os.environ if environ is None else environ).get(HOME, "")
    return Path(home) if home else None


def _platform_data_folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("foldline", appauthor=False)


def _platform_config_folder() -> Path:
    from platformdirs import user_config_path

    return user_config_path("foldline", appauthor=False)


def make_folder(folder: Path) -> Path:
    """
    Create a folder readable only by its owner, with its parents, and return it.

    Raises:
        StoreError: It cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreError(f"The folder {folder} cannot be created: {error.strerror}.") from error
    return folder


PREFIX: Final = "FOLDLINE_"

NO_SETTINGS: Final = (
    "FOLDLINE_ARCHIVE_KEY",
    "FOLDLINE_HOME",
    "FOLDLINE_DEBUG",
    "FOLDLINE_MAX_BYTES",
    "FOLDLINE_MODELS",
    "FOLDLINE_NOTES",
    "FOLDLINE_SERVE_TOKEN",
    "FOLDLINE_TOKEN",
)
"""Variables of Foldline that are not settings."""

_SWITCH: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def variable(key: str) -> str:
    """Return the name of the variable for a dotted key."""
    return PREFIX + key.upper().replace(".", "__")


def environment_settings(environ: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """
    Yield the settings of the environment by dotted keys, including unknown ones.

    Raises:
        BudgetError: A value does not have the type of its setting.
    """
    known = {leaf.key: leaf for leaf in leaves(Config)}
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in NO_SETTINGS:
            key = name.removeprefix(PREFIX).lower().replace("__", ".")
            leaf, text = known.get(key), environ[name]
            what = f"The environment variable {name}"
            yield key, text if leaf is None else read_text(leaf, text, what)


def read_text(leaf: Leaf, text: str, what: str) -> Any:
    """
    Parse the text of a setting's value.

    Args:
        leaf: The setting.
        text: The value as text; items of lists are separated by commas.
        what: Its name in errors, which do not repeat the text, as it may hold a secret.

    Raises:
        BudgetError: It has another type.
    """
    kind, may_be_none = optional(leaf.type)
    word = text.strip()
    if may_be_none and word.lower() in ("", "none"):
        return None
    if get_origin(kind) is tuple:
        return tuple(item.strip() for item in word.split(",") if item.strip())
    try:
        if kind is bool:
            return _SWITCH[word.lower()]
        return kind(word) if kind in (int, float) else word
    except (KeyError, ValueError) as error:
        expected = {bool: "true or false", int: "a whole number"}.get(kind, "a number")
        hint = "Change it, or leave it out."
        raise BudgetError(f"{what} must be {expected}.", hint=hint) from error


IN_PROJECT: Final = "in it, or set it in your own settings or in the program."

KEY: Final = "summary.template"

SUFFIXES: Final = (".md", ".txt")
"""Suffixes of a file name in a setting that may also be literal text."""


def resolve_template(value: object, folder: Path, *, inside: bool = False) -> object:
    """
    Return the template of a setting: its text, or the content of the file that it names.

    Args:
        value: The name of a template, the text of one, or the name of a file.
        folder: The folder that a relative file name refers to.
        inside: Whether the file must be in the folder, as for settings of foreign code.

    Raises:
        InputError: The file is missing, too large or not text.
        BudgetError: It is outside of the folder.
    """
    if not isinstance(value, str) or not value.endswith(SUFFIXES) or not value.isprintable():
        return value
    path = (folder / value).resolve()
    if is_own_template(value) and not path.is_file():
        return value
    if inside and not path.is_relative_to(folder.resolve()):
        why = f"{KEY} names a file outside of the project: {value[:80]!r}."
        raise BudgetError(why, hint=f"Name a file {IN_PROJECT}")
    return read_template(path)


def read_template(path: Path) -> str:
    """
    Read a template from a file.

    Raises:
        InputError: The file is missing, too large or not text.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(LONGEST_TEMPLATE + 1).strip()
    except (OSError, ValueError) as error:
        hint = f"Name a text file, or one of {', '.join(TEMPLATE_NAMES)}."
        raise InputError(f"The template {path} cannot be read: {error}", hint=hint) from error
    if not is_own_template(text) or len(text) > LONGEST_TEMPLATE:
        hint = f"Write the instructions for a model, in {LONGEST_TEMPLATE:,} characters at most."
        why = f"The template {path} is empty, a single word, or too long."
        raise InputError(why, hint=hint)
    return text


FILE: Final = "foldline.toml"
PYPROJECT: Final = "pyproject.toml"

LARGEST: Final = 1 << 20
"""Maximum size of a settings file, in bytes."""

HIGHEST: Final = 100
"""Maximum number of folders searched for the project's file, upwards from the start."""

DEEPEST: Final = 4
"""Maximum depth of nested tables; no setting is deeper."""

ROOT: Final = "files.root"

USERS: Final = ("summarizer", "limits.usd", "files.never")
"""Settings reserved to the user: payees, spending limits, and private files."""


def file_settings(start: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """
    Yield the settings of the user's file, then those of the project's.

    Args:
        start: The folder where the search starts.
        environ: The environment.

    Returns:
        Pairs of a path, and values by dotted keys.

    Raises:
        InputError: A file cannot be read.
        BudgetError: The project's file names files outside of it, or sets what is reserved to the
            user.
    """
    user = config_folder(environ) / FILE
    if user.is_file():
        yield str(user), with_template(flatten(_table(user), str(user)), user.parent)
    project = _project(start)
    if project is not None and project != user:
        values = flatten(_table(project), str(project))
        _check_user_settings(project, values)
        if isinstance(values.get(ROOT), str):
            values[ROOT] = _inside(project, values[ROOT])
        yield str(project), with_template(values, project.parent, inside=True)


def with_template(values: dict[str, Any], folder: Path, *, inside: bool = False) -> dict[str, Any]:
    """Return settings with their template resolved; see `resolve_template`."""
    if KEY in values:
        values[KEY] = resolve_template(values[KEY], folder, inside=inside)
    return values


def flatten(table: Mapping[str, Any], place: str, within: str = "") -> dict[str, Any]:
    """
    Return the values of tables by dotted keys.

    Args:
        table: Values, and tables of them.
        place: Its origin, for errors.
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
            out |= flatten(value, place, f"{key}.")
        else:
            raise BudgetError(f"There is no setting {key[:80]!r}, in {place}.")
    return out


def _project(start: Path) -> Path | None:
    """Find the nearest settings file, in a folder or above it."""
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
        hint = "Repair the file, or move it away."
        raise InputError(f"{path} cannot be read: {error}", hint=hint) from error
    if path.name != PYPROJECT:
        return whole
    tools = whole.get("tool")
    mine = tools.get("foldline") if isinstance(tools, dict) else None
    return mine if isinstance(mine, dict) else {}


def _check_user_settings(file: Path, values: Mapping[str, Any]) -> None:
    """Reject settings that a file which came with foreign code must not set."""
    for key in USERS:
        if key in values:
            hint = "Set it in your own settings, in the environment, or in the program."
            why = f"{key} in {file} can be set only by the user, not by a project."
            raise BudgetError(why, hint=hint)


def _inside(file: Path, root: str) -> str:
    """Return the directory that a project names, which must be inside the project."""
    folder = file.parent.resolve()
    directory = (folder / root).resolve()
    if not directory.is_relative_to(folder):
        why = f"{ROOT} in {file} is outside of the project."
        raise BudgetError(why, hint=f"Name a folder {IN_PROJECT}")
    return str(directory)
