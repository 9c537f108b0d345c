"""
headroom: compress, without its parts that need a network.

It shrinks contents and takes no target size. The token classifier that it downloads for prose is
missing; JSON, logs, searches and code go through its own compressors.
"""

from __future__ import annotations

from typing import Any

from headroom import compress
from task import Task


def load(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return messages


def compact(messages: list[dict[str, Any]], task: Task) -> list[dict[str, Any]]:
    tokens = task.tokens(sum(len(str(message.get("content") or "")) for message in messages))
    ratio = min(1.0, task.budget / max(1, tokens))
    return compress(
        messages,
        model="gpt-4o",
        model_limit=task.budget,
        target_ratio=ratio,
        protect_recent=0,
        protect_analysis_context=False,
        min_tokens_to_compress=50,
        kompress_model="disabled",
    ).messages


def dump(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return messages
