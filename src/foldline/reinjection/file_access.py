"""
File accesses: which files the tools of any agent have read, written and edited.

An access counts when its call succeeded. It holds the text that the model saw of the file, or
wrote into it, for comparison with the file on disk.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from foldline.core.retention_settings import FileSettings
from foldline.frozen import field, frozen
from foldline.lazy import lazy_pattern
from foldline.snapshot.file_changes import is_refusal
from foldline.snapshot.file_operations import CONTENT
from foldline.snapshot.plans import is_plan_tool
from foldline.values.call_arguments import parse_arguments
from foldline.values.groups import Site
from foldline.values.messages import Message, ToolCall, ToolResult

Operation: TypeAlias = Literal["read", "written", "edited"]

LONGEST_PATH: Final = 1_000
MOST_PATHS: Final = 50
"""Maximum characters of a path, and maximum paths of one call; more are ignored."""

WRITTEN_KEYS: Final = (*CONTENT, "text")
REPLACED_KEYS: Final = ("new_string", "new_str", "new_text", "replace", "insert_text")

SHOWING: Final = ("cat", "head", "tail", "nl", "less", "sed", "bat")
"""Programs that print a file, for tools that run commands."""

_WORDS = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_PATCHED = lazy_pattern(r"^\*\*\* (?:Add|Update|Delete) File: (.{1,1000})$", re.MULTILINE)
_UNPRINTABLE = lazy_pattern("[\x00-\x1f\ud800-\udfff]")
_FOLDER = lazy_pattern(r"cd (\S{1,300}) *(?:&&|;) *")


@frozen
class FileAccess:
    """
    One operation of a call on a file; ``path`` is empty where the call does not name it.

    ``call`` and ``result`` are the sites of the call and its result among the messages examined,
    ``ids`` the ids of their two messages. ``seen`` is the text of the file that the model saw or
    wrote.
    """

    path: str
    operation: Operation
    call: Site
    result: Site
    ids: tuple[str, str]
    seen: str = field(default="", repr=False, compare=False)


def order(access: FileAccess) -> tuple[int, int]:
    """Return the sort key of an access: the position of its call."""
    return access.call.message, access.call.part


def find_accesses(
    calling: Message,
    answering: Message,
    sites: tuple[Site, Site],
    settings: FileSettings,
    parse: Callable[[str], Any] = parse_arguments,
) -> list[FileAccess]:
    """
    Find the file accesses of one call that has its result.

    Args:
        calling: The message with the call.
        answering: The message with the result.
        sites: The sites of the call and its result.
        settings: Names of tools and arguments.
        parse: Returns call arguments as a value.
    """
    call, result = calling.parts[sites[0].part], answering.parts[sites[1].part]
    if not isinstance(call, ToolCall) or not isinstance(result, ToolResult):
        return []
    operations = [] if result.is_error else list(find_operations(call, settings, parse))
    if not operations or is_refusal(result.text):
        return []
    return [
        FileAccess(
            relative_to_root(path, settings.root),
            operation,
            *sites,
            (calling.id, answering.id),
            result.text if operation == "read" else written,
        )
        for path, operation, written in operations
    ]


def newest(found: Iterable[FileAccess]) -> tuple[FileAccess, ...]:
    """Return the last access to every file, newest first."""
    last: dict[str, FileAccess] = {}
    for access in filter(lambda access: access.path, found):
        last.pop(access.path, None)
        last[access.path] = access
    return tuple(reversed(last.values()))


def paths_in_view(
    found: Iterable[FileAccess], visible: Mapping[str, Message], log: Mapping[str, Message]
) -> set[str]:
    """
    Return the paths of the files whose newest content is still in view.

    This requires that a call that read or wrote the file is unchanged in the view, and so is
    every later edit of the file.

    Args:
        found: Accesses, in order.
        visible: The messages of the view, by id.
        log: The recorded messages, by id.
    """
    in_view: dict[str, bool] = {}
    for access in filter(lambda access: access.path, found):
        intact = is_in_view(access, visible, log)
        if access.operation == "edited":
            intact = in_view.get(access.path, False) and intact
        in_view[access.path] = intact
    return {path for path, intact in in_view.items() if intact}


def is_in_view(
    access: FileAccess, visible: Mapping[str, Message], log: Mapping[str, Message]
) -> bool:
    """Return True if the text that an access read or wrote is in view as it was recorded."""
    is_read = access.operation == "read"
    site, number = (access.result, access.ids[1]) if is_read else (access.call, access.ids[0])
    now, then = visible.get(number), log.get(number)
    if now is None or then is None or site.part >= len(now.parts):
        return False
    return now is then or now.parts[site.part] == then.parts[site.part]


# --- the operations of a call --------------------------------------------------------------


def find_operations(
    call: ToolCall, settings: FileSettings, parse: Callable[[str], Any] = parse_arguments
) -> Iterator[tuple[str, Operation, str]]:
    """
    Yield the path ("" if not named), operation and written text of each file of a call.

    Args:
        call: The call; its arguments may be broken JSON.
        settings: Names of tools and arguments.
        parse: Returns call arguments as a value.
    """
    value = parse(call.arguments)
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
    Return the operation of a tool on a file; None if the tool does not access files.

    For an editor with commands, such as ``view`` or ``str_replace``, the command decides.
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
        text: The arguments as received.
        value: The same as a JSON value, None where they are broken; then the text is searched for
            quoted keys.
        keys: Names of arguments, the most specific first; the first one present is used.
    """
    given = {}
    if isinstance(value, dict):
        given = {str(key).casefold(): item for key, item in value.items()}
    for key in keys:
        found = given.get(key.casefold()) if given else _find_string_value(text, key)
        for path in found if isinstance(found, list) else (found,):
            if isinstance(path, str) and (clean := normalize_path(path)):
                yield clean
        if found:
            return


def normalize_path(path: str) -> str:
    """Return the normal form of a path; "" if it is not the path of a file."""
    plain = path.strip()
    if not plain or len(plain) > LONGEST_PATH or "://" in plain:
        return ""
    if _UNPRINTABLE.search(plain):
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


def relative_to_root(path: str, root: str | None) -> str:
    """Return a path relative to the root directory, if it is inside it."""
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
            if clean := normalize_path(path):
                yield clean


def _extract_text(value: Any, operation: Operation) -> str:
    """Return the text that a call writes into a file; of several pieces, the longest."""
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
    """Yield the files that a plain shell command prints, such as ``cd src && cat a.py``."""
    command = value.get("command") or value.get("cmd") if isinstance(value, dict) else None
    if isinstance(command, list):
        command = command[-1] if command and isinstance(command[-1], str) else ""
    if not isinstance(command, str) or not 0 < len(command) <= 2_000:
        return
    moved = _FOLDER.match(command)
    folder, rest = (moved[1], command[moved.end() :]) if moved else ("", command)
    program = next(iter(rest.split(maxsplit=1)), "").strip("'\"")
    if program not in SHOWING or any(sign in rest for sign in "|;&<>`$(*?\n"):
        return
    import shlex  # only who reads the commands of a shell needs it

    try:
        words = shlex.split(rest)[1:]
    except ValueError:
        return
    if any(word.startswith("-i") for word in words):
        return
    for word in words[-1:] if program in ("sed", "head", "tail") else words:
        if not word.startswith("-") and not word.isdigit() and (clean := normalize_path(word)):
            yield posixpath.normpath(posixpath.join(folder, clean))
