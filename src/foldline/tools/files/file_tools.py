"""The tools of a workspace, as a model calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from foldline.tools.description import describe_tool
from foldline.tools.files.workspace import Replacement, Workspace
from foldline.tools.output import ToolOutput
from foldline.tools.spec import Tool


def file_tools(workspace: Workspace) -> tuple[Tool, Tool, Tool, Tool]:
    """Return the tools read_file, write_file, edit_file and multi_edit_file."""

    def edit(path: str, edits: list[dict[str, Any]]) -> ToolOutput:
        pieces = [(one["old_string"], one["new_string"], one["replace_all"]) for one in edits]
        return workspace.edit(path, [Replacement(*piece) for piece in pieces])

    def edit_once(path: str, **piece: Any) -> ToolOutput:
        return edit(path, [piece])

    def tool(name: str, act: Callable[..., ToolOutput]) -> Tool:
        return describe_tool(name).tool(lambda given: act(**given))

    return (
        tool("read_file", workspace.read),
        tool("write_file", workspace.write),
        tool("edit_file", edit_once),
        tool("multi_edit_file", edit),
    )
