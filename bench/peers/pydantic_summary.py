"""Pydantic AI harness: SummarizingCompaction alone, with results in full."""

from __future__ import annotations

from pydantic_ai.messages import ModelMessage
from pydantic_ai_harness.compaction import TieredCompaction
from pydantic_messages import dump, load, run, summarizing
from task import Task

__all__ = ["compact", "dump", "load"]


def compact(messages: list[ModelMessage], task: Task) -> list[ModelMessage]:
    tiers = [summarizing(messages, task)]
    strategy = TieredCompaction(tiers=tiers, target_tokens=task.budget, tokenizer=task.count)
    return run(strategy, messages, task)
