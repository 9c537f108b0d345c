"""
Agents that an agent may send: each with a session, a budget and permissions of its own.

    helpers = Subagents(model, registry, window=128_000)
    agent = Agent(session, model, CombinedToolset(registry, helpers.toolset))

What a sub-agent reads stays in its session. What comes back is a report of bounded length.
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
"""What one sub-agent may spend, unless told otherwise."""

DELEGATE: Final = describe_tool("delegate", "foldline.agents")
SYSTEM: Final[str] = read_tables("foldline.agents", "prompts.toml")["subagent"]["system"]


@frozen
class SubagentReport:
    """
    What a sub-agent brings back.

    ``findings`` are its last words, their end where they are too long. ``session`` is the name of
    its session; ``usd`` is in US dollars as far as known, ``tokens`` what was read and written.
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
        """The report as the agent that asked for it reads it."""
        why = f" because {self.note}" if self.note else ""
        head = f"[The sub-agent ended with the status {self.status!r}{why}, {self.steps} steps.]"
        return f"{head}\n{self.findings or 'It said nothing.'}"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


class Subagents:
    """
    Sends agents, and is the tool ``delegate`` with which a model does.

    Args:
        model: Who answers for them.
        tools: The tools of the agent that sends them.
        permissions: What they may use of these. They never get ``delegate`` itself this way.
        store: Where their sessions are kept; default in memory, until the program ends.
        window: Of the model, in tokens, where the catalogue of models does not know it.
        limits: The most that one of them may spend.
        depth: How deep they may send others: 1 for not at all.
        longest: Characters of the findings.
        system: Their system prompt.

    Raises:
        BudgetError: A number makes no sense.
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
        for _ in range(depth - 1):  # each can send one that can send less deep
            self.tools = CombinedToolset(view, copy(self).toolset)

    @property
    def toolset(self) -> ToolRegistry:
        """The tool ``delegate`` as a set; a call may take as long as a sub-agent."""
        registry = ToolRegistry()
        registry.add(self.tool, seconds=self._limits.seconds + 60.0)
        return registry

    @property
    def tool(self) -> Tool:
        """The tool ``delegate``."""
        # What a sub-agent may do is what calling it may do, also later.
        labels = {label for tool in self.tools for label in tool.labels or {"write"}}
        allowed = {*DELEGATE.labels, *labels, *self._allowed}

        async def act(given: dict[str, Any]) -> ToolOutput:
            return await self._output(given["task"])

        described = replace(DELEGATE, labels=tuple(allowed))
        return described.tool(lambda given: run_blocking(act(given)), act)

    def run(self, task: str) -> SubagentReport:
        """
        Send an agent, and return its report.

        Args:
            task: What it is to do; it sees nothing else.

        Raises:
            FoldlineError: The model gives no answer, or the task does not fit its window.
        """
        return run_blocking(self.arun(task))

    async def arun(self, task: str) -> SubagentReport:
        """Send an agent; see `run`. A cancellation ends it."""
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
    """Return the end of a text, from the beginning of a line where one is near."""
    if len(text) <= longest:
        return text
    note = "[… the beginning was left out …]\n"
    end = text[len(text) - max(1, longest - len(note)) :]
    line = end.find("\n", 0, len(end) // 4)
    return note + end[line + 1 :]
