"""Fixtures for agents: a local model, and tools that record their calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foldline.agents import Agent
from foldline.models import Client, model
from foldline.testing import ScriptedServer
from foldline.tools import Tool, ToolOutput

FORMATS = {"openai-chat": "openai_url", "openai-responses": "openai_url", "anthropic": "url"}

ANY: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": True}


@contextmanager
def talking(
    script: Any, wire: str = "openai-chat", **options: Any
) -> Iterator[tuple[ScriptedServer, Client]]:
    """Yield a server that plays a script, and a model that talks to it."""
    with ScriptedServer(script, **options) as server:
        url = getattr(server, FORMATS[wire])
        with model(f"{wire}:scripted", base_url=url, api_key="any") as client:
            yield server, client


@contextmanager
def agent_in(folder: Path, client: Client, tools: Any = (), **options: Any) -> Iterator[Agent]:
    """Yield an agent whose archive is in a folder."""
    options = {"window": 16_000} | options
    with Agent.open(folder / "agent.db", "task", client, tools, **options) as agent:
        yield agent


class Counted:
    """A tool that records the arguments of its runs."""

    def __init__(self, name: str, *labels: str, text: str = "fine") -> None:
        self.name, self.labels, self.text = name, labels, text
        self.runs: list[dict[str, Any]] = []

    @property
    def tool(self) -> Tool:
        return Tool(self.name, "A tool.", ANY, self._run, labels=frozenset(self.labels))

    def _run(self, given: dict[str, Any]) -> ToolOutput:
        self.runs.append(given)
        return ToolOutput(self.text)


def texts(agent: Agent) -> list[str]:
    """Return the texts of the messages of an agent, including results."""
    return [
        message.text or " ".join(result.text for result in message.results)
        for message in agent.session.messages
    ]
