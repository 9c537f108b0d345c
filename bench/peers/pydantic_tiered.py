"""Pydantic AI harness: TieredCompaction, the cheap passes first and a summary at the end."""

from __future__ import annotations

from pydantic_ai.messages import ModelMessage
from pydantic_ai_harness.compaction import (
    ClampOversizedMessages,
    ClearToolResults,
    TieredCompaction,
)
from pydantic_messages import dump, load, run, summarizing
from task import Task

__all__ = ["compact", "dump", "load"]


def compact(messages: list[ModelMessage], task: Task) -> list[ModelMessage]:
    count = task.count
    tiers = [
        ClampOversizedMessages(max_part_tokens=max(50, task.budget // 4), tokenizer=count),
        ClearToolResults(max_tokens=1, tokenizer=count),
        summarizing(messages, task),
    ]
    strategy = TieredCompaction(tiers=tiers, target_tokens=task.budget, tokenizer=count)
    return run(strategy, messages, task)
