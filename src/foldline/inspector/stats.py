"""What is known about where the tokens of one conversation go, in one value."""

from __future__ import annotations

from dataclasses import dataclass

from foldline.evaluation import breakdown
from foldline.values.messages import Usage
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Stats:
    """
    What is known about a conversation; all numbers are tokens unless they count something.

    ``tokens`` is what the messages take, ``system`` and ``tool_schemas`` what is sent besides.
    ``reported`` is what a provider counted for the newest request that says so.
    """

    tokens: int
    messages: int
    system: int
    tool_schemas: int
    schemas: int
    reported: Usage | None
    kinds: tuple[breakdown.Share, ...]
    tools: tuple[breakdown.ToolShare, ...]
    files: tuple[breakdown.FileShare, ...]
    largest: tuple[breakdown.Large, ...]
    waste: tuple[breakdown.Share, ...]


def measure(there: Transcript, counter: TokenCounter, top: int) -> Stats:
    """Measure a conversation; lists have at most ``top`` entries."""
    messages = there.messages
    usage = next((m.usage for m in reversed(messages) if m.usage is not None), None)
    return Stats(
        tokens=counter.messages(messages),
        messages=len(messages),
        system=counter.overhead(there.system, ()),
        tool_schemas=counter.overhead("", there.tools),
        schemas=len(there.tools),
        reported=usage,
        kinds=breakdown.by_kind(messages, counter),
        tools=breakdown.by_tool(messages, counter)[:top],
        files=breakdown.by_file(messages, counter)[:top],
        largest=breakdown.largest(messages, counter, top),
        waste=breakdown.waste(messages, counter),
    )
