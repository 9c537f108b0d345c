"""
The to-do list of an agent: replaced as a whole, at most one item in progress, stored in a file.

The newest list survives every compaction: compaction recognizes its tool call by name.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal, TypeAlias, get_args

from foldline.atomic_files import replace_file
from foldline.errors import InputError
from foldline.frozen import frozen
from foldline.tools.arguments import check_arguments
from foldline.tools.description import describe_tool
from foldline.tools.json_files import read_value
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool

Progress: TypeAlias = Literal["pending", "in_progress", "completed"]

SCHEMA: Final = "foldline.todo/1"
NAMED: Final = 3
"""The maximum number of pending items in a recap."""

TODO: Final = describe_tool("todo_write")
ITEMS: Final = TODO.arguments["todos"]


@frozen
class Todo:
    """One item of the list."""

    content: str
    status: Progress = "pending"


class TodoTool:
    """
    A to-do list, with a tool for models.

    Args:
        path: A JSON file of the list, loaded if it exists; None keeps the list in memory.

    Raises:
        StoreError: The file is not a to-do list; it is unchanged.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = None if path is None else Path(path)
        self._lock = Lock()
        self._items: tuple[Todo, ...] = ()
        if self._path is not None:
            self._items = read_value(self._path, "to-do list", SCHEMA, _parse) or ()

    @property
    def items(self) -> tuple[Todo, ...]:
        """The current list."""
        return self._items

    @property
    def recap(self) -> str:
        """The list in one line, such as ``[1/4] in progress: b; pending: c, d``."""
        return recap(self._items)

    @property
    def tool(self) -> Tool:
        """The tool ``todo_write``."""
        return TODO.tool(lambda given: self.write(given["todos"]))

    def write(self, todos: Any) -> ToolOutput:
        """
        Replace the list, completely or not at all.

        Args:
            todos: Objects with ``content`` and ``status``, also as JSON text.

        Returns:
            The recap, or an error if the list is invalid or cannot be stored; then it is
            unchanged.
        """
        value, problems = _check_items(todos)
        if problems:
            message = "\n".join(f"- {problem}" for problem in problems[:8])
            text = f"The list was not changed:\n{message}"
            return ToolOutput.error(ErrorCode.INVALID_ARGUMENTS, text, problems=problems)
        items = tuple(Todo(item["content"].strip(), item["status"]) for item in value)
        with self._lock:
            try:
                if self._path is not None:  # on disk first, before it changes in memory
                    replace_file(self._path, f"{_text(items)}\n".encode("ascii"))
            except OSError as error:
                message = f"The list was not changed: it cannot be written ({error.strerror})."
                return ToolOutput.error(ErrorCode.UNAVAILABLE, message)
            self._items = items
        data = {"todos": [asdict(item) for item in items]}
        return ToolOutput(recap(items), data=data, stats=_stats(items))

    def clear(self) -> ToolOutput:
        """Empty the list and its file."""
        return self.write([])


def recap(items: Sequence[Todo]) -> str:
    """Return one line: the progress, the current item, and the next items."""
    done = sum(item.status == "completed" for item in items)
    count = f"[{done}/{len(items)}]"
    if not items:
        return f"{count} the list is empty"
    if done == len(items):
        return f"{count} all done"
    now = [item.content for item in items if item.status == "in_progress"]
    later = [item.content for item in items if item.status == "pending"]
    more = f" and {len(later) - NAMED} more" if len(later) > NAMED else ""
    pieces = [f"in progress: {now[0]}"] if now else []
    pieces += [f"pending: {', '.join(later[:NAMED])}{more}"] if later else []
    return f"{count} {'; '.join(pieces)}"


def _check_items(todos: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the items, and a sentence for each problem."""
    value, problems = check_arguments(ITEMS, todos, "todos")
    if problems:
        return value, problems
    blank = next((n for n, item in enumerate(value) if not item["content"].strip()), None)
    busy = sum(item["status"] == "in_progress" for item in value)
    if blank is not None:
        problems = [f"todos[{blank}].content: it is empty"]
    elif busy > 1:
        problems = [f"{busy} items are in progress; at most one is allowed"]
    return value, problems


def _stats(items: Sequence[Todo]) -> dict[str, int]:
    counts = Counter(item.status for item in items)
    return {"total": len(items), **{status: counts[status] for status in get_args(Progress)}}


# --- the file ------------------------------------------------------------------------------


def _parse(stored: Any) -> tuple[Todo, ...]:
    value, problems = _check_items(stored["todos"])
    if problems:
        raise InputError(problems[0])
    return tuple(Todo(**item) for item in value)


def _text(items: Sequence[Todo]) -> str:
    todos = [asdict(item) for item in items]
    return json.dumps({"schema": SCHEMA, "todos": todos, "stats": _stats(items)}, indent=1)
