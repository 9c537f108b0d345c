"""
A journal of the work: what was decided, done and found out, one JSON value a line.

Entries are only ever added, also by several processes at once; nothing is rewritten. To clear the
journal adds an entry too, which hides those before it.
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
"""The category of the entry that hides those before it; nobody else can use it."""


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
    """How many entries there are in all, by category and by tag, and lines that are none."""

    total: int
    categories: Mapping[str, int]
    tags: Mapping[str, int]
    damaged: int = 0


class Journal:
    """
    A journal in a file, and the tool with which a model keeps it.

    Args:
        path: The file; it is made with the first entry, in a folder that exists.
        clock: Returns seconds since 1970.
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
            text: What there is to say.
            tags: Words to find it by.

        Raises:
            InputError: There is no such category, no text, or too much of it.
            StoreError: The file cannot be written.
        """
        given = {"category": category, "text": text, "tags": list(tags)}
        value, problems = check_arguments(ENTRY, given)
        if not problems and not value["text"].strip():
            problems = ["text: it says nothing"]
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
            category: Only of this one.
            tags: Only with all of these; upper and lower case are the same.
            since: Only from this moment on, in seconds since 1970.
            limit: So many at most; the newest stay.

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
        """Return the counts in one line and the newest entries, for people and for models."""
        stats = self.stats()
        counts = ", ".join(f"{count} {name}" for name, count in stats.categories.items())
        head = f"{stats.total} entries" + (f": {counts}" if counts else "")
        return "\n".join([head, *map(str, self.entries(limit=limit))])

    def clear(self) -> int:
        """Hide all entries so far, durably, and return how many; the file keeps them."""
        count = len(self._read()[0])
        self._append(CLEARED, f"{count} entries hidden")
        return count

    # --- the tool --------------------------------------------------------------------------

    @property
    def tool(self) -> Tool:
        """The tool ``journal``: adds an entry, or shows some."""
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
        # Whoever names the journal may name a link to it.
        append_line(Path(os.path.realpath(self._path)), asdict(entry), "journal")
        return entry

    def _read(self) -> tuple[list[JournalEntry], int]:
        """Return the entries that are not hidden, in order, and how many lines are none."""
        lines = read_lines(self._path, "journal", hint="Move it away; a new one is begun.")
        found = list(map(_entry, lines))
        entries = [entry for entry in found if entry is not None]
        cleared = [at for at, entry in enumerate(entries, 1) if entry.category == CLEARED]
        return entries[max(cleared, default=0) :], found.count(None)


def _entry(line: bytes) -> JournalEntry | None:
    """Return the entry of a line, None where it is none."""
    try:
        value = json.loads(line)
        when = float(value["time"])
        datetime.fromtimestamp(when, UTC)
        name, category, text = (str(value[field]) for field in ("id", "category", "text"))
        return JournalEntry(name, when, category, text, tuple(map(str, value["tags"])))
    except (ValueError, KeyError, TypeError, OverflowError, OSError, RecursionError):
        return None
