"""Replacing pieces of a text: each is found exactly, or nothing is changed at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from foldline.errors import InputError
from foldline.tools.files.root import TooLarge

MOST: Final = 5 << 20
"""Characters that a text may have while it is changed, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A piece of a text and what takes its place; ``everywhere`` if it may occur several times."""

    old: str
    new: str
    everywhere: bool = False


def patched(text: str, replacements: Sequence[Replacement], most: int = MOST) -> str:
    """
    Replace pieces of a text, one after the other.

    Where every line of the text ends with a carriage return, the pieces are taken to as well.

    Args:
        text: The text.
        replacements: What to replace; each sees what those before it did.
        most: Characters that the text may ever have.

    Raises:
        InputError: A piece does not occur, or occurs several times; ``field`` says which one.
        TooLarge: The text would grow beyond ``most``.
    """
    windows = text.count("\r\n")
    returns = windows > 0 and windows == text.count("\n")
    for index, one in enumerate(replacements):
        old, new = (_returned(one.old), _returned(one.new)) if returns else (one.old, one.new)
        if not old:
            raise InputError("the old text is empty", field=f"edits[{index}]")
        if old == new:
            raise InputError("old and new text are the same", field=f"edits[{index}]")
        count = text.count(old)
        if not count:
            raise InputError(
                f"the old text does not occur: {_shown(one.old)}",
                field=f"edits[{index}]",
                hint="Read the file again, and copy the text exactly.",
            )
        if count > 1 and not one.everywhere:
            raise InputError(
                f"the old text occurs {count} times: {_shown(one.old)}",
                field=f"edits[{index}]",
                hint="Give more of the lines around it, or replace it everywhere on purpose.",
            )
        # Looked at before: each of several replacements can multiply what is there.
        if len(text) + count * (len(new) - len(old)) > max(most, len(text)):
            raise TooLarge(f"it would have more than {most:,} characters", field=f"edits[{index}]")
        text = text.replace(old, new)
    return text


def _returned(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}…")
