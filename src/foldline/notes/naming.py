"""Titles on one line, and file names that people can read and no system minds."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final
from unicodedata import category, normalize

from foldline.errors import InputError

LONGEST_TITLE: Final = 16_384
"""Characters; a longer title is content."""

SLUG_BYTES: Final = 80
"""Of the title in a file name; with date, id and ending it stays below the 255 of file systems."""

TURNS: Final = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
"""Marks that turn the direction of text, with which a title could pretend to be another."""

ID: Final = re.compile(r"[0-9A-Za-z_-]{1,64}")
"""What may be the id of a note; nothing that means something in a path."""

_BETWEEN: Final = re.compile(r"[\W_]+")


def one_line(text: str) -> str:
    """Return a text on one line, without control characters and halves of characters."""
    shown = (" " if _hidden(letter) else letter for letter in text)
    return " ".join("".join(shown).split())


def _hidden(letter: str) -> bool:
    return letter in TURNS or category(letter) in ("Cc", "Cs", "Zl", "Zp")


def title_of(text: str) -> str:
    """
    Return a title as it is kept: one line.

    Raises:
        InputError: Nothing is left of it, or it is too long.
    """
    title = one_line(text[: LONGEST_TITLE + 1])
    if not title:
        raise InputError("a note has a title", field="title")
    if len(text) > LONGEST_TITLE:
        raise InputError(
            f"the title has {len(text):,} characters, and at most {LONGEST_TITLE:,} are kept",
            field="title",
            hint="Put the text into the content.",
        )
    return title


def file_name(created: datetime, title: str, id: str) -> str:  # noqa: A002  # of the note
    """Return the name of a new note: its day, its title, its id; it never changes."""
    slug = _BETWEEN.sub("-", normalize("NFKC", title).lower()).strip("-")
    slug = slug.encode()[:SLUG_BYTES].decode("utf-8", "ignore").strip("-")
    return f"{created:%Y-%m-%d}-{f'{slug}-' if slug else ''}{id}.md"
