"""Notes and memory as MCP tools; without leave to write they only look, and make no file."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final

from foldline.errors import FoldlineError
from foldline.memory import Memory
from foldline.tools.memory import DESCRIPTION as MEMORY
from foldline.tools.memory import FOR_MODELS, PROPERTIES, MemoryTool
from foldline.tools.notes import DESCRIPTION as NOTES
from foldline.tools.notes import PROPERTIES as NOTE_PROPERTIES
from foldline.tools.notes import NoteTool
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool

LOOKING_AT_NOTES: Final = ("read", "search", "list", "summary", "tasks")
LOOKING_AT_MEMORY: Final = ("search", "list", "summary", "stats")
CHANGING_NOTES: Final = ("create", "update", "delete", "restore", "task", "progress")


def notes_tool(folder: Path, *, write: bool) -> Tool:
    """
    Return the tool ``note``.

    Args:
        folder: Where the notes are.
        write: Whether notes may be made and changed.
    """

    def run(given: dict[str, Any]) -> ToolOutput:
        if given["action"] in LOOKING_AT_NOTES and not folder.is_dir():
            return ToolOutput("There are no notes yet.")
        return NoteTool(folder).tool.run(given)

    actions = (*LOOKING_AT_NOTES, *(CHANGING_NOTES if write else ()))
    return _tool("note", NOTES, NOTE_PROPERTIES, actions, run, write=write)


def memory_tool(file: Path, user: str, *, write: bool) -> Tool:
    """
    Return the tool ``memory``.

    Args:
        file: Where it is.
        user: Whose memories.
        write: Whether something may be added, changed and forgotten.
    """

    def run(given: dict[str, Any]) -> ToolOutput:
        if given["action"] in LOOKING_AT_MEMORY and not file.exists():
            return ToolOutput("Nothing is remembered yet.")
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with MemoryTool(memory=Memory.open(file, user=user)) as memory:
            return memory.output(**given)

    actions = FOR_MODELS if write else LOOKING_AT_MEMORY
    return _tool("memory", MEMORY, PROPERTIES, actions, run, write=write)


def _tool(
    name: str,
    description: str,
    properties: dict[str, Any],
    actions: Collection[str],
    run: Callable[[dict[str, Any]], ToolOutput],
    *,
    write: bool,
) -> Tool:
    """Return a tool that knows these actions and refuses all others."""
    parameters = {
        "type": "object",
        "properties": {**properties, "action": {"type": "string", "enum": list(actions)}},
        "required": ["action"],
        "additionalProperties": False,
    }
    if not write:
        description += f" Here it can only be looked at: {', '.join(actions)}."

    def safe(given: dict[str, Any]) -> ToolOutput:
        try:
            return run(given)
        except (FoldlineError, OSError) as error:
            return ToolOutput.error(ErrorCode.UNAVAILABLE, str(error))

    label = "write" if write else "read"
    return Tool(name, description, parameters, safe, labels=frozenset({label}))
