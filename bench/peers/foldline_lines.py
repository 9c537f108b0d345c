"""Foldline without a model: lines of the source only."""

from __future__ import annotations

from typing import Any

from task import Task

import foldline


def load(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return messages


def compact(messages: list[dict[str, Any]], task: Task) -> list[dict[str, Any]]:
    return foldline.compact(messages, budget=task.budget, format="openai-chat").messages


def dump(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return messages
