"""Replace pieces of a text: every piece must match exactly, or nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.errors import InputError
from foldline.frozen import frozen
from foldline.rooted_files import TooLarge

MOST_CHARACTERS: Final = 5 << 20
"""The default maximum length of a text during replacements, in characters."""


@frozen
class Replacement:
    """A piece of a text and its replacement; ``everywhere`` to replace all occurrences."""

    old: str
    new: str
    everywhere: bool = False


def apply_replacements(
    text: str, replacements: Sequence[Replacement], most: int = MOST_CHARACTERS
) -> str:
    """
    Replace pieces of a text, one after another.

    If all lines of the text end with CRLF, line ends of the pieces are converted to CRLF, too.

    Args:
        text: The text.
        replacements: The replacements; each sees the result of earlier ones.
        most: The maximum length of the text at any time, in characters.

    Raises:
        InputError: A piece does not occur, or occurs several times; ``field`` names it.
        TooLarge: The text would exceed ``most``.
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
            hint = "Include more lines around it, or replace all occurrences."
            raise InputError(f"the old text occurs {count} times: {quote}", field=where, hint=hint)
        # Checked in advance: several replacements can multiply the length.
        if len(text) + count * (len(new) - len(old)) > max(most, len(text)):
            raise TooLarge(f"it would have more than {most:,} characters", field=where)
        text = text.replace(old, new)
    return text
