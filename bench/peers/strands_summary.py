"""Strands: SummarizingConversationManager, with repeated errors that the input is too long."""

from __future__ import annotations

from strands import Agent
from strands.agent.conversation_manager import SummarizingConversationManager
from strands_messages import dump, load, reduce
from task import Task

__all__ = ["compact", "dump", "load"]


def compact(agent: Agent, task: Task) -> Agent:
    manager = SummarizingConversationManager(summary_ratio=0.3, preserve_recent_messages=2)
    return reduce(manager, agent, task)
