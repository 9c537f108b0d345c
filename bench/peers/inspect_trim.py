"""inspect_ai: CompactionTrim, keeping the share of the messages that the budget allows."""

from __future__ import annotations

from inspect_ai.model import ChatMessage, CompactionTrim
from inspect_messages import dump, first, load, run
from task import Task, characters, fitting

__all__ = ["compact", "dump", "load"]


def compact(messages: list[ChatMessage], task: Task) -> list[ChatMessage]:
    start = first(messages)
    left = task.rest(dump(messages[:start])).budget
    sizes = [task.tokens(characters(each)) for each in dump(messages[start:])]
    kept = fitting(sizes, left)
    # The library takes whole messages from the end, a share of them.
    share = (kept + 0.5) / max(1, len(sizes))
    strategy = CompactionTrim(threshold=task.budget, memory=False, preserve=min(1.0, share))
    return run(strategy, messages, task, task.model)
