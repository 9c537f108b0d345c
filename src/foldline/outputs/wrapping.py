"""Wrapping: what agents put around the output of a command, taken off again."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from foldline.lazy import lazy_pattern

REMINDER, REMINDER_END = "<system-reminder>", "</system-reminder>"
"""How a note begins and ends that a client puts behind an output."""

REMINDERS: Final = 8
"""How many of them are taken off one output."""

AHEAD: Final = 400
"""Characters at the beginning, and half of that at the end, that a wrapping may take."""

HEADED, FOOT = 20_000, 400
"""Characters that a client may repeat of a command before its output, and put below it."""

_HEAD = lazy_pattern(
    r"\n*(?:Chunk ID: \S{1,40}\n|(?:Script completed|Script running with cell ID \S{1,40})\n)?"
    r"(?:Exit code: (?P<before>-?\d{1,5})\n)?"
    r"(?:Wall time:? [\d.]{1,20} seconds\n)?"
    r"(?:Process (?:exited with code (?P<after>-?\d{1,5})|running with session ID \d{1,20})\n)?"
    r"(?:Original token count: \d{1,12}\n)?(?:Total output lines: \d{1,12}\n)?Output:(?:\n|\Z)"
)
_TAGGED = lazy_pattern(r"\n*<returncode>(?P<tagged>-?\d{1,5})</returncode>\n<output>\n?")
_TAGGED_END: Final = "</output>"

_PRINTED: Final = ("output", "stdout", "stderr")
_CODES: Final = ("exit_code", "exitCode", "returncode", "return_code")
_TIMES: Final = frozenset(("duration_seconds",))

_FOOT = lazy_pattern(
    r"\n(?:Error: \(none\)\n)?(?:Exit Code: (?:(?P<below>\d{1,5})|\(none\))\n)?"
    r"(?:Signal: .{1,40}\n)?(?:Background PIDs: .{1,300}\n)?"
    r"Process Group PGID: (?:\d{1,10}|\(none\))\s*\Z"
)
_GROUP: Final = "\nProcess Group PGID: "
"""Stands in every foot."""

_FOOT_HEAD = lazy_pattern(
    r"(?:Command: (?s:.)*?\nDirectory: .{1,300}\n)?Output: ?(?:\(empty\)(?=\n))?"
)


def exit_code(text: str) -> int | None:
    """Return the exit code that an agent put around the output of a command, None without one."""
    return _take_off(without_reminders(text))[1]


COLOUR: Final = lazy_pattern(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_VISIBLE_COLOUR: Final = lazy_pattern(r"\^\[\[[0-9;?]{0,20}[mK]")
"""What colours an output, and the same as programs write it that make escapes visible."""


def unwrap(text: str) -> str:
    """
    Return what a command gave out, without colours, how long it ran and what it is filed under.

    An exit code other than 0 follows the output in a line of its own, and so does 0 where there
    is no output.
    """
    inner, code = _take_off(without_reminders(text))
    inner = _without_colours(inner)
    if code is None or (code == 0 and inner.strip()):
        return inner
    return f"{inner}\nexit code {code}".lstrip("\n")


def _without_colours(text: str) -> str:
    # A search for one sign is the fastest.
    if "\x1b" in text:
        text = COLOUR.sub("", text)
    return _VISIBLE_COLOUR.sub("", text) if "^" in text and "^[[" in text else text


def _take_off(text: str) -> tuple[str, int | None]:
    """Return what is wrapped, or all of the text, and the exit code that is named around it."""
    end = max(0, len(text) - AHEAD // 2)
    if head := _HEAD.match(text, 0, AHEAD):
        return text[head.end() :].strip("\n"), _code(head)
    if head := _TAGGED.match(text, 0, AHEAD):
        close = text.rfind(_TAGGED_END, max(end, head.end()))
        return text[head.end() : close if close >= 0 else None].strip("\n"), _code(head)
    last = max(0, len(text) - FOOT)
    foot = _FOOT.search(text, last) if text.find(_GROUP, last) >= 0 else None
    if foot and (head := _FOOT_HEAD.match(text, 0, HEADED)):
        return text[head.end() : foot.start()].strip("\n"), _code(foot)
    return _take_off_json(text) if text.startswith("{") else (text, None)


def _take_off_json(text: str) -> tuple[str, int | None]:
    """Do the same with an object of what was printed and the exit code, and of nothing else."""
    ends = text[:AHEAD], text[-AHEAD:]
    if not any(f'"{key}":' in end for key in _CODES for end in ends):
        return text, None
    try:
        found: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError):
        return text, None
    measured = found.pop("metadata", None)
    found = {**measured, **found} if isinstance(measured, dict) else found
    printed = [found.pop(key) for key in _PRINTED if isinstance(found.get(key), str)]
    codes = [found.pop(key) for key in _CODES if isinstance(found.get(key), int)]
    if not printed or len(codes) != 1 or isinstance(codes[0], bool) or found.keys() - _TIMES:
        return text, None
    return "\n".join(filter(None, printed)).strip("\n"), codes[0]


def _code(found: re.Match[str]) -> int | None:
    return next((int(code) for code in found.groups() if code is not None), None)


def without_reminders(text: str) -> str:
    """Return an output without the notes that a client puts behind it."""
    for _ in range(REMINDERS):
        bare = text.rstrip() if text[-1:].isspace() else text
        begin = bare.rfind(REMINDER) if bare.endswith(REMINDER_END) else -1
        if begin < 0:
            return text
        text = bare[:begin].rstrip()
    return text
