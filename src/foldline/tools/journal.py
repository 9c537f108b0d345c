"""
A journal of decisions, progress and findings, as JSON lines.

The file is append-only, and several processes may write at once. Clearing also appends an entry,
which hides earlier ones.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from foldline.errors import InputError, StoreError
from foldline.frozen import frozen
from foldline.tools.arguments import check_arguments, object_schema
from foldline.tools.description import describe_tool
from foldline.tools.json_files import append_line, read_lines
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool

JOURNAL: Final = describe_tool("journal")
ENTRY: Final = object_schema(
    "category text", **{name: JOURNAL.arguments[name] for name in ("category", "text", "tags")}
)
CATEGORIES: Final = tuple(ENTRY["properties"]["category"]["enum"])

CLEARED: Final = "cleared"
"""The reserved category of the entry that hides earlier ones."""


@frozen
class JournalEntry:
    """One entry; ``time`` is in seconds since 1970, ``id`` is unique in the journal."""

    id: str
    time: float
    category: str
    text: str
    tags: tuple[str, ...] = ()

    def __str__(self) -> str:
        when = datetime.fromtimestamp(self.time, UTC).strftime("%Y-%m-%d %H:%M")
        tags = f" #{' #'.join(self.tags)}" if self.tags else ""
        return f"{when} {self.category}{tags}: {self.text}"


@frozen
class JournalStats:
    """The number of entries in total, by category and by tag, and of damaged lines."""

    total: int
    categories: Mapping[str, int]
    tags: Mapping[str, int]
    damaged: int = 0


class Journal:
    """
    A journal in a file, with a tool for models.

    Args:
        path: The file; it is created with the first entry, in an existing folder.
        clock: Returns the time, in seconds since 1970.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, clock: Callable[[], float] = time.time
    ) -> None:
        self._path = Path(path)
        self._clock = clock

    def add(self, category: str, text: str, tags: Iterable[str] = ()) -> JournalEntry:
        """
        Add an entry; it is durable when this returns.

        Args:
            category: One of `CATEGORIES`.
            text: The text of the entry.
            tags: Keywords for filtering.

        Raises:
            InputError: The category is unknown, or the text is empty or too long.
            StoreError: The file cannot be written.
        """
        given = {"category": category, "text": text, "tags": list(tags)}
        value, problems = check_arguments(ENTRY, given)
        if not problems and not value["text"].strip():
            problems = ["text: it is empty"]
        if problems:
            raise InputError(problems[0], hint="Nothing was added.")
        plain = dict.fromkeys(tag.strip() for tag in value["tags"])
        return self._append(category, value["text"].strip(), tuple(filter(None, plain)))

    def entries(
        self,
        category: str | None = None,
        tags: Iterable[str] = (),
        *,
        since: float = 0.0,
        limit: int | None = None,
    ) -> list[JournalEntry]:
        """
        Return entries, the newest first.

        Args:
            category: Only entries of this category.
            tags: Only entries with all of these tags, ignoring case.
            since: Only entries at or after this time, in seconds since 1970.
            limit: The maximum number of entries, the newest.

        Raises:
            StoreError: The file cannot be read, or is too large.
        """
        required = {tag.casefold() for tag in tags}
        found = [
            entry
            for entry in reversed(self._read()[0])
            if category in (None, entry.category)
            and entry.time >= since
            and required <= {tag.casefold() for tag in entry.tags}
        ]
        return found if limit is None else found[: max(0, limit)]

    def stats(self) -> JournalStats:
        """Count the entries."""
        entries, damaged = self._read()
        categories = Counter(entry.category for entry in entries).most_common()
        tags = Counter(tag for entry in entries for tag in entry.tags).most_common()
        return JournalStats(len(entries), dict(categories), dict(tags), damaged)

    def summary(self, limit: int = 10) -> str:
        """Return the counts in one line, and the newest entries."""
        stats = self.stats()
        counts = ", ".join(f"{count} {name}" for name, count in stats.categories.items())
        head = f"{stats.total} entries" + (f": {counts}" if counts else "")
        return "\n".join([head, *map(str, self.entries(limit=limit))])

    def clear(self) -> int:
        """Hide all entries so far, durably, and return their number; the file keeps them."""
        count = len(self._read()[0])
        self._append(CLEARED, f"{count} entries hidden")
        return count

    # --- the tool --------------------------------------------------------------------------

    @property
    def tool(self) -> Tool:
        """The tool ``journal``: adds or lists entries."""
        return JOURNAL.tool(self._do)

    def _do(self, given: dict[str, Any]) -> ToolOutput:
        try:
            if given["action"] == "add":
                entry = self.add(given.get("category", ""), given.get("text", ""), given["tags"])
                return ToolOutput(f"Noted as {entry.id}.", data=asdict(entry))
            if given["action"] == "summary":
                return ToolOutput(self.summary(given["limit"]))
            found = self.entries(given.get("category"), given["tags"], limit=given["limit"])
        except InputError as error:
            return ToolOutput.error(ErrorCode.INVALID_ARGUMENTS, str(error))
        except StoreError as error:
            return ToolOutput.error(ErrorCode.UNAVAILABLE, str(error))
        message = "\n".join(map(str, found)) or "There is no such entry."
        return ToolOutput(message, data={"entries": [asdict(entry) for entry in found]})

    # --- the file --------------------------------------------------------------------------

    def _append(self, category: str, text: str, tags: tuple[str, ...] = ()) -> JournalEntry:
        now = self._clock()
        name = f"{int(now * 1000):012x}{secrets.token_hex(3)}"
        entry = JournalEntry(name, now, category, text, tags)
        # The path of the journal may be a link.
        append_line(Path(os.path.realpath(self._path)), asdict(entry), "journal")
        return entry

    def _read(self) -> tuple[list[JournalEntry], int]:
        """Return the visible entries, in order, and the number of damaged lines."""
        lines = read_lines(self._path, "journal", hint="Move it away; a new one is created.")
        found = list(map(_entry, lines))
        entries = [entry for entry in found if entry is not None]
        cleared = [at for at, entry in enumerate(entries, 1) if entry.category == CLEARED]
        return entries[max(cleared, default=0) :], found.count(None)


def _entry(line: bytes) -> JournalEntry | None:
    """Parse a line; None if it is damaged."""
    try:
        value = json.loads(line)
        when = float(value["time"])
        datetime.fromtimestamp(when, UTC)
        name, category, text = (str(value[field]) for field in ("id", "category", "text"))
        return JournalEntry(name, when, category, text, tuple(map(str, value["tags"])))
    except (ValueError, KeyError, TypeError, OverflowError, OSError, RecursionError):
        return None
