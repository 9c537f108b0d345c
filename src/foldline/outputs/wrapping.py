"""Wrapping: what agents put around the output of a command, taken off again."""

from __future__ import annotations

import re
from typing import Final

from foldline.lazy_patterns import lazy_pattern

REMINDER, REMINDER_END = "<system-reminder>", "</system-reminder>"
"""How a note begins and ends that a client puts behind an output."""

REMINDERS: Final = 8
"""How many of them are taken off one output."""

AHEAD: Final = 400
"""Characters at the beginning, and half of that at the end, that a wrapping may take."""

_HEAD = lazy_pattern(
    r"(?:Chunk ID: \S{1,40}\n|(?:Script completed|Script running with cell ID \S{1,40})\n)?"
    r"(?:Exit code: (?P<before>-?\d{1,5})\n)?"
    r"(?:Wall time:? [\d.]{1,20} seconds\n)?"
    r"(?:Process (?:exited with code (?P<after>-?\d{1,5})|running with session ID \d{1,20})\n)?"
    r"(?:Original token count: \d{1,12}\n)?(?:Total output lines: \d{1,12}\n)?Output:(?:\n|\Z)"
)
_TAGGED = lazy_pattern(r"<returncode>(?P<tagged>-?\d{1,5})</returncode>\n<output>\n?")
_TAGGED_END: Final = "</output>"


def exit_code(text: str) -> int | None:
    """Return the exit code that an agent put before the output of a command, None without one."""
    head = _match_head(text)
    code = None if head is None else _code(head)
    return None if code is None else int(code)


def unwrap(text: str) -> str:
    """
    Return what a command gave out, without how long it ran and what it is filed under.

    An exit code other than 0 follows the output in a line of its own, and so does 0 where there
    is no output. What is not wrapped is returned as it is.
    """
    text = without_reminders(text)
    head = _match_head(text)
    if head is None:
        return text
    inner, code = text[head.end() :], _code(head)
    if "tagged" in head.groupdict():
        end = inner.rfind(_TAGGED_END, max(0, len(inner) - AHEAD // 2))
        inner = inner if end < 0 else inner[:end]
    inner = inner.strip("\n")
    if code is None or (code == "0" and inner.strip()):
        return inner
    return f"{inner}\nexit code {code}".lstrip("\n")


def _match_head(text: str) -> re.Match[str] | None:
    front = text[:AHEAD]
    start = len(front) - len(front.lstrip("\n"))
    return _HEAD.match(text, start, AHEAD) or _TAGGED.match(text, start, AHEAD)


def _code(head: re.Match[str]) -> str | None:
    return next(filter(None, head.groups()), None)


def without_reminders(text: str) -> str:
    """Return an output without the notes that a client puts behind it."""
    for _ in range(REMINDERS):
        bare = text.rstrip() if text[-1:].isspace() else text
        begin = bare.rfind(REMINDER) if bare.endswith(REMINDER_END) else -1
        if begin < 0:
            return text
        text = bare[:begin].rstrip()
    return text
