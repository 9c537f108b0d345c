"""
Agents: a model, tools and a session, run step by step; and sub-agents that an agent may start.

    with Agent.open("agent.db", "build", model("anthropic:claude-sonnet-4-5"), tools) as agent:
        print(agent.run("Fix the build.").text)
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
