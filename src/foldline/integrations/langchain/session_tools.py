"""The tools of a session, for an agent that has one session for every conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from foldline.errors import BudgetError
from foldline.integrations.following import FollowerPool
from foldline.integrations.langchain.imported import BaseTool, ToolMessage, ToolRuntime, tool
from foldline.integrations.langchain.runs import run_name
from foldline.session import Session
from foldline.tools import Tool, compact, recall


@dataclass(frozen=True, slots=True)
class SessionToolSpec:
    """A tool before it is known of which session: what the model is told, and what makes it."""

    description: str
    parameters: Mapping[str, Any]
    make: Callable[[Session], Tool]


SESSION_TOOLS: Final[Mapping[str, SessionToolSpec]] = {
    "recall": SessionToolSpec(recall.DESCRIPTION, recall.PARAMETERS, recall.recall_tool),
    "compact": SessionToolSpec(compact.DESCRIPTION, compact.PARAMETERS, compact.compact_tool),
}


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
    offer = SESSION_TOOLS.get(name)
    if offer is None:
        raise BudgetError(
            f"A session has no tool {name!r}.", hint=f"Known tools: {', '.join(SESSION_TOOLS)}."
        )

    def run(runtime: ToolRuntime, **arguments: Any) -> ToolMessage:
        output = offer.make(find(runtime)).run(arguments)
        return ToolMessage(
            output.text,
            name=name,
            tool_call_id=runtime.tool_call_id or "",
            status="error" if output.status == "error" else "success",
        )

    made: BaseTool = tool(name, description=offer.description, args_schema=dict(offer.parameters))(
        run
    )
    return made
