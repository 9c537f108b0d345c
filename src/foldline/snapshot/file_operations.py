"""
File operations: what the tools of any agent do to which files, by their names and arguments.

What the commands of a shell do to files is in `commands`.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any, Final

from foldline.core.retention_settings import PATH_KEYS, FileSettings
from foldline.lazy import lazy_pattern
from foldline.snapshot.commands import LONGEST_PATH, MOST_FILES
from foldline.snapshot.plans import is_plan_tool
from foldline.values.messages import ToolCall

CHANGES: Final = ("created", "written", "edited", "deleted")
LOOKS: Final = ("read", "searched")
"""What is done to a file: what changes it, and what does not."""

SEARCHES: Final = frozenset(("ls", "list", "glob", "grep", "search", "find"))
"""Words in the names of tools that search files or list them."""

_DELETES: Final = frozenset(("delete", "remove"))
_FILE_WORDS: Final = frozenset(("file", "files", "path", "dir", "directory", "folder"))
"""The other words in the name of a tool that deletes or moves files, not lines of a file."""

LONGEST_NAME: Final = 100
"""Maximum characters of the name of a tool; longer ones are ignored."""

REPLACED: Final = {
    "old_string": "new_string",
    "old_str": "new_str",
    "old_text": "new_text",
    "oldText": "newText",
    "search": "replace",
}
"""Arguments that hold what is no longer there, and those with what is there instead."""

EDITED: Final = frozenset(REPLACED.values())
"""Arguments of edits: what the line of their call cuts is a text of its own."""

CONTENT: Final = ("content", "contents", "file_text")
"""Arguments that hold the whole text of a file."""

EDIT_LISTS: Final = ("edits", "changes", "files", "operations")
EDIT_TEXTS: Final = (*CONTENT, "text", *EDITED)
"""Arguments that hold several edits, and those of one edit for its text."""

LONGEST_PATCH: Final = 200_000
"""Maximum characters of the arguments in which a patch is looked for."""

_WORDS = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_JOINED = lazy_pattern(
    r"apply|code|dir|files?|fs|multi|notebook|over|re(?=write)|str|text|to(?=f)"
)
"""What some names join to a word without a sign between them, as in "multiedit"."""

_PREFIX = lazy_pattern(r".*(?:__|[./:])(?=.)")
"""What stands before the own name of a tool, such as its server."""

_SOURCES: Final = ("source", "source_path", "src", "old_path", "from", "path")
_DESTINATIONS: Final = ("destination", "destination_path", "dest", "dst", "new_path", "to")
"""Arguments of what moves a file."""

_PATCHED = lazy_pattern(
    r"^\*\*\* (Add File|Update File|Delete File|Move to): (.{1,1000})$", re.MULTILINE
)
_PATCHING: Final = ("*** Begin Patch", "apply_patch")
_UNPRINTABLE = lazy_pattern("[\x00-\x1f\ud800-\udfff]")

_USUAL: Final = FileSettings()


def tool_operation(tool: str, arguments: Any, settings: FileSettings = _USUAL) -> str:
    """
    Return what a tool does to the files that it is given; "" where that is unknown.

    For an editor with commands, such as ``view`` or ``str_replace``, the command decides.
    """
    if is_plan_tool(tool):
        return ""
    command = arguments.get("command") if isinstance(arguments, dict) else None
    # A shell command is no name.
    names = (command, tool) if isinstance(command, str) and " " not in command.strip() else (tool,)
    for name in names:
        known = (settings.edits, settings.writes, settings.reads)
        if len(name) <= LONGEST_NAME and (done := _operation(name.strip(), *known)):
            return done
    return ""


@lru_cache(maxsize=1_000)
def _operation(
    name: str, edits: tuple[str, ...], writes: tuple[str, ...], reads: tuple[str, ...]
) -> str:
    """Return what a tool or a command of this name does to files."""
    own = _PREFIX.sub("", name)
    plain = {word.casefold() for word in _WORDS.findall(own)}
    parted = set(_WORDS.findall(_JOINED.sub("_", own.lower())))
    done_to_files = {frozenset(words - _FILE_WORDS) for words in (plain, parted)}
    if any(words and words <= _DELETES for words in done_to_files):
        return "deleted"
    if {"move"} in done_to_files:
        return "moved"
    words = {name.casefold(), *map(str.casefold, _WORDS.findall(name)), *plain, *parted}
    for done, known in (
        ("edited", (*edits, *_DELETES, "move")),
        ("written", writes),
        ("read", reads),
        ("searched", SEARCHES),
    ):
        if not words.isdisjoint(map(str.casefold, known)):
            return done
    return ""


def file_operations(
    call: ToolCall, value: Any, done: str, keys: Sequence[str] = PATH_KEYS
) -> Iterator[tuple[str, str]]:
    """
    Yield the files that a call names, with what its tool does to each.

    Args:
        call: The call.
        value: Its arguments as a value, None where they are not JSON.
        done: What `tool_operation` says of it.
        keys: Arguments that name files, the most specific first.
    """
    if done == "moved":
        for names, moved in ((_SOURCES, "deleted"), (_DESTINATIONS, "written")):
            yield from ((path, moved) for path in argument_paths(value, names)[:1])
        return
    paths = list(islice(_named_paths(call, value, done, keys), MOST_FILES))
    if not paths and _may_patch(call, done):
        yield from _patched_files(call, value)
    yield from ((path, done) for path in paths)


def _may_patch(call: ToolCall, done: str) -> bool:
    """Return True if a call may apply a patch, not only mention a header of one."""
    if done in LOOKS or "*** " not in call.arguments:
        return False
    is_patch = done == "edited" or call.arguments.startswith("*** ")
    return is_patch or any(mark in call.arguments for mark in _PATCHING)


def _named_paths(call: ToolCall, value: Any, done: str, keys: Sequence[str]) -> Iterator[str]:
    if isinstance(value, dict):
        paths = argument_paths(value, keys)
        yield from paths or dict.fromkeys(filter(None, map(path_argument, edits_of(value))))
    elif value is None and done and call.arguments.lstrip().startswith("{"):
        found = (_find_string_value(call.arguments, key) for key in keys)
        yield from islice(filter(None, map(normalize_path, found)), 1)


def argument_paths(arguments: Any, keys: Sequence[str] = PATH_KEYS) -> list[str]:
    """Return the paths of files among some arguments: those under the first key that has any."""
    if not isinstance(arguments, dict):
        return []
    order = _key_order(keys)
    found = _first_paths(arguments, order)
    return found or _first_paths({k.casefold(): item for k, item in arguments.items()}, order)


def _first_paths(given: Mapping[str, Any], order: Mapping[str, int]) -> list[str]:
    for key in sorted(order.keys() & given.keys(), key=order.__getitem__):
        items = given[key][:MOST_FILES] if isinstance(given[key], list) else (given[key],)
        if paths := [path for item in items if (path := normalize_path(item))]:
            return paths
    return []


@lru_cache(maxsize=10)
def _key_order(keys: Sequence[str]) -> dict[str, int]:
    return {key.casefold(): number for number, key in enumerate(keys)}


def path_argument(arguments: Any) -> str:
    """Return the path of the first file among some arguments, "" where there is none."""
    return next(iter(argument_paths(arguments)), "")


def normalize_path(path: Any) -> str:
    """Return the normal form of a path; "" if it is not the path of a file."""
    plain = path.strip() if isinstance(path, str) else ""
    if not plain or len(plain) > LONGEST_PATH or "://" in plain:
        return ""
    return "" if _UNPRINTABLE.search(plain) else posixpath.normpath(plain)


def _find_string_value(text: str, key: str) -> str:
    """Return what stands behind a key in JSON that is broken, "" for nothing."""
    found = re.search(rf'"{re.escape(key)}"\s*:\s*("(?:[^"\\]|\\.){{1,2000}}")', text[:100_000])
    try:
        return str(json.loads(found[1])) if found else ""
    except ValueError:
        return ""


def edits_of(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the edits in lists among the arguments of a call."""
    lists = (arguments.get(name) for name in EDIT_LISTS)
    edits = chain.from_iterable(value for value in lists if isinstance(value, list))
    for edit in islice(edits, MOST_FILES):
        if isinstance(edit, dict) and not edit.keys().isdisjoint(EDIT_TEXTS):
            yield edit


def _patched_files(call: ToolCall, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the files in a patch among the arguments of a call, with what is done to each."""
    # A patch in a script is quoted once more: its line feeds and the end of its last line.
    text = "\n".join(_strings(call, value))
    text = (text if "*** " in text else call.arguments)[:LONGEST_PATCH].replace("\\n", "\n")
    earlier = ""
    for verb, name in islice(_PATCHED.findall(text), MOST_FILES):
        path = normalize_path(name.strip().strip(" \\"))
        if verb == "Move to" and earlier:
            yield earlier, "deleted"
        if path:
            yield path, {"Add File": "created", "Delete File": "deleted"}.get(verb, "edited")
        earlier = path


def _strings(call: ToolCall, value: Any) -> Iterator[str]:
    """Yield the texts among the arguments of a call; all of what is not JSON."""
    if value is None:
        yield call.arguments
    items = value.values() if isinstance(value, dict) else (value,)
    for item in items:
        texts = item if isinstance(item, list) else (item,)
        yield from (text for text in texts if isinstance(text, str))
