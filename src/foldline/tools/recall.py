"""The tools of a session: recall removed content, and request a compaction."""

from __future__ import annotations

from typing import Any, Final

from foldline.errors import FoldlineError, RecallError
from foldline.frozen import replace
from foldline.recall import Recalled
from foldline.session import Session
from foldline.session.compaction_answer import REQUESTED
from foldline.tools.description import describe_tool
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool
from foldline.values.identity import HANDLE_LENGTH

RECALL: Final = describe_tool("recall")
COMPACT: Final = describe_tool("compact")

LEAST, MOST, PAGE = (
    int(RECALL.arguments["max_tokens"][word]) for word in ("minimum", "maximum", "default")
)
"""The size of a page in tokens: minimum, maximum and default."""

PAGE_SHARE: Final = 0.1
"""The maximum share of the message budget that a page takes, but not below `LEAST`."""

NOTE: Final = 40
"""The tokens of a page reserved for the line about the next page."""


def repair_arguments(given: Any) -> Any:
    """
    Return arguments of a call of ``recall`` with texts in the place of whole numbers.

    Models write {"lines": 3}, and a handle that happens to have no letter as a number.

    Args:
        given: What came, before it is checked.
    """
    if not isinstance(given, dict):
        return given
    texts = {name for name, one in RECALL.arguments.items() if one["type"] == "string"}
    mended = {n: str(v) for n, v in given.items() if n in texts and type(v) is int}
    if "handle" in mended:
        mended["handle"] = mended["handle"].zfill(HANDLE_LENGTH)
    return {**given, **mended}


def session_tools(session: Session) -> tuple[Tool, Tool]:
    """Return the tools that every agent with a session should have: recall and compact."""
    return recall_tool(session), compact_tool(session)


def recall_tool(session: Session) -> Tool:
    """
    Return the tool ``recall``.

    Args:
        session: A `foldline.Session`.
    """

    def access(arguments: dict[str, Any]) -> dict[str, Any]:
        # Models send empty values for arguments they do not need.
        options = {name: value for name, value in arguments.items() if value != ""}
        most = max(LEAST, round(PAGE_SHARE * session.budget.limit))
        page = min(options.get("max_tokens", PAGE), most)
        room = page if {"query", "grep"} & options.keys() else page - NOTE
        return {"handle": "", **options, "max_tokens": room}

    def run(arguments: dict[str, Any]) -> ToolOutput:
        options = access(arguments)
        try:
            return _output(session.recall(**options), options)
        except FoldlineError as error:
            return _error_output(error)

    async def arun(arguments: dict[str, Any]) -> ToolOutput:
        options = access(arguments)
        try:
            return _output(await session.arecall(**options), options)
        except FoldlineError as error:
            return _error_output(error)

    return replace(RECALL.tool(run, arun), repair=repair_arguments)


def _output(page: Recalled, options: dict[str, Any]) -> ToolOutput:
    """Return a page, with a last line about omitted content unless it is a search result."""
    searched = {"query", "grep"} & options.keys()
    text = f"{page.text}\n[{page.note}]" if page.note and not searched else page.text
    last = text.rpartition("\n")[2]
    partial = "start=" in last or last.startswith("[Cut: ")
    return ToolOutput(text or "[It is empty.]", "partial" if partial else "success")


def _error_output(error: FoldlineError) -> ToolOutput:
    known = isinstance(error, RecallError)
    return ToolOutput.error(ErrorCode.NOT_FOUND if known else ErrorCode.UNAVAILABLE, str(error))


def compact_tool(session: Session) -> Tool:
    """
    Return the tool ``compact``, which takes a focus.

    The call returns at once, and the compaction runs when the next view is requested. So call and
    result are the newest messages then, and stay.

    Args:
        session: A `foldline.Session`.
    """

    def run(arguments: dict[str, Any]) -> ToolOutput:
        session.request_compaction(arguments["focus"].strip())
        figures = {"tokens": session.tokens, "target": session.budget.target}
        return ToolOutput(REQUESTED, data={"requested": True, **figures})

    return COMPACT.tool(run)
