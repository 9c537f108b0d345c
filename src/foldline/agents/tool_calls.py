"""Tool calls in a session: their results as messages, and calls that never got one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from foldline.formats.registry import dialect
from foldline.session import Session
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.values.groups import pair, pending_calls
from foldline.values.messages import Message, Text, ToolCall, ToolResult

NOTHING: Final = "[It returned nothing.]"

INTERRUPTED: Final = ToolOutput.error(
    ErrorCode.CANCELLED,
    "[The program ended before the result of this call was recorded. It may have had an effect, "
    "whole or in part: look before you make it again.]",
)
CANCELLED: Final = ToolOutput.error(
    ErrorCode.CANCELLED,
    "[This call was cancelled. It may have had an effect, whole or in part: look before you make "
    "it again.]",
)
CUT: Final = ToolOutput.error(
    ErrorCode.INVALID_ARGUMENTS,
    "This call was not run: your answer reached its cap in the middle of it. Say less, and call "
    "again.",
)


def result_wires(format: str, call: ToolCall, output: ToolOutput) -> list[Any]:  # noqa: A002  # what it is called everywhere in this library
    """Return the result of a call as wire messages of a format."""
    content = (Text(output.text or NOTHING),)
    result = ToolResult(call.id, content, call.name, is_error=not output.ok)
    return dialect(format).messages([Message("tool", (result,))])


def open_calls(messages: Sequence[Message]) -> list[ToolCall]:
    """Return the calls that still wait for their result, in order."""
    found = pair(messages).open
    waiting = pending_calls(messages, found)
    parts = [messages[site.message].parts[site.part] for site in found if site in waiting]
    return [part for part in parts if isinstance(part, ToolCall)]


def keeps(session: Session) -> Callable[[str], bool]:
    """
    Return what tells whether a pinned tool result with a text in it stands in a session.

    For `foldline.tools.Skills`, so that a skill that is in sight is not loaded again.

    Args:
        session: A session, or an agent's.
    """

    def kept(text: str) -> bool:
        return any(
            text in result.text
            for message in session.messages
            if message.pinned
            for result in message.results
        )

    return kept
