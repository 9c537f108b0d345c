"""
Touches: which files tools have read, written and changed, in the words of any agent.

A touch counts when its tool answered, and did not refuse. What the model saw of the file, or
wrote into it, is kept with the touch, so that it can be compared with what is on the disk.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from foldline.core.retention_settings import FileSettings
from foldline.frozen import field, frozen
from foldline.lazy import lazy_pattern
from foldline.snapshot.facts import arguments_of, is_refusal
from foldline.snapshot.plans import is_plan_tool
from foldline.values.groups import Site
from foldline.values.messages import Message, ToolCall, ToolResult

Operation: TypeAlias = Literal["read", "written", "edited"]

LONGEST_PATH: Final = 1_000
MOST_PATHS: Final = 50
"""The most characters of a path, and the most paths of one call, that are believed."""

WRITTEN_KEYS: Final = ("content", "contents", "file_text", "text")
REPLACED_KEYS: Final = ("new_string", "new_str", "new_text", "replace", "insert_text")

SHOWING: Final = ("cat", "head", "tail", "nl", "less", "sed", "bat")
"""Programs that show a file, where a tool runs commands."""

_WORDS = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_PATCHED = lazy_pattern(r"^\*\*\* (?:Add|Update|Delete) File: (.{1,1000})$", re.MULTILINE)
_FOLDER = lazy_pattern(r"cd (\S{1,300}) *(?:&&|;) *")


@frozen
class FileAccess:
    """
    What one call did to one file; ``path`` is empty where it does not tell which.

    ``call`` and ``result`` are where the call and its result stand among the messages that were
    looked at, ``ids`` the ids of their two messages. ``seen`` is the text that the model saw of
    the file, or put into it.
    """

    path: str
    operation: Operation
    call: Site
    result: Site
    ids: tuple[str, str]
    seen: str = field(default="", repr=False, compare=False)


def order(touch: FileAccess) -> tuple[int, int]:
    """Return where a touch stands among others, by its call."""
    return touch.call.message, touch.call.part


def find_accesses(
    calling: Message, answering: Message, sites: tuple[Site, Site], settings: FileSettings
) -> list[FileAccess]:
    """
    Find what one call did to files, now that its result is there.

    Args:
        calling: The message with the call.
        answering: The message with the result.
        sites: Where call and result stand.
        settings: Names of tools and arguments.
    """
    call, result = calling.parts[sites[0].part], answering.parts[sites[1].part]
    if not isinstance(call, ToolCall) or not isinstance(result, ToolResult):
        return []
    touches = [] if result.is_error else list(find_touches(call, settings))
    if not touches or is_refusal(result.text):
        return []
    return [
        FileAccess(
            within(path, settings.root),
            operation,
            *sites,
            (calling.id, answering.id),
            result.text if operation == "read" else written,
        )
        for path, operation, written in touches
    ]


def newest(found: Iterable[FileAccess]) -> tuple[FileAccess, ...]:
    """Return the last touch of every file, newest first."""
    last: dict[str, FileAccess] = {}
    for touch in filter(lambda touch: touch.path, found):
        last.pop(touch.path, None)
        last[touch.path] = touch
    return tuple(reversed(last.values()))


def in_sight(
    found: Iterable[FileAccess], visible: Mapping[str, Message], log: Mapping[str, Message]
) -> set[str]:
    """
    Return the paths of the files whose newest content still stands in the view.

    That is so where a call that read or wrote the file is shown as it was, and so is everything
    that changed the file since.

    Args:
        found: Touches in order.
        visible: What the model sees, by id.
        log: What was recorded, by id.
    """
    sight: dict[str, bool] = {}
    for touch in filter(lambda touch: touch.path, found):
        stands = stands_in(touch, visible, log)
        if touch.operation == "edited":
            sight[touch.path] = sight.get(touch.path, False) and stands
        else:
            sight[touch.path] = stands
    return {path for path, seen in sight.items() if seen}


def stands_in(
    touch: FileAccess, visible: Mapping[str, Message], log: Mapping[str, Message]
) -> bool:
    """Return True if what a touch read or wrote of its file is in view as it was recorded."""
    site, number = (
        (touch.result, touch.ids[1]) if touch.operation == "read" else (touch.call, touch.ids[0])
    )
    now, then = visible.get(number), log.get(number)
    if now is None or then is None or site.part >= len(now.parts):
        return False
    return now is then or now.parts[site.part] == then.parts[site.part]


# --- what a call touches -------------------------------------------------------------------


def find_touches(call: ToolCall, settings: FileSettings) -> Iterator[tuple[str, Operation, str]]:
    """
    Yield what a call does to which file ("" when it does not say), and the text it puts there.

    Args:
        call: The call; its arguments may be broken JSON.
        settings: Names of tools and arguments.
    """
    value = arguments_of(call)
    operation = operation_of(call.name, value, settings)
    if operation is None:
        for path in _find_command_paths(value):
            yield path, "read", ""
        if "*** " in call.arguments:
            for path in _find_patch_paths(call, value):
                yield path, "edited", ""
        return
    paths = list(paths_of(call.arguments, value, settings.path_keys))
    if not paths and operation == "edited":
        paths = list(_find_patch_paths(call, value))
    for path in paths[:MOST_PATHS] or [""]:
        yield path, operation, _extract_text(value, operation)


def operation_of(tool: str, arguments: Any, settings: FileSettings) -> Operation | None:
    """
    Name what a tool does to a file; None when it is no tool for files.

    An editor with commands, such as ``view`` or ``str_replace``, is known by its command.
    """
    if is_plan_tool(tool):
        return None
    command = arguments.get("command") if isinstance(arguments, dict) else None
    for name in (command, tool):
        if not isinstance(name, str) or not 0 < len(name) <= 100 or " " in name.strip():
            continue
        words = {name.casefold(), *(word.casefold() for word in _WORDS.findall(name))}
        known: tuple[tuple[Operation, tuple[str, ...]], ...] = (
            ("edited", settings.edits),
            ("written", settings.writes),
            ("read", settings.reads),
        )
        for operation, names in known:
            if not words.isdisjoint(map(str.casefold, names)):
                return operation
    return None


def paths_of(text: str, value: Any, keys: Sequence[str]) -> Iterator[str]:
    """
    Yield the paths among the arguments of a call.

    Args:
        text: The arguments as they came.
        value: The same as a JSON value, None where they are broken; then a quoted key is looked
            for in the text.
        keys: Names of arguments, the most telling first; the first that is there counts.
    """
    given = {}
    if isinstance(value, dict):
        given = {str(key).casefold(): item for key, item in value.items()}
    for key in keys:
        found = given.get(key.casefold()) if given else _find_string_value(text, key)
        for path in found if isinstance(found, list) else (found,):
            if isinstance(path, str) and (clean := normal(path)):
                yield clean
        if found:
            return


def normal(path: str) -> str:
    """Write a path in the one form that equal paths share; "" when it is no path of a file."""
    plain = path.strip()
    if not plain or len(plain) > LONGEST_PATH or "://" in plain:
        return ""
    if any(ord(sign) < 32 or 0xD800 <= ord(sign) < 0xE000 for sign in plain):
        return ""
    return posixpath.normpath(plain)


def _find_string_value(text: str, key: str) -> str:
    found = re.search(rf'"{re.escape(key)}"\s*:\s*("(?:[^"\\]|\\.){{1,2000}}")', text[:100_000])
    if found is None:
        return ""
    try:
        return str(json.loads(found[1]))
    except ValueError:
        return ""


def within(path: str, root: str | None) -> str:
    """Name a path from the root directory on, where it lies in that."""
    if root is None:
        return path
    top = posixpath.normpath(root)
    inside = path.removeprefix(top.rstrip("/") + "/")
    return inside if path != top else "."


def _find_patch_paths(call: ToolCall, value: Any) -> Iterator[str]:
    """Yield the files that a patch names."""
    inner = value.values() if isinstance(value, dict) else (value,)
    texts = [item for item in inner if isinstance(item, str)]
    for text in texts or [call.arguments]:
        for path in _PATCHED.findall(text[:200_000]):
            if clean := normal(path):
                yield clean


def _extract_text(value: Any, operation: Operation) -> str:
    """Return the text that a call puts into a file; of several pieces, the longest."""
    if operation == "read" or not isinstance(value, dict):
        return ""
    keys = WRITTEN_KEYS if operation == "written" else REPLACED_KEYS
    nested = value.get("edits")
    places = [value, *(nested if isinstance(nested, list) else ())]
    texts = [
        place[key]
        for place in places
        if isinstance(place, dict)
        for key in keys
        if isinstance(place.get(key), str)
    ]
    return max(texts, key=len, default="")


def _find_command_paths(value: Any) -> Iterator[str]:
    """Yield the files that a plain shell command shows, such as ``cd src && cat a.py``."""
    command = value.get("command") or value.get("cmd") if isinstance(value, dict) else None
    if isinstance(command, list):
        command = command[-1] if command and isinstance(command[-1], str) else ""
    if not isinstance(command, str) or not 0 < len(command) <= 2_000:
        return
    moved = _FOLDER.match(command)
    folder, rest = (moved[1], command[moved.end() :]) if moved else ("", command)
    if any(sign in rest for sign in "|;&<>`$(*?\n"):
        return
    import shlex  # only who reads the commands of a shell needs it

    try:
        program, *words = shlex.split(rest)
    except ValueError:
        return
    if program not in SHOWING or any(word.startswith("-i") for word in words):
        return
    for word in words[-1:] if program in ("sed", "head", "tail") else words:
        if not word.startswith("-") and not word.isdigit() and (clean := normal(word)):
            yield posixpath.normpath(posixpath.join(folder, clean))
