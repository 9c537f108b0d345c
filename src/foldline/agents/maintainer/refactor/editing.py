"""The tool that edits, only after a person saw the difference and said yes."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from foldline.errors import FoldlineError
from foldline.tools.approvals import ApprovalRequest, Approvals, Grant
from foldline.tools.arguments import object_schema, text_schema
from foldline.tools.files import Replacement, Workspace
from foldline.tools.files.workspace import apply_replacements, refusal
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool
from foldline.tools.terminal.refusal import visible

LONGEST_DIFF: Final = 20_000


EDIT: Final = object_schema(
    "path old_string new_string why",
    path=text_schema("Relative to the folder of the project."),
    old_string=text_schema("What to replace, exactly, once; empty: a new file."),
    new_string=text_schema("What takes its place."),
    why=text_schema("One sentence for the person who approves it."),
)

Before: TypeAlias = Callable[[str, str], None]
"""Told the path of a file and what it will hold, before it does; raises where it must not."""


def edit_tool(workspace: Workspace, approvals: Approvals | None, before: Before) -> Tool:
    """
    Return the tool edit.

    Args:
        workspace: Where the files are.
        approvals: Who is asked; without it the answer is no.
        before: Told of each file before it changes.
    """

    def act(given: dict[str, Any]) -> ToolOutput:
        try:
            return _edit(workspace, approvals, before, given)
        except (FoldlineError, OSError) as error:
            return refusal(given["path"], error)

    return Tool(
        "edit",
        "Replace a piece of a file, or make a file. A person sees the difference first.",
        EDIT,
        act,
        labels=frozenset({"read", "write"}),
    )


def _edit(
    workspace: Workspace, approvals: Approvals | None, before: Before, given: dict[str, Any]
) -> ToolOutput:
    path, old = given["path"], given["old_string"]
    now = workspace.read(path)
    if not now.ok and (old or now.code is not ErrorCode.NOT_FOUND):
        return now
    if now.ok and not old:
        return ToolOutput.error(ErrorCode.ALREADY_EXISTS, f"{path} exists: name what to replace.")
    parts = workspace.root.parts(path)
    text, after = "", given["new_string"]
    if now.ok:
        text = workspace.root.read(parts, workspace.bounds.size).data.decode("utf-8")
        after = apply_replacements(text, [Replacement(old, after)])
    name = "/".join(parts)
    request = _request(workspace, name, text, after, given["why"])
    if approvals is None:
        return ToolOutput.error(ErrorCode.NEEDS_APPROVAL, "Nobody is here who could approve it.")
    answer = approvals.decide(request)
    if not isinstance(answer, Grant) or not approvals.redeem(answer, request):
        why = answer if isinstance(answer, str) else "The approval is not valid any more."
        return ToolOutput.error(ErrorCode.DENIED, f"{name} was not changed. {why}")
    before(name, after)
    version = now.data.get("version") if now.ok else None
    done = workspace.write(path, after, version=version)
    approvals.finished(request, done.status)
    return done


def _request(workspace: Workspace, name: str, old: str, new: str, why: str) -> ApprovalRequest:
    sides = (old.splitlines(), new.splitlines(), f"a/{name}", f"b/{name}")
    lines = difflib.unified_diff(*sides, lineterm="", n=2)
    shown = "\n".join(visible(line, 400) for line in lines)
    if len(shown) > LONGEST_DIFF:
        shown = f"{shown[:LONGEST_DIFF]}\n… ({len(shown):,} characters in all)"
    return ApprovalRequest(
        command=(("edit", name, old, new),),
        shown=shown,
        directory=str(workspace.root.path),
        workspace=str(workspace.root.path),
        reason=visible(why, 300),
        risks=("write",),
    )
