"""Where the rest of a long output is kept, to be read page by page."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Final, Protocol

from foldline.errors import RecallError

ROOM: Final = 64 << 20
"""What all kept outputs take at most, in characters; the oldest go first."""

PAGE: Final = 20_000
"""The most characters of one page."""


class Keeping(Protocol):
    """Keeps texts under handles."""

    def keep(self, text: str) -> str:
        """Keep a text, and return its handle."""
        ...

    def kept(self, handle: str) -> str:
        """
        Return a text.

        Raises:
            RecallError: There is none of that handle.
        """
        ...


class Kept:
    """
    Outputs in memory; any thread may use it.

    Args:
        room: What they take at most, in characters.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._lock = Lock()
        self._texts: OrderedDict[str, str] = OrderedDict()

    def keep(self, text: str) -> str:
        """Keep a text, and return its handle; the oldest ones make room."""
        handle = "out-" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:10]
        with self._lock:
            self._texts[handle] = text
            self._texts.move_to_end(handle)
            while len(self._texts) > 1 and sum(map(len, self._texts.values())) > self._room:
                self._texts.popitem(last=False)
        return handle

    def kept(self, handle: str) -> str:
        """Return a text; see `Keeping`."""
        with self._lock:
            text = self._texts.get(handle)
        if text is None:
            raise RecallError(
                f"No output is kept as {handle[:40]!r}.", hint="Run the command again."
            )
        return text


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a kept output; ``rest`` is how many characters come after it."""

    text: str
    start: int
    rest: int


def page(keeping: Keeping, handle: str, start: int = 0, most: int = PAGE) -> Page:
    """
    Return a part of what is kept.

    Args:
        keeping: Where.
        handle: Of the output.
        start: Where the part begins, in characters.
        most: How many characters it has at most.

    Raises:
        RecallError: Nothing is kept under that handle.
    """
    text = keeping.kept(handle)
    start = max(0, min(start, len(text)))
    part = text[start : start + max(1, most)]
    return Page(part, start, len(text) - start - len(part))


def shortened(text: str, most: int, keeping: Keeping) -> tuple[str, str]:
    """
    Return a text of about so many characters, and the handle of the whole, "" when it is whole.

    The beginning and the end are shown: what went wrong is often said last.
    """
    if len(text) <= most:
        return text, ""
    handle = keeping.keep(text)
    head = text[: most * 2 // 3]
    tail = text[len(text) - most // 3 :]
    head = head[: head.rfind("\n") + 1] or head
    tail = tail[tail.find("\n") + 1 :] or tail
    left = len(text) - len(head) - len(tail)
    note = f"[… {left:,} characters left out here; all of it is kept as {handle} …]\n"
    return f"{head}{note}{tail}", handle
