"""The tools of a workspace, as a model calls them."""

from __future__ import annotations

from typing import Any, Final

from foldline.tools.arguments import object_schema, text_schema
from foldline.tools.files.workspace import Replacement, Workspace
from foldline.tools.spec import Tool

MOST_EDITS: Final = 50

PATH: Final = text_schema("Relative to the folder of the project.")

EDIT: Final = {
    "old_string": text_schema(
        "The text to replace, exactly as it stands in the file, once.", minLength=1
    ),
    "new_string": text_schema("What takes its place."),
    "replace_all": {
        "type": "boolean",
        "description": "Replace it wherever it occurs.",
        "default": False,
    },
}


def file_tools(workspace: Workspace) -> tuple[Tool, Tool, Tool, Tool]:
    """Return the tools read_file, write_file, edit_file and multi_edit_file."""

    def replacement(given: dict[str, Any]) -> Replacement:
        return Replacement(given["old_string"], given["new_string"], given["replace_all"])

    count = {"type": "integer", "minimum": 0, "default": 0, "description": "Lines to pass over."}
    limit = {"type": ["integer", "null"], "minimum": 1, "description": "The most lines to show."}
    reads = Tool(
        "read_file",
        "Read a text file, or some of its lines.",
        object_schema("path", path=PATH, offset=count, limit=limit),
        lambda given: workspace.read(given["path"], given["offset"], given.get("limit")),
        labels=frozenset({"read"}),
    )
    content = text_schema("All that the file holds from now on.")
    writes = Tool(
        "write_file",
        "Write a text file whole. A file that exists must have been read before.",
        object_schema("path content", path=PATH, content=content),
        lambda given: workspace.write(given["path"], given["content"]),
        labels=frozenset({"read", "write"}),
    )
    edits = Tool(
        "edit_file",
        "Replace a piece of a text file. It must occur exactly once.",
        object_schema("path old_string new_string", path=PATH, **EDIT),
        lambda given: workspace.edit(given["path"], [replacement(given)]),
        labels=frozenset({"read", "write"}),
    )
    several = {
        "type": "array",
        "description": "Replacements, made one after the other; all of them, or none.",
        "minItems": 1,
        "maxItems": MOST_EDITS,
        "items": object_schema("old_string new_string", **EDIT),
    }
    multi = Tool(
        "multi_edit_file",
        "Make several replacements in a text file, all of them or none.",
        object_schema("path edits", path=PATH, edits=several),
        lambda given: workspace.edit(given["path"], [*map(replacement, given["edits"])]),
        labels=frozenset({"read", "write"}),
    )
    return reads, writes, edits, multi
