"""inspect_ai: CompactionSummary; the summary replaces everything, so it gets all the room."""

from __future__ import annotations

from inspect_ai.model import ChatMessage, CompactionSummary
from inspect_messages import dump, first, load, run
from task import Task

__all__ = ["compact", "dump", "load"]


def compact(messages: list[ChatMessage], task: Task) -> list[ChatMessage]:
    rest = task.rest(dump(messages[: first(messages)])).budget
    standin = task.model.within(max(1, rest - task.frame))
    strategy = CompactionSummary(threshold=task.budget, memory=False)
    return run(strategy, messages, task, standin)
