"""A tool with which the model reads again what a compaction removed, page by page."""

from __future__ import annotations

from typing import Any, Final, Protocol

from foldline.core.errors import FoldlineError, RecallError
from foldline.tools.compact import Compacts, compact_tool
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool

PAGE: Final = 4_000
"""
The most that one page takes, in tokens. Tool outputs are cut when they are recorded only above
8,000, so that a page is never taken out of sight as soon as it was read.
"""

LEAST, PAGE_SHARE = 200, 0.1
"""In a small window a page takes this share of what messages may take, but not less than this."""

DESCRIPTION: Final = (
    "Read in full what was removed from the conversation. Stubs and snapshots name a handle, such "
    "as 1f0c2a or 1f0c2a.2. Long content comes in pages; say which lines, a pattern or a JSON "
    "path, to read only a part."
)

PARAMETERS: Final = {
    "type": "object",
    "properties": {
        "handle": {"type": "string", "description": "The handle that a stub names."},
        "grep": {"type": "string", "description": "A regular expression; hits come numbered."},
        "lines": {"type": "string", "description": "A:B, counted from 1; -20: for the last 20."},
        "path": {"type": "string", "description": "A JSON path, where the content is JSON."},
        "start": {
            "type": "integer",
            "description": "Where the page begins, in characters; the page before says where.",
            "minimum": 0,
            "default": 0,
        },
    },
    "required": ["handle"],
    "additionalProperties": False,
}


class Page(Protocol):
    """What was recalled."""

    @property
    def text(self) -> str:
        """What was asked for."""
        ...

    @property
    def note(self) -> str:
        """What the text leaves out, and how to get it."""
        ...


class Allowed(Protocol):
    """What a session is allowed."""

    @property
    def limit(self) -> int:
        """The most that messages may take, in tokens."""
        ...

    @property
    def target(self) -> int:
        """What a compaction aims for, in tokens."""
        ...


class Recalls(Compacts, Protocol):
    """A session, as far as these tools need it."""

    @property
    def budget(self) -> Allowed:
        """What the messages may take."""
        ...

    def recall(
        self,
        handle: str,
        *,
        lines: str | None = None,
        grep: str | None = None,
        path: str | None = None,
        start: int = 0,
        max_tokens: int | None = None,
    ) -> Page:
        """Return what was removed."""
        ...

    async def arecall(
        self,
        handle: str,
        *,
        lines: str | None = None,
        grep: str | None = None,
        path: str | None = None,
        start: int = 0,
        max_tokens: int | None = None,
    ) -> Page:
        """Return what was removed, without blocking."""
        ...


def session_tools(session: Recalls) -> tuple[Tool, Tool]:
    """Return the tools that every agent with a session should have: recall and compact."""
    return recall_tool(session), compact_tool(session)


def recall_tool(session: Recalls) -> Tool:
    """
    Return the tool ``recall``.

    Args:
        session: A `foldline.Session`.
    """

    def access(arguments: dict[str, Any]) -> dict[str, Any]:
        page = min(PAGE, max(LEAST, round(PAGE_SHARE * session.budget.limit)))
        # Models fill in what they do not need with nothing.
        asked = {name: value for name, value in arguments.items() if value != ""}
        return {"handle": "", **asked, "max_tokens": page}

    def run(arguments: dict[str, Any]) -> ToolOutput:
        try:
            return _output(session.recall(**access(arguments)))
        except FoldlineError as error:
            return _refused(error)

    async def arun(arguments: dict[str, Any]) -> ToolOutput:
        try:
            return _output(await session.arecall(**access(arguments)))
        except FoldlineError as error:
            return _refused(error)

    return Tool("recall", DESCRIPTION, PARAMETERS, run, arun, frozenset({"read"}))


def _output(page: Page) -> ToolOutput:
    told = f"[{page.note}]\n{page.text}" if page.note else page.text
    partial = "Go on with start=" in page.note
    return ToolOutput(told or "[It is empty.]", "partial" if partial else "success")


def _refused(error: FoldlineError) -> ToolOutput:
    known = isinstance(error, RecallError)
    return ToolOutput.error(ErrorCode.NOT_FOUND if known else ErrorCode.UNAVAILABLE, str(error))
