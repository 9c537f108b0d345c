"""The tools of a session, for an agent that has one session for every conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from foldline.errors import BudgetError
from foldline.integrations.following import FollowerPool
from foldline.integrations.langchain.imported import BaseTool, ToolMessage, ToolRuntime, tool
from foldline.integrations.langchain.runs import run_name
from foldline.session import Session
from foldline.tools.recall import COMPACT, RECALL, compact_tool, recall_tool
from foldline.tools.spec import Tool

SESSION_TOOLS: Final[Mapping[str, tuple[str, Mapping[str, Any], Callable[[Session], Tool]]]] = {
    "recall": (RECALL.description, RECALL.parameters, recall_tool),
    "compact": (COMPACT.description, COMPACT.parameters, compact_tool),
}
"""What the model is told of each tool, its parameters, and what makes it for a session."""


def running_session(followers: FollowerPool) -> Callable[[ToolRuntime], Session]:
    """Return what finds the session of an agent with the middleware."""
    return lambda runtime: followers.session(
        run_name(runtime.execution_info, runtime.state["messages"])
    )


def session_tools(find: Callable[[ToolRuntime], Session], names: Iterable[str]) -> list[BaseTool]:
    """
    Return tools that work on the session of the conversation in which they are called.

    Args:
        find: Returns that session.
        names: Some of `SESSION_TOOLS`.

    Raises:
        BudgetError: There is no tool of a name.
    """
    return [_tool(find, name) for name in names]


def _tool(find: Callable[[ToolRuntime], Session], name: str) -> BaseTool:
    if name not in SESSION_TOOLS:
        raise BudgetError(
            f"A session has no tool {name!r}.", hint=f"Known tools: {', '.join(SESSION_TOOLS)}."
        )
    description, parameters, make = SESSION_TOOLS[name]

    def run(runtime: ToolRuntime, **arguments: Any) -> ToolMessage:
        output = make(find(runtime)).run(arguments)
        return ToolMessage(
            output.text,
            name=name,
            tool_call_id=runtime.tool_call_id or "",
            status="error" if output.status == "error" else "success",
        )

    made: BaseTool = tool(name, description=description, args_schema=dict(parameters))(run)
    return made
