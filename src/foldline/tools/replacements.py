"""Replacing pieces of a text: each is found exactly, or nothing is changed at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.errors import InputError
from foldline.frozen import frozen
from foldline.rooted_files import TooLarge

MOST_CHARACTERS: Final = 5 << 20
"""Characters that a text may have while it is changed, unless told otherwise."""


@frozen
class Replacement:
    """A piece of a text and what takes its place; ``everywhere`` if it may occur several times."""

    old: str
    new: str
    everywhere: bool = False


def apply_replacements(
    text: str, replacements: Sequence[Replacement], most: int = MOST_CHARACTERS
) -> str:
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
        where, old, new = f"edits[{index}]", one.old, one.new
        if returns:
            old, new = (part.replace("\r\n", "\n").replace("\n", "\r\n") for part in (old, new))
        if not old:
            raise InputError("the old text is empty", field=where)
        if old == new:
            raise InputError("old and new text are the same", field=where)
        count = text.count(old)
        quote = repr(one.old if len(one.old) <= 80 else f"{one.old[:77]}…")
        if not count:
            hint = "Read the file again, and copy the text exactly."
            raise InputError(f"the old text does not occur: {quote}", field=where, hint=hint)
        if count > 1 and not one.everywhere:
            hint = "Give more of the lines around it, or replace it everywhere on purpose."
            raise InputError(f"the old text occurs {count} times: {quote}", field=where, hint=hint)
        # Looked at before: each of several replacements can multiply what is there.
        if len(text) + count * (len(new) - len(old)) > max(most, len(text)):
            raise TooLarge(f"it would have more than {most:,} characters", field=where)
        text = text.replace(old, new)
    return text
