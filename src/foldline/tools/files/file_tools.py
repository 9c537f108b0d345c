"""The tools of a workspace, as a model calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from foldline.tools.arguments import object_schema, text_schema, value_schema
from foldline.tools.files.workspace import Replacement, Workspace
from foldline.tools.output import ToolOutput
from foldline.tools.spec import Tool

MOST_EDITS: Final = 50

PATH: Final = text_schema("Relative to the folder of the project.")

EDIT: Final = {
    "old_string": text_schema(
        "The text to replace, exactly as it stands in the file, once.", minLength=1
    ),
    "new_string": text_schema("What takes its place."),
    "replace_all": value_schema("boolean", "Replace it wherever it occurs.", default=False),
}

SEVERAL: Final = "Replacements, made one after the other; all of them, or none."
ONE: Final = object_schema("old_string new_string", **EDIT)
EDITS: Final = value_schema("array", SEVERAL, minItems=1, maxItems=MOST_EDITS, items=ONE)

CONTENT: Final = text_schema("All that the file holds from now on.")
OFFSET: Final = value_schema("integer", "Lines to pass over.", minimum=0, default=0)
LIMIT: Final = value_schema(["integer", "null"], "The most lines to show.", minimum=1)


DESCRIPTIONS: Final = {
    "read_file": "Read a text file, or some of its lines.",
    "write_file": "Write a text file whole. A file that exists must have been read before.",
    "edit_file": "Replace a piece of a text file. It must occur exactly once.",
    "multi_edit_file": "Make several replacements in a text file, all of them or none.",
}


def file_tools(workspace: Workspace) -> tuple[Tool, Tool, Tool, Tool]:
    """Return the tools read_file, write_file, edit_file and multi_edit_file."""

    def edit(path: str, edits: list[dict[str, Any]]) -> ToolOutput:
        pieces = [(one["old_string"], one["new_string"], one["replace_all"]) for one in edits]
        return workspace.edit(path, [Replacement(*piece) for piece in pieces])

    def edit_once(path: str, **piece: Any) -> ToolOutput:
        return edit(path, [piece])

    def tool(
        name: str, act: Callable[..., ToolOutput], parameters: dict[str, Any], *labels: str
    ) -> Tool:
        named = frozenset({"read", *labels})
        return Tool(name, DESCRIPTIONS[name], parameters, lambda given: act(**given), labels=named)

    read = object_schema("path", path=PATH, offset=OFFSET, limit=LIMIT)
    write = object_schema("path content", path=PATH, content=CONTENT)
    once = object_schema("path old_string new_string", path=PATH, **EDIT)
    often = object_schema("path edits", path=PATH, edits=EDITS)
    return (
        tool("read_file", workspace.read, read),
        tool("write_file", workspace.write, write, "write"),
        tool("edit_file", edit_once, once, "write"),
        tool("multi_edit_file", edit, often, "write"),
    )
