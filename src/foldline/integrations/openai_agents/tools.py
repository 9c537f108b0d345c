"""The tools of a session for agents of the OpenAI Agents SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldline.core.errors import MissingExtra
from foldline.tools.recall import DESCRIPTION, PARAMETERS, recall_tool

if TYPE_CHECKING:
    from foldline.integrations.openai_agents.session import FoldlineSession

try:
    from agents import FunctionTool
except ImportError as error:
    raise MissingExtra("openai-agents", "openai-agents") from error


def session_tools(session: FoldlineSession) -> list[FunctionTool]:
    """
    Return the tool ``recall``.

    Args:
        session: Whose conversation it reads; the branch that is in use when it is called.
    """

    async def run(_: Any, arguments: str) -> str:
        output = await recall_tool(session.session).arun(arguments)
        return output.text

    # Strict schemas would make the model fill in every argument.
    return [FunctionTool("recall", DESCRIPTION, dict(PARAMETERS), run, strict_json_schema=False)]
