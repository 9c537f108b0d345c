"""A tool with which the model reads again what a compaction removed, page by page."""

from __future__ import annotations

from typing import Any, Final

from foldline.errors import FoldlineError, RecallError
from foldline.recall import Recalled
from foldline.session import Session
from foldline.tools.arguments import object_schema, text_schema, value_schema
from foldline.tools.compact import compact_tool
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool

PAGE: Final = 1_000
"""What one answer takes at most, in tokens, unless the model asks for more."""

MOST: Final = 4_000
"""
What it may ask for. Tool outputs are cut when they are recorded only above 8,000, so that a page
is never taken out of sight as soon as it was read.
"""

LEAST, PAGE_SHARE = 200, 0.1
"""In a small window a page takes this share of what messages may take, but not less than this."""

NOTE: Final = 40
"""Tokens of a page that are kept for the line that says how to go on."""

DESCRIPTION: Final = (
    "Read what was removed from this conversation. Call it whenever you need a detail that you no "
    "longer see: an exact value, a reason, an error, a file's content. Snapshots and stubs name "
    "handles; the snapshot's own handle with a query searches everything it stands for and "
    'mostly answers in one call: {"handle": "1f0c2a", "query": "why was the login test skipped"}.'
)

PARAMETERS: Final[dict[str, Any]] = object_schema(
    "handle",
    handle=text_schema("Of a snapshot (all of it), a step with its results, or one part."),
    query=text_schema("The question, with names and words that the text may use."),
    grep=text_schema("A regular expression instead."),
    lines=text_schema("A:B from 1; -20: the last 20."),
    path=text_schema("A JSON path."),
    start=value_schema("integer", "To go on, as the last line of an answer says.", minimum=0),
    max_tokens={"type": "integer", "minimum": LEAST, "maximum": MOST, "default": PAGE},
)


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
        # Models fill in what they do not need with nothing.
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

    return Tool("recall", DESCRIPTION, PARAMETERS, run, arun, frozenset({"read"}))


def _output(page: Recalled, options: dict[str, Any]) -> ToolOutput:
    """Return a page, with what it leaves out in its last line; a search says that itself."""
    searched = {"query", "grep"} & options.keys()
    text = f"{page.text}\n[{page.note}]" if page.note and not searched else page.text
    partial = "start=" in text[-80:]
    return ToolOutput(text or "[It is empty.]", "partial" if partial else "success")


def _error_output(error: FoldlineError) -> ToolOutput:
    known = isinstance(error, RecallError)
    return ToolOutput.error(ErrorCode.NOT_FOUND if known else ErrorCode.UNAVAILABLE, str(error))
