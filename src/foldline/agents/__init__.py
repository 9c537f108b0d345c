"""
Agents: a model, tools and a session, run step by step; and agents that such an agent may send.

    with Agent.open("agent.db", "build", model("anthropic:claude-sonnet-4-5"), tools) as agent:
        print(agent.run("Fix the build.").text)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import lazily

if TYPE_CHECKING:
    from foldline.agents.agent import Agent
    from foldline.agents.events import (
        ContextCompacted,
        Event,
        ModelAnswered,
        ModelRetried,
        RunFinished,
        RunResumed,
        ToolCalled,
        ToolReturned,
    )
    from foldline.agents.limits import AgentLimits, AgentResult, AgentSpending
    from foldline.agents.loop import pinned_in
    from foldline.agents.loop_detection import LoopSettings
    from foldline.agents.subagents import SubagentReport, Subagents
    from foldline.agents.workspace_state import WorkspaceChanges

_HOMES = {
    "Agent": "agent",
    "AgentLimits": "limits",
    "AgentResult": "limits",
    "ModelAnswered": "events",
    "ToolCalled": "events",
    "WorkspaceChanges": "workspace_state",
    "ContextCompacted": "events",
    "Event": "events",
    "RunFinished": "events",
    "LoopSettings": "loop_detection",
    "SubagentReport": "subagents",
    "RunResumed": "events",
    "ModelRetried": "events",
    "ToolReturned": "events",
    "Subagents": "subagents",
    "AgentSpending": "limits",
    "pinned_in": "loop",
}

__all__ = [
    "Agent",
    "AgentLimits",
    "AgentResult",
    "AgentSpending",
    "ContextCompacted",
    "Event",
    "LoopSettings",
    "ModelAnswered",
    "ModelRetried",
    "RunFinished",
    "RunResumed",
    "SubagentReport",
    "Subagents",
    "ToolCalled",
    "ToolReturned",
    "WorkspaceChanges",
    "pinned_in",
]


__getattr__, __dir__ = lazily(__name__, _HOMES)
