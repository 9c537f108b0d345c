"""
INDEX.md: a readable list of the notes of a folder, generated from their front matter.

It is never read back, and a file of that name with other content is left alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Final
from urllib.parse import quote

from foldline.errors import StoreError
from foldline.notes.catalog import CatalogEntry
from foldline.notes.folder import LISTING, Folder
from foldline.notes.note import BrokenNote
from foldline.notes.note_fields import one_line

MARK: Final = "<!-- Made by Foldline from the notes beside it; what is written here is lost. -->"
"""The first line, which identifies a generated page."""

LARGEST: Final = 64 << 20
"""The maximum size in bytes of a page that is compared with the new one; larger are replaced."""

LONGEST_TITLE: Final = 160
MOST_TAGS: Final = 12
"""The maximum length of a title and number of tags of a note on the page."""

FEW: Final = 500
"""The number of notes up to which the page is written after each change."""

PAUSE: Final = 1.0
"""The seconds between two writes for a larger folder; closing the folder writes the last."""

_MARKDOWN: Final = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|#&~"})


class IndexPage:
    """
    Keeps the index page of a folder up to date; not safe for concurrent use.

    Args:
        folder: The folder of the notes.
        most: The maximum number of notes on the page, the last changed first; 0 for no page.
        clock: A monotonic clock in seconds.
    """

    def __init__(
        self, folder: Folder, most: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder, self._most, self._clock = folder, most, clock
        self._written_at = float("-inf")

    @property
    def is_foreign(self) -> bool:
        """Return True if a file with the name of the page was not generated."""
        return bool(self._most) and self._now_there() is None

    def is_due(self, notes: int) -> bool:
        """Return True if the page should be written after a change, given the number of notes."""
        waited = self._clock() - self._written_at
        return bool(self._most) and (notes <= FEW or waited >= PAUSE)

    def write(self, entries: Collection[CatalogEntry]) -> None:
        """Write the page if it changed; if that fails, the old one stays."""
        there = self._now_there()
        if not self._most or there is None or (not entries and not there):
            return
        page = format_index_page(entries, self._most).encode("utf-8", "replace")
        if page != there:
            with suppress(StoreError):  # the notes themselves are on disk
                self._folder.replace(LISTING, page, durable=False)
        self._written_at = self._clock()

    def _now_there(self) -> bytes | None:
        """Return the current page, empty if there is none; None if it was not generated."""
        try:
            found = self._folder.read(LISTING, LARGEST)[0]
        except FileNotFoundError:
            return b""
        except BrokenNote:
            return None
        return found if found.startswith(MARK.encode()) else None


def format_index_page(entries: Collection[CatalogEntry], most: int) -> str:
    """
    Return the index page.

    Args:
        entries: The notes, in any order.
        most: The maximum number of notes, the last changed first.
    """
    ordered = sorted(entries, key=lambda entry: entry.metadata.newest_first, reverse=True)
    count = f"{len(ordered):,} {'note' if len(ordered) == 1 else 'notes'}"
    rest = f"; the {most:,} that were changed last" if len(ordered) > most else ""
    lines = [MARK, "", "# Notes", "", f"{count}{rest}, the newest change first.", ""]
    return "\n".join([*lines, *map(_line, ordered[:most])]).rstrip() + "\n"


def _line(entry: CatalogEntry) -> str:
    metadata = entry.metadata
    kind = metadata.type if metadata.status is None else f"{metadata.type}, {metadata.status}"
    tags = " ".join(_plain(tag) for tag in metadata.tags[:MOST_TAGS])
    facts = (f"{metadata.updated_at:%Y-%m-%d}", _plain(kind), _plain(metadata.level), tags)
    link = quote(entry.name.encode("utf-8", "surrogateescape"))
    return f"- [{_plain(metadata.title)}]({link}) · {' · '.join(fact for fact in facts if fact)}"


def _plain(text: str) -> str:
    """Return a text on one line, with Markdown escaped."""
    line = one_line(text[: LONGEST_TITLE + 1])
    cut = line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 1]}…"
    return cut.translate(_MARKDOWN)
