"""Foldline with a summarizer: the stand-in's summary, followed by quoted lines."""

from __future__ import annotations

import re
from typing import Any

from extractive import ACCOUNTS, Failed
from foldline_lines import dump, load
from task import Task

import foldline
from foldline import Ask, Reply
from foldline.summary.summary_request import SPARE

FENCED = re.compile(r"^<([a-z]+-[0-9a-f]+)>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE)
"""The part of a request after its rules."""

__all__ = ["compact", "dump", "load"]


def compact(messages: list[dict[str, Any]], task: Task) -> list[dict[str, Any]]:
    def answer(ask: Ask) -> Reply:
        try:
            model = task.model.within(int(ask.max_tokens / SPARE))
            if model.kind.startswith(ACCOUNTS):
                return Reply(model.answer(ask.prompt))
            # A model is given the length of its account, and the rules are not part of it.
            text = "\n".join(found[2] for found in FENCED.finditer(ask.prompt))
            return Reply(model.answer(text))
        except Failed as error:
            return Reply(error=str(error))

    return foldline.compact(
        messages, budget=task.budget, format="openai-chat", summarizer=answer
    ).messages
