"""The tools of a workspace, as a model calls them."""

from __future__ import annotations

from typing import Any, Final

from foldline.tools.files.workspace import Replacement, Workspace
from foldline.tools.spec import Tool

MOST_EDITS: Final = 50

PATH: Final = {"type": "string", "description": "Relative to the folder of the project."}

EDIT: Final = {
    "old_string": {
        "type": "string",
        "description": "The text to replace, exactly as it stands in the file, once.",
        "minLength": 1,
    },
    "new_string": {"type": "string", "description": "What takes its place."},
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
        _object({"path": PATH, "offset": count, "limit": limit}, "path"),
        lambda given: workspace.read(given["path"], given["offset"], given.get("limit")),
        labels=frozenset({"read"}),
    )
    content = {"type": "string", "description": "All that the file holds from now on."}
    writes = Tool(
        "write_file",
        "Write a text file whole. A file that exists must have been read before.",
        _object({"path": PATH, "content": content}, "path", "content"),
        lambda given: workspace.write(given["path"], given["content"]),
        labels=frozenset({"read", "write"}),
    )
    needed = ("old_string", "new_string")
    edits = Tool(
        "edit_file",
        "Replace a piece of a text file. It must occur exactly once.",
        _object({"path": PATH, **EDIT}, "path", *needed),
        lambda given: workspace.edit(given["path"], [replacement(given)]),
        labels=frozenset({"read", "write"}),
    )
    several = {
        "type": "array",
        "description": "Replacements, made one after the other; all of them, or none.",
        "minItems": 1,
        "maxItems": MOST_EDITS,
        "items": _object(EDIT, *needed),
    }
    multi = Tool(
        "multi_edit_file",
        "Make several replacements in a text file, all of them or none.",
        _object({"path": PATH, "edits": several}, "path", "edits"),
        lambda given: workspace.edit(given["path"], [*map(replacement, given["edits"])]),
        labels=frozenset({"read", "write"}),
    )
    return reads, writes, edits, multi


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
