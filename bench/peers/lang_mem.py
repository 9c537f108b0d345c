"""langmem: summarize_messages, with the whole conversation as input of its first summary."""

from __future__ import annotations

from langchain_core.messages import BaseMessage
from langchain_messages import counter, dump, load, model
from langmem.short_term import summarize_messages
from task import Task

__all__ = ["compact", "dump", "load"]


def compact(messages: list[BaseMessage], task: Task) -> list[BaseMessage]:
    return summarize_messages(
        messages,
        running_summary=None,
        model=model(task.model),
        max_tokens=task.budget,
        max_tokens_before_summary=task.budget,
        max_summary_tokens=task.summary,
        token_counter=counter(task),
    ).messages
