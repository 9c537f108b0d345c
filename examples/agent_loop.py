"""
An agent that fixes a file, delegates to a sub-agent, is interrupted and resumed.

    python examples/agent_loop.py

The model is a script on this machine. With a real one, the line that makes the client is
``model("anthropic:claude-sonnet-4-5")`` and nothing else changes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from foldline.agents import (
    Agent,
    AgentLimits,
    RunFinished,
    RunResumed,
    Subagents,
    ToolCalled,
    ToolReturned,
)
from foldline.models import Client, model
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer
from foldline.testing.scripted import CallTool as Call
from foldline.tools import CombinedToolset, Journal, ToolRegistry, Workspace, file_tools

TASK = "Move the server to the port that the operators want."
EDIT = {"path": "server.toml", "old_string": "port = 80", "new_string": "port = 48113"}
NOTE = {"action": "add", "category": "decision", "text": "The port is 48113.", "tags": ["port"]}

SCRIPT: list[Call | Answer] = [
    Call("delegate", {"task": "Find out in operators.md which port is wanted."}),
    # The sub-agent, in its own conversation:
    Call("read_file", {"path": "operators.md"}),
    Answer("The operators want port 48113 (operators.md, line 2)."),
    # The agent again:
    Call("read_file", {"path": "server.toml"}),
    # The program is stopped here, and the file changes meanwhile:
    Call("edit_file", EDIT),
    # The agent is notified, and reads it again:
    Answer("", (Call("read_file", {"path": "server.toml"}), Call("journal", NOTE))),
    Call("edit_file", EDIT),
    Answer("The server listens on port 48113 now."),
]


def agent_in(folder: Path, client: Client) -> Agent:
    """Return the agent with its tools; a second process would do the same."""
    project = folder / "project"
    registry = ToolRegistry([*file_tools(Workspace(project)), Journal(folder / "log.jsonl").tool])
    helpers = Subagents(client, registry, window=32_000)
    return Agent.open(
        folder / "agent.db",
        "move-the-server",
        client,
        CombinedToolset(registry, helpers.toolset),
        window=32_000,
        root=project,
        limits=AgentLimits(steps=20),
    )


def work(agent: Agent, task: str | None, stop_at: str = "") -> None:
    """Print the events of an agent; stop at a call, as if the program was killed."""
    for event in agent.stream(task):
        match event:
            case ToolCalled(call) if call.name == stop_at:
                sys.stdout.write("-- the program is stopped --\n")
                return
            case ToolReturned(call, output):
                sys.stdout.write(f"{call.name}: {output.text.splitlines()[0]}\n")
            case RunResumed(changes=changes):
                sys.stdout.write(f"-- resumed; meanwhile this changed: {changes} --\n")
            case RunFinished(result):
                sys.stdout.write(f"{result}\n")


def main() -> None:
    """Run the agent twice."""
    with tempfile.TemporaryDirectory() as name, ScriptedServer(SCRIPT) as server:
        folder = Path(name)
        config = folder / "project" / "server.toml"
        config.parent.mkdir()
        config.write_text('host = "localhost"\nport = 80\n', encoding="utf-8")
        (config.parent / "operators.md").write_text("# Wishes\nPort: 48113\n", encoding="utf-8")
        with model("openai:scripted", base_url=server.openai_url, api_key="any") as client:
            with agent_in(folder, client) as agent:
                work(agent, TASK, stop_at="edit_file")
            config.write_text('host = "0.0.0.0"\nport = 80\n', encoding="utf-8")
            with agent_in(folder, client) as agent:
                work(agent, None)
        sys.stdout.write(config.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
