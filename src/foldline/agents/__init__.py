"""
Agents: a model, tools and a session, run step by step; and agents that such an agent may send.

    with Agent.open("agent.db", "build", model("anthropic:claude-sonnet-4-5"), tools) as agent:
        print(agent.run("Mend the build.").text)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import lazily

if TYPE_CHECKING:
    from foldline.agents.account import AgentLimits, AgentResult, Tally
    from foldline.agents.events import (
        Answered,
        Called,
        Compacted,
        Event,
        Finished,
        Resumed,
        Retried,
        Returned,
    )
    from foldline.agents.loop import Agent
    from foldline.agents.repetition import LoopSettings
    from foldline.agents.subagent import Report, Subagents
    from foldline.agents.surroundings import Changes
    from foldline.agents.tool_calls import keeps

_HOMES = {
    "Agent": "loop",
    "AgentLimits": "account",
    "AgentResult": "account",
    "Answered": "events",
    "Called": "events",
    "Changes": "surroundings",
    "Compacted": "events",
    "Event": "events",
    "Finished": "events",
    "LoopSettings": "repetition",
    "Report": "subagent",
    "Resumed": "events",
    "Retried": "events",
    "Returned": "events",
    "Subagents": "subagent",
    "Tally": "account",
    "keeps": "tool_calls",
}

__all__ = [
    "Agent",
    "AgentLimits",
    "AgentResult",
    "Answered",
    "Called",
    "Changes",
    "Compacted",
    "Event",
    "Finished",
    "LoopSettings",
    "Report",
    "Resumed",
    "Retried",
    "Returned",
    "Subagents",
    "Tally",
    "keeps",
]


__getattr__, __dir__ = lazily(__name__, _HOMES)
