"""Tags around texts that a model reads, which nothing inside a text may seem to begin or end."""

from __future__ import annotations

import re


def tag_starts(*names: str) -> re.Pattern[str]:
    """
    Return a pattern of every "<" with which one of some tags begins or ends.

    A model reads tags loosely, so blanks and the case of letters make no difference.

    Args:
        names: Of the tags.
    """
    # Possessive: otherwise a "<" before many blanks would take time that grows with their square.
    anyone = "|".join(map(re.escape, names))
    return re.compile(rf"<(?=\s*+(?:/\s*+)?(?:{anyone})\b)", re.IGNORECASE)


def escape_attribute(text: str) -> str:
    """Return a text as it may stand in the quotes of an attribute of a tag."""
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
