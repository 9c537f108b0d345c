"""OpenAI Agents SDK: ToolOutputTrimmer with its defaults; it takes no target size."""

from __future__ import annotations

from typing import Any

from agents.extensions import ToolOutputTrimmer
from agents.run_config import CallModelData, ModelInputData
from responses_items import dump, load
from task import Task

__all__ = ["compact", "dump", "load"]


def compact(items: list[dict[str, Any]], _: Task) -> list[dict[str, Any]]:
    data = ModelInputData(input=items, instructions=None)
    trim = ToolOutputTrimmer(recent_turns=2, max_output_chars=500, preview_chars=200)
    return trim(CallModelData(model_data=data, agent=None, context=None)).input
