"""agent-framework: ContextWindowCompactionStrategy, at its whole window."""

from __future__ import annotations

from agent_framework import ContextWindowCompactionStrategy, Message
from microsoft_messages import Tokenizer, dump, load, run
from task import Task

__all__ = ["compact", "dump", "load"]


def compact(messages: list[Message], task: Task) -> list[Message]:
    strategy = ContextWindowCompactionStrategy(
        max_context_window_tokens=task.budget,
        max_output_tokens=0,
        tokenizer=Tokenizer(task),
        tool_eviction_threshold=1.0,
        truncation_threshold=1.0,
        preserve_first_user_group=True,
    )
    return run(strategy, messages, task)
