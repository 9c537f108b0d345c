"""No answer of a tool takes more tokens than it may."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from foldline.recall.fitting import cap, clipped
from foldline.tools.output import ToolOutput
from foldline.tools.spec import Tool
from foldline.values.tokens import TokenCounter

NOTE: Final = 40
"""Tokens that are kept for the line that says what was cut."""


def bounded(tool: Tool, limit: int, counter: TokenCounter) -> Tool:
    """
    Return a tool whose answers are cut where they are too long, and say so.

    Args:
        tool: The tool.
        limit: The most that an answer may take, in tokens.
        counter: Counts them.
    """
    whole, part = cap(limit, None, counter), cap(max(1, limit - NOTE), None, counter)

    def run(given: dict[str, object]) -> ToolOutput:
        output = tool.action(given)
        if whole(output.text):
            return output
        text = clipped(output.text, part)
        left = len(output.text) - len(text)
        note = f"[{left:,} characters more were cut: ask for less, such as with 'limit'.]"
        status = output.status if output.status == "error" else "partial"
        return replace(output, text=f"{text}\n{note}", status=status)

    return replace(tool, action=run)
