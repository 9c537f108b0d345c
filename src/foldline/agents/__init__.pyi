"""What this package exports; `foldline.lazy` loads the names from here."""

from foldline.agents.agent import Agent as Agent
from foldline.agents.checkpoint import WorkspaceChanges as WorkspaceChanges
from foldline.agents.limits import AgentLimits as AgentLimits
from foldline.agents.limits import AgentResult as AgentResult
from foldline.agents.limits import AgentSpending as AgentSpending
from foldline.agents.loop import pinned_in as pinned_in
from foldline.agents.loop_detection import LoopSettings as LoopSettings
from foldline.agents.run_state import ContextCompacted as ContextCompacted
from foldline.agents.run_state import Event as Event
from foldline.agents.run_state import ModelAnswered as ModelAnswered
from foldline.agents.run_state import ModelRetried as ModelRetried
from foldline.agents.run_state import RunFinished as RunFinished
from foldline.agents.run_state import RunResumed as RunResumed
from foldline.agents.run_state import ToolCalled as ToolCalled
from foldline.agents.run_state import ToolReturned as ToolReturned
from foldline.agents.subagents import SubagentReport as SubagentReport
from foldline.agents.subagents import Subagents as Subagents

__all__: list[str]
