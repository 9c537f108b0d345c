"""What the conversations of LangChain and LangGraph are called, so that each has its session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from foldline.formats.registry import dialect
from foldline.values.identity import content_hash

BRANCH_MARK: Final = "#"
"""What a follower puts behind a name to tell branches apart; names of threads go without it."""

LONGEST: Final = 200
"""A thread is named with no more characters than this."""


def named(messages: Sequence[Any], config: Mapping[str, Any] | None = None) -> str:
    """
    Name the conversation that a list of messages is.

    Args:
        messages: The conversation.
        config: Of a run; its thread names the conversation, otherwise the first message does.
    """
    configurable = (config or {}).get("configurable")
    thread = configurable.get("thread_id") if isinstance(configurable, Mapping) else None
    return joined(str(thread)) if thread else joined("", first(messages))


def running(info: Any, messages: Sequence[Any]) -> str:
    """
    Name the conversation of an agent that runs.

    That is its thread. An agent inside another graph, and one without a thread, is told by its
    first message besides, which no other conversation of that graph shares.

    Args:
        info: What LangGraph tells about the run, None when it tells nothing.
        messages: The history of the agent.
    """
    thread = str(getattr(info, "thread_id", None) or "")
    # The last one is the node that asks for the model, the others are the graphs around it.
    graphs = str(getattr(info, "checkpoint_ns", None) or "").split("|")[:-1]
    path = [thread, *(graph.partition(":")[0] for graph in graphs)]
    return joined(*path, first(messages)) if graphs or not thread else joined(thread)


def first(messages: Sequence[Any]) -> str:
    """Return what tells the first message from others: its id, else what it says."""
    if not messages:
        return ""
    number = getattr(messages[0], "id", None)
    if isinstance(number, str) and number:
        return number
    return content_hash(dialect("langchain").decode(messages[:1]).messages[0])


def joined(*path: str) -> str:
    """Write the parts of a name as one."""
    return "/".join(part[:LONGEST].replace(BRANCH_MARK, "%23") for part in path)
