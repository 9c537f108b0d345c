"""Strands: SlidingWindowConversationManager, with repeated errors that the input is too long."""

from __future__ import annotations

from strands import Agent
from strands.agent.conversation_manager import SlidingWindowConversationManager
from strands_messages import dump, load, reduce
from task import Task

__all__ = ["compact", "dump", "load"]


def compact(agent: Agent, task: Task) -> Agent:
    # A window of all messages is narrowed from turn to turn, as far as necessary.
    manager = SlidingWindowConversationManager(window_size=len(agent.messages), pin_first=1)
    return reduce(manager, agent, task)
