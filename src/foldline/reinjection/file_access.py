"""
File accesses: which files the tools of any agent have read, written and edited.

An access counts when its call succeeded. It holds the text that the model saw of the file, or
wrote into it, for comparison with the file on disk.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from foldline.core.retention_settings import EDITS, PATH_KEYS, READS, WRITES, FileSettings
from foldline.frozen import field, frozen
from foldline.snapshot.commands import shown_files
from foldline.snapshot.file_changes import is_not_removed, is_refusal
from foldline.snapshot.file_operations import (
    CONTENT,
    EDITED,
    edits_of,
    file_operations,
    path_argument,
    tool_operation,
)
from foldline.snapshot.invocations import Invocation
from foldline.values.call_arguments import parse_arguments
from foldline.values.groups import Site
from foldline.values.messages import Message, ToolCall, ToolResult

Operation: TypeAlias = Literal["read", "written", "edited", "deleted"]

OPERATIONS: Final[Mapping[str, Operation]] = {
    "read": "read",
    "created": "written",
    "written": "written",
    "edited": "edited",
    "deleted": "deleted",
}
"""What the working set takes for an operation on a file, and as which."""

TEXTS: Final[Mapping[Operation, Sequence[str]]] = {
    "written": (*CONTENT, "text"),
    "edited": (*EDITED, "insert_text"),
}
"""Arguments with the text that an operation writes."""


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
    read: Callable[[ToolCall], Invocation] = Invocation,
) -> list[FileAccess]:
    """
    Find the file accesses of one call that has its result.

    Args:
        calling: The message with the call.
        answering: The message with the result.
        sites: The sites of the call and its result.
        settings: Names of tools and arguments.
        read: Reads a call.
    """
    call, result = calling.parts[sites[0].part], answering.parts[sites[1].part]
    if not isinstance(call, ToolCall) or not isinstance(result, ToolResult):
        return []
    operations = [] if result.is_error else list(find_operations(read(call), settings))
    if not operations or is_refusal(result.text):
        return []
    if is_not_removed(result.text):
        operations = [one for one in operations if one[1] != "deleted"]
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
    """Return the last access to every file that was not deleted then, newest first."""
    last: dict[str, FileAccess] = {}
    for access in filter(lambda access: access.path, found):
        last.pop(access.path, None)
        last[access.path] = access
    return tuple(one for one in reversed(last.values()) if one.operation != "deleted")


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
        in_view[access.path] = intact and access.operation != "deleted"
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
    call: Invocation, settings: FileSettings
) -> Iterator[tuple[str, Operation, str]]:
    """
    Yield the path ("" if not named), operation and written text of each file of a call.

    Args:
        call: The call; its arguments may be broken JSON.
        settings: Names of tools and arguments.
    """
    done, files = _files_of_tool(call, settings)
    found = [(path, OPERATIONS[what]) for path, what in files if what in OPERATIONS]
    if call.command:
        found += ((path, "read") for path in shown_files(call.command, call.folder))
        # What a program printed into a file the model has not seen.
        wrote = OPERATIONS if "<<" in call.command else ("edited", "deleted")
        changed = call.changed_by_shell
        found += ((path, OPERATIONS[what]) for path, what in changed if what in wrote)
    if not found and done in OPERATIONS:
        found = [("", OPERATIONS[done])]
    for path, operation in found:
        # What was written is compared with what is read from a disk.
        written = settings.is_on and operation in TEXTS
        yield path, operation, _extract_text(call.call, operation, path) if written else ""


def _files_of_tool(
    call: Invocation, settings: FileSettings
) -> tuple[str, Iterable[tuple[str, str]]]:
    """Return what the tool of a call does to files, and the files that its arguments name."""
    named = (settings.path_keys, settings.reads, settings.writes, settings.edits)
    if named == (PATH_KEYS, READS, WRITES, EDITS):
        return call.operation, call.files
    arguments = parse_arguments(call.call.arguments)
    done = tool_operation(call.call.name, arguments, settings)
    return done, file_operations(call.call, arguments, done, settings.path_keys)


def relative_to_root(path: str, root: str | None) -> str:
    """Return a path relative to the root directory, if it is inside it."""
    if root is None:
        return path
    top = posixpath.normpath(root)
    inside = path.removeprefix(top.rstrip("/") + "/")
    return inside if path != top else "."


def _extract_text(call: ToolCall, operation: Operation, path: str) -> str:
    """Return the text that a call writes into a file; of several pieces, the longest."""
    value = parse_arguments(call.arguments)
    if not isinstance(value, dict):
        return ""
    places = (one for one in (value, *edits_of(value)) if path_argument(one) in ("", path))
    texts = (place.get(key) for place in places for key in TEXTS[operation])
    return max((text for text in texts if isinstance(text, str)), key=len, default="")
