"""The result of a command line: safe to display, bounded, with the rest readable in pages."""

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
    The result of a command line; errors are a status, not an exception.

    ``status`` is "ok", "failed" if the last command exited with a code other than 0, "refused",
    "needs_approval" if a person has not approved it, "timeout", or "error" if it could not be run.
    ``stdout`` and ``stderr`` are safe to display and bounded; the full output is stored under
    ``handle``. ``codes`` are the exit codes of the last pipeline. ``sandbox`` is the confinement,
    ``directory`` the current directory, relative to the workspace.
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
        """Return True if it ran to its end, with any exit code."""
        return self.status in {"ok", "failed"}

    @property
    def code(self) -> int | None:
        """The exit code of the last command, None if there is none."""
        return self.codes[-1] if self.codes else None

    @property
    def text(self) -> str:
        """The complete result as text for a model."""
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
        """Return it as JSON values, without the output."""
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
"""Control characters except tab and line break, and bidirectional control characters."""


def clean_output(data: bytes) -> str:
    """
    Decode output as text that is safe to display.

    Args:
        data: The output of a program; invalid UTF-8 is replaced.
    """
    text = data.decode("utf-8", "replace")
    if text.isascii() and text.isprintable():
        return text
    return CONTROLS.sub("", ESCAPES.sub("", text.replace("\r\n", "\n")))


ROOM: Final = 64 << 20
"""The maximum total length of stored outputs in characters; the oldest are evicted first."""

PAGE: Final = 20_000
"""The maximum length of a page in characters."""


@frozen
class OutputPage:
    """A part of a stored output; ``rest`` is the number of characters after it."""

    text: str
    start: int
    rest: int


class OutputStore:
    """
    Stores long outputs in memory; thread-safe.

    Args:
        room: The maximum total length in characters.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._lock = Lock()
        self._texts: OrderedDict[str, str] = OrderedDict()

    def shorten(self, text: str, most: int) -> tuple[str, str]:
        """
        Return a text of about ``most`` characters, and the handle of the full text, "" if it fits.

        The beginning and the end are kept, since errors are often at the end.
        """
        if len(text) <= most:
            return text, ""
        handle = self.keep(text)
        head = text[: most * 2 // 3]
        tail = text[len(text) - most // 3 :]
        head = head[: head.rfind("\n") + 1] or head
        tail = tail[tail.find("\n") + 1 :] or tail
        left = len(text) - len(head) - len(tail)
        note = f"[… {left:,} characters omitted here; the full output is stored as {handle} …]\n"
        return f"{head}{note}{tail}", handle

    def keep(self, text: str) -> str:
        """Store a text, and return its handle; the oldest ones are evicted."""
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
            handle: The handle of the text.
            start: The offset of the part in characters.
            most: The maximum length in characters.

        Raises:
            RecallError: The handle is unknown.
        """
        with self._lock:
            text = self._texts.get(handle)
        if text is None:
            hint = "Run the command again."
            raise RecallError(f"No output is stored as {handle[:40]!r}.", hint=hint)
        start = max(0, min(start, len(text)))
        part = text[start : start + max(1, most)]
        return OutputPage(part, start, len(text) - start - len(part))
