"""
LangChain: trim_messages, as its documentation shows it, except for where the rest may begin.

With "human" alone, what an agent did before the last question would go at once.
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
