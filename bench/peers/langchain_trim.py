"""
LangChain: trim_messages, as in its documentation, except for where the rest may start.

With "human" alone, all work before the last question would be dropped at once.
"""

from __future__ import annotations

from langchain_core.messages import BaseMessage, trim_messages
from langchain_messages import counter, dump, load
from task import Task

__all__ = ["compact", "dump", "load"]


def compact(messages: list[BaseMessage], task: Task) -> list[BaseMessage]:
    return trim_messages(
        messages,
        max_tokens=task.budget,
        token_counter=counter(task),
        strategy="last",
        include_system=True,
        start_on=("human", "ai"),
        end_on=("human", "tool"),
    )
