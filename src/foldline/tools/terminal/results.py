"""What came of a command line: safe to show, bounded, and the rest readable page by page."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any, Final, Literal, TypeAlias

from foldline.errors import RecallError
from foldline.frozen import frozen
from foldline.tools.approvals import ApprovalRequest

Status: TypeAlias = Literal["ok", "failed", "refused", "needs_approval", "timeout", "error"]


@frozen
class CommandResult:
    """
    What came of a command line; nothing of it has to be caught.

    ``status`` is "ok", "failed" when the last command ended with another code than 0, "refused",
    "needs_approval" when a person has not allowed it, "timeout", or "error" when it could not be
    run. ``stdout`` and ``stderr`` are safe to show and no longer than the limit; the whole is kept
    under ``handle``. ``codes`` are those of the last pipeline. ``sandbox`` is what confined it,
    ``directory`` where the terminal is now, as seen from the workspace.
    """

    status: Status
    command: str
    stdout: str = ""
    stderr: str = ""
    codes: tuple[int | None, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
    handle: str = ""
    truncated: bool = False
    sandbox: str = ""
    directory: str = "."
    seconds: float = 0.0
    request: ApprovalRequest | None = None

    @property
    def ok(self) -> bool:
        """Whether it was run to its end, whatever its code."""
        return self.status in {"ok", "failed"}

    @property
    def code(self) -> int | None:
        """The code of the last command, None when there is none."""
        return self.codes[-1] if self.codes else None

    @property
    def text(self) -> str:
        """All of it, as a model reads it."""
        head = {"refused": "Refused: ", "needs_approval": "Needs approval: "}.get(self.status, "")
        errors = self.stderr.rstrip("\n")
        parts = [
            f"{head}{self.reason}",
            self.stdout.rstrip("\n"),
            f"[stderr]\n{errors}" if errors else "",
            f"[exit code {self.code}]" if self.status == "failed" else "",
            *(f"[{note}]" for note in self.notes),
        ]
        return "\n".join(part for part in parts if part) or "(no output)"

    def to_dict(self) -> Mapping[str, Any]:
        """Return it as JSON values, without the texts."""
        return {
            "status": self.status,
            "command": self.command,
            "codes": list(self.codes),
            "reason": self.reason,
            "handle": self.handle,
            "truncated": self.truncated,
            "sandbox": self.sandbox,
            "directory": self.directory,
            "seconds": round(self.seconds, 3),
        }


ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, cursor, screen
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # strings: titles, the clipboard
    r"|\x1b[ -/]*[0-~]?"  # anything else that begins with an escape
    r"|\x9b[0-?]*[ -/]*[@-~]"
)

CONTROLS: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
"""Control characters but tab and line break, and those that change the direction of text."""


def clean_output(data: bytes) -> str:
    """
    Return bytes as text that is safe to show.

    Args:
        data: What a program wrote; what is no UTF-8 in it is replaced.
    """
    text = data.decode("utf-8", "replace")
    if text.isascii() and text.isprintable():
        return text
    return CONTROLS.sub("", ESCAPES.sub("", text.replace("\r\n", "\n")))


ROOM: Final = 64 << 20
"""What all kept outputs take at most, in characters; the oldest go first."""

PAGE: Final = 20_000
"""The most characters of one page."""


@frozen
class OutputPage:
    """A part of a kept output; ``rest`` is how many characters come after it."""

    text: str
    start: int
    rest: int


class OutputStore:
    """
    Long outputs, kept in memory; any thread may use it.

    Args:
        room: What they take at most, in characters.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._lock = Lock()
        self._texts: OrderedDict[str, str] = OrderedDict()

    def shorten(self, text: str, most: int) -> tuple[str, str]:
        """
        Return a text of about so many characters, and the handle of the whole, "" if it is whole.

        The beginning and the end are shown: what went wrong is often said last.
        """
        if len(text) <= most:
            return text, ""
        handle = self.keep(text)
        head = text[: most * 2 // 3]
        tail = text[len(text) - most // 3 :]
        head = head[: head.rfind("\n") + 1] or head
        tail = tail[tail.find("\n") + 1 :] or tail
        left = len(text) - len(head) - len(tail)
        note = f"[… {left:,} characters left out here; all of it is kept as {handle} …]\n"
        return f"{head}{note}{tail}", handle

    def keep(self, text: str) -> str:
        """Keep a text, and return its handle; the oldest ones make room."""
        handle = "out-" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:10]
        with self._lock:
            self._texts[handle] = text
            self._texts.move_to_end(handle)
            while len(self._texts) > 1 and sum(map(len, self._texts.values())) > self._room:
                self._texts.popitem(last=False)
        return handle

    def page(self, handle: str, start: int = 0, most: int = PAGE) -> OutputPage:
        """
        Return a part of a text.

        Args:
            handle: Of the text.
            start: Where the part begins, in characters.
            most: How many characters it has at most.

        Raises:
            RecallError: Nothing is kept under that handle.
        """
        with self._lock:
            text = self._texts.get(handle)
        if text is None:
            hint = "Run the command again."
            raise RecallError(f"No output is kept as {handle[:40]!r}.", hint=hint)
        start = max(0, min(start, len(text)))
        part = text[start : start + max(1, most)]
        return OutputPage(part, start, len(text) - start - len(part))
