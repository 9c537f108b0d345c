"""Foldline with a summarizer: what the stand-in writes stands before the quoted lines."""

from __future__ import annotations

from typing import Any

from extractive import Failed
from foldline_lines import dump, load
from task import Task

import foldline
from foldline import Ask, Reply

__all__ = ["compact", "dump", "load"]


def compact(messages: list[dict[str, Any]], task: Task) -> list[dict[str, Any]]:
    def answer(ask: Ask) -> Reply:
        try:
            return Reply(task.model.within(ask.max_tokens).answer(ask.prompt))
        except Failed as error:
            return Reply(error=str(error))

    return foldline.compact(
        messages, budget=task.budget, format="openai-chat", summarizer=answer
    ).messages
