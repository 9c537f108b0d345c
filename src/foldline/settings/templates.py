"""Templates of one's own: the text of a file in place of its name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from foldline.core.summary_settings import LONGEST_TEMPLATE, TEMPLATE_NAMES, is_own_template
from foldline.errors import BudgetError, InputError

KEY: Final = "summary.template"

SUFFIXES: Final = (".md", ".txt")
"""How the name of a file ends in settings, where a text may stand instead."""


def resolve_template(value: object, folder: Path, *, inside: bool = False) -> object:
    """
    Return the template that a setting means: what it says, or what the file holds that it names.

    Args:
        value: The name of a template, the text of one, or the name of a file.
        folder: Where that file is looked for.
        inside: Whether it has to lie in the folder, as where somebody else wrote the setting.

    Raises:
        InputError: The file is missing, too large or holds no text.
        BudgetError: It lies outside of the folder.
    """
    if not isinstance(value, str) or not value.endswith(SUFFIXES) or not value.isprintable():
        return value
    path = (folder / value).resolve()
    if is_own_template(value) and not path.is_file():
        return value
    if inside and not path.is_relative_to(folder.resolve()):
        raise BudgetError(
            f"{KEY} names a file outside of the project: {value[:80]!r}.",
            hint="Name a file in it, or set it in your own settings or in the program.",
        )
    return read_template(path)


def read_template(path: Path) -> str:
    """
    Read a template from a file.

    Raises:
        InputError: The file is missing, too large or holds no text.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(LONGEST_TEMPLATE + 1).strip()
    except (OSError, ValueError) as error:
        raise InputError(
            f"The template {path} cannot be read: {error}",
            hint=f"Name a text file, or one of {', '.join(TEMPLATE_NAMES)}.",
        ) from error
    if not is_own_template(text) or len(text) > LONGEST_TEMPLATE:
        raise InputError(
            f"The template {path} is empty, a single word, or too long.",
            hint=f"Write what a model is asked for, in {LONGEST_TEMPLATE:,} characters at most.",
        )
    return text
