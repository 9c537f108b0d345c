"""File operations: which tools read, write, edit or delete which files, by their arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Final

from foldline.core.retention_settings import PATH_KEYS
from foldline.lazy import lazy_pattern
from foldline.values.messages import ToolCall

WRITES = ("write", "create", "save")
EDITS = ("edit", "replace", "patch", "insert", "update", "delete", "move", "rename")
READS = ("read", "view", "cat", "open", "show", "ls", "list", "glob", "grep", "search", "find")
CHANGES = ("created", "written", "edited", "deleted")

_PATCHED = lazy_pattern(
    r"^\*\*\* (Add File|Update File|Delete File|Move to): (.{1,300})$", re.MULTILINE
)

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

FILES: Final = 50
"""Entries of lists in the arguments of a call in which the path of a file is looked for."""


def file_operations(call: ToolCall, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the files that the arguments of a call name, with what its tool does to each."""
    if isinstance(value, dict):
        path = path_argument(value)
        if paths := [path] if path else _nested_paths(value):
            yield from ((path, operation(call.name, value)) for path in paths)
            return
    if " File: " not in call.arguments:
        return
    # A patch in a script is quoted once more: its line feeds and the end of its last line.
    earlier = ""
    for verb, path in _PATCHED.findall(call.arguments.replace("\\n", "\n")[:200_000]):
        path = path.strip().strip(" \\")
        if verb == "Move to" and earlier:
            yield earlier, "deleted"
        yield path, {"Add File": "created", "Delete File": "deleted"}.get(verb, "edited")
        earlier = path


def path_argument(arguments: Any) -> str:
    """Return the path of a file among some arguments, "" where there is none."""
    for key in PATH_KEYS if isinstance(arguments, dict) else ():
        path = arguments.get(key)
        if isinstance(path, str) and 0 < len(path) <= 300 and "\n" not in path:
            return path
    return ""


def _nested_paths(arguments: dict[str, Any]) -> list[str]:
    """Return the paths in lists of edits among the arguments of a call."""
    lists = (arguments.get(name) for name in EDIT_LISTS)
    edits = chain.from_iterable(value for value in lists if isinstance(value, list))
    paths = (
        path_argument(edit)
        for edit in islice(edits, FILES)
        if isinstance(edit, dict) and not edit.keys().isdisjoint(EDIT_TEXTS)
    )
    return list(dict.fromkeys(filter(None, paths)))


def operation(tool: str, arguments: dict[str, Any]) -> str:
    """Name what a tool does to a file, from its name or its command argument."""
    command = arguments.get("command")
    name = f"{tool} {command}" if isinstance(command, str) and len(command) < 40 else tool
    name = name.lower()
    for word, verbs in (("edited", EDITS), ("written", WRITES), ("read", READS)):
        if any(verb in name for verb in verbs):
            return word
    # One fact is one line: a line feed in a name could pass for a heading or a handle.
    return " ".join(tool[:80].split())
