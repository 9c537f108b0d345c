"""A tool with which the model itself asks for a compaction, and says what matters."""

from __future__ import annotations

from typing import Any, Final

from foldline.session import Session
from foldline.session.compaction_answer import REQUESTED
from foldline.tools.arguments import object_schema, text_schema
from foldline.tools.output import ToolOutput
from foldline.tools.spec import Tool

LONGEST_FOCUS: Final = 2_000

DESCRIPTION: Final = (
    "Make the conversation smaller: a snapshot of what matters takes the place of older messages, "
    "which stay recallable. Use it when a piece of work is done and the next one needs room. "
    "Nothing that you still have to answer is touched."
)

FOCUS: Final = "What has to be remembered above all, in your own words."
PARAMETERS: Final = object_schema(focus=text_schema(FOCUS, maxLength=LONGEST_FOCUS, default=""))


def compact_tool(session: Session) -> Tool:
    """
    Return the tool ``compact``, which takes a focus.

    The call is answered at once, and the compaction is made when the next view is asked for. So
    call and result are the newest messages then, and stay.

    Args:
        session: A `foldline.Session`.
    """

    def run(arguments: dict[str, Any]) -> ToolOutput:
        session.request_compaction(arguments["focus"].strip())
        figures = {"tokens": session.tokens, "target": session.budget.target}
        return ToolOutput(REQUESTED, data={"requested": True, **figures})

    return Tool("compact", DESCRIPTION, PARAMETERS, run, labels=frozenset({"context"}))
