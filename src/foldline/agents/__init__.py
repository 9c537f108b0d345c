"""
Agents: a model, tools and a session, run step by step; and agents that such an agent may send.

    with Agent.open("agent.db", "build", model("anthropic:claude-sonnet-4-5"), tools) as agent:
        print(agent.run("Fix the build.").text)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import export_lazily

if TYPE_CHECKING:
    from foldline.agents.agent import Agent as Agent
    from foldline.agents.checkpoint import WorkspaceChanges as WorkspaceChanges
    from foldline.agents.events import ContextCompacted as ContextCompacted
    from foldline.agents.events import Event as Event
    from foldline.agents.events import ModelAnswered as ModelAnswered
    from foldline.agents.events import ModelRetried as ModelRetried
    from foldline.agents.events import RunFinished as RunFinished
    from foldline.agents.events import RunResumed as RunResumed
    from foldline.agents.events import ToolCalled as ToolCalled
    from foldline.agents.events import ToolReturned as ToolReturned
    from foldline.agents.limits import AgentLimits as AgentLimits
    from foldline.agents.limits import AgentResult as AgentResult
    from foldline.agents.limits import AgentSpending as AgentSpending
    from foldline.agents.loop import pinned_in as pinned_in
    from foldline.agents.loop_detection import LoopSettings as LoopSettings
    from foldline.agents.subagents import SubagentReport as SubagentReport
    from foldline.agents.subagents import Subagents as Subagents

__getattr__, __dir__, __all__ = export_lazily(__name__)
