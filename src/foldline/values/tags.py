"""Tags around texts for a model, which no text inside may appear to open or close."""

from __future__ import annotations

import re


def tag_starts(*names: str) -> re.Pattern[str]:
    """
    Return a pattern of every "<" that opens or closes one of some tags.

    A model reads tags loosely, so blanks and letter case are ignored.

    Args:
        names: The names of the tags.
    """
    # Possessive: otherwise a "<" before many blanks would take quadratic time.
    anyone = "|".join(map(re.escape, names))
    return re.compile(rf"<(?=\s*+(?:/\s*+)?(?:{anyone})\b)", re.IGNORECASE)


def escape_attribute(text: str) -> str:
    """Return a text escaped for a quoted attribute of a tag."""
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
