"""
Sub-agents that an agent may start, each with its own session, budget and permissions.

    subagents = Subagents(model, registry, window=128_000)
    agent = Agent(session, model, CombinedToolset(registry, subagents.toolset))

The messages of a sub-agent stay in its session; its report is bounded in length.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from copy import copy
from typing import Any, Final

from foldline.agents.agent import Agent
from foldline.agents.limits import AgentLimits, Status
from foldline.agents.run_state import ChatModel
from foldline.concurrency import run_blocking
from foldline.core.validation import whole
from foldline.errors import FoldlineError
from foldline.frozen import fields, frozen, replace
from foldline.redaction import redact_json
from foldline.session import Session
from foldline.stores.memory import MemoryStore
from foldline.stores.protocol import Store
from foldline.tools.description import describe_tool, read_tables
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.output import Status as OutputStatus
from foldline.tools.permissions import READ_ONLY, Permissions, ToolView
from foldline.tools.registry import ToolRegistry
from foldline.tools.spec import Tool
from foldline.tools.toolset import CombinedToolset, Toolset

LIMITS: Final = AgentLimits(steps=25, seconds=900.0)
"""The default limits of one sub-agent."""

DELEGATE: Final = describe_tool("delegate", "foldline.agents")
SYSTEM: Final[str] = read_tables("foldline.agents", "prompts.toml")["subagent"]["system"]


@frozen
class SubagentReport:
    """
    The report of a sub-agent.

    ``findings`` is its last message, only the end of it if it is too long. ``session`` is the
    name of its session; ``usd`` is in US dollars as far as known, ``tokens`` counts input and
    output.
    """

    status: Status
    findings: str
    session: str
    steps: int = 0
    calls: int = 0
    usd: float = 0.0
    tokens: int = 0
    note: str = ""

    @property
    def text(self) -> str:
        """The report as text for the calling agent."""
        why = f" because {self.note}" if self.note else ""
        head = f"[The sub-agent ended with the status {self.status!r}{why}, {self.steps} steps.]"
        return f"{head}\n{self.findings or 'It returned no text.'}"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


class Subagents:
    """
    Runs sub-agents, and provides the tool ``delegate`` with which a model starts them.

    Args:
        model: The model of the sub-agents.
        tools: The tools of the calling agent.
        permissions: The subset of these they may use; it never includes ``delegate`` itself.
        store: The store of their sessions; default in memory, until the program ends.
        window: The context window in tokens, for a model that is not in the catalogue.
        limits: Limits on the spending of one sub-agent.
        depth: How deep sub-agents nest: 1 if they may not start others.
        longest: The maximum length of the findings in characters.
        system: The system prompt of the sub-agents.

    Raises:
        BudgetError: A number is out of range.
    """

    def __init__(
        self,
        model: ChatModel,
        tools: Toolset | Iterable[Tool],
        *,
        permissions: Permissions = READ_ONLY,
        store: Store | None = None,
        window: int | None = None,
        limits: AgentLimits = LIMITS,
        depth: int = 1,
        longest: int = 6_000,
        system: str = SYSTEM,
    ) -> None:
        whole("depth", depth, 1)
        whole("longest", longest, 200)
        given = tools if isinstance(tools, Toolset) else ToolRegistry(tools)
        denied = {*permissions.deny, DELEGATE.name}
        allowed = Permissions(permissions.labels, allow=permissions.allow, deny=denied)
        view = ToolView(given, allowed)
        self.tools: Toolset = view
        self._model, self._system = model, system
        self._allowed = permissions.labels
        self._store = MemoryStore() if store is None else store
        self._window, self._limits, self._longest = window, limits, longest
        for _ in range(depth - 1):  # each level can start one that nests less deep
            self.tools = CombinedToolset(view, copy(self).toolset)

    @property
    def toolset(self) -> ToolRegistry:
        """The tool ``delegate`` as a toolset; a call may take as long as a sub-agent runs."""
        registry = ToolRegistry()
        registry.add(self.tool, seconds=self._limits.seconds + 60.0)
        return registry

    @property
    def tool(self) -> Tool:
        """The tool ``delegate``."""
        # The labels of a sub-agent's tools are labels of this tool, also later.
        labels = {label for tool in self.tools for label in tool.labels or {"write"}}
        allowed = {*DELEGATE.labels, *labels, *self._allowed}

        async def act(given: dict[str, Any]) -> ToolOutput:
            return await self._output(given["task"])

        described = replace(DELEGATE, labels=tuple(allowed))
        return described.tool(lambda given: run_blocking(act(given)), act)

    def run(self, task: str) -> SubagentReport:
        """
        Run a sub-agent, and return its report.

        Args:
            task: The task; the sub-agent sees nothing else.

        Raises:
            FoldlineError: The model gives no answer, or the task does not fit its window.
        """
        return run_blocking(self.arun(task))

    async def arun(self, task: str) -> SubagentReport:
        """Run a sub-agent; see `run`. Cancellation ends it."""
        name = f"sub-agent-{secrets.token_hex(8)}"
        model = self._model
        session = Session.open(
            None,
            name,
            format=model.dialect,
            model=getattr(model, "name", None),
            store=self._store,
            window=self._window,
        )
        async with session:
            agent = Agent(session, model, self.tools, system=self._system, limits=self._limits)
            result = await agent.arun(task)
        spent = result.spending
        return SubagentReport(
            status=result.status,
            findings=tail(result.text.strip(), self._longest),
            session=name,
            steps=spent.steps,
            calls=spent.calls,
            usd=spent.usd,
            tokens=spent.input_tokens + spent.output_tokens,
            note=result.note,
        )

    async def _output(self, task: str) -> ToolOutput:
        try:
            report = await self.arun(task)
        except FoldlineError as error:
            message = f"The sub-agent failed: {redact_json(str(error))}"
            return ToolOutput.error(ErrorCode.EXECUTION, message)
        stats = {"usd": report.usd, "tokens": report.tokens, "steps": report.steps}
        status: OutputStatus = "success" if report.status == "done" else "partial"
        return ToolOutput(report.text, status, data=report.to_dict(), stats=stats)


def tail(text: str, longest: int) -> str:
    """Return the end of a text, from the start of a line if one is near."""
    if len(text) <= longest:
        return text
    note = "[… the beginning was omitted …]\n"
    end = text[len(text) - max(1, longest - len(note)) :]
    line = end.find("\n", 0, len(end) // 4)
    return note + end[line + 1 :]
