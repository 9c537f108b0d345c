"""
An agent with its own tools and those of a session, talking to a scripted model on this machine.

    pip install 'foldline[openai]'
    python examples/tools_loop.py

The model reads a file, sets its to-do list, works until the window is half full, and asks for a
compaction itself. What it sees afterwards is printed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from openai import OpenAI

from foldline import Config, Session
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer
from foldline.testing.scripted import CallTool as Call
from foldline.tools import TodoTool, Tool, Toolbox, ToolOutput, session_tools

TODO = [
    {"content": "Find the port", "status": "completed"},
    {"content": "Move the server to it", "status": "in_progress"},
    {"content": "Run the tests", "status": "pending"},
]
SCRIPT: list[Call | Answer] = [
    Call("read_file", {"path": "server.toml"}),
    Call("todo_write", {"todos": TODO}),
    *[Call("run_tests", {"part": number}) for number in range(8)],
    Call("compact", {"focus": "the port"}),
    Answer("The tests of all parts have run."),
]


def tools_of(root: Path) -> list[Tool]:
    """Return a tool that reads files, and one with far too much output."""

    def read(given: dict[str, Any]) -> ToolOutput:
        return ToolOutput((root / Path(given["path"]).name).read_text(encoding="utf-8"))

    def test(given: dict[str, Any]) -> ToolOutput:
        return ToolOutput(f"part {given['part']}: passed, one more line of the log\n" * 120)

    path = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    part = {"type": "object", "properties": {"part": {"type": "integer"}}, "required": ["part"]}
    return [
        Tool("read_file", "Read a file.", path, read),
        Tool("run_tests", "Run the tests of a part.", part, test),
    ]


def talk(client: OpenAI, session: Session, tools: Toolbox) -> None:
    """Call the model, and run its tool calls, until there are none."""
    while True:
        answer = client.chat.completions.create(
            model="scripted",
            messages=session.view(),
            tools=tools.schemas("openai-chat"),  # type: ignore[arg-type]  # plain dictionaries
        )
        message = answer.choices[0].message
        session.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return
        for call in message.tool_calls:
            assert call.type == "function"  # noqa: S101  # no other kind is offered
            output = tools.run(call.function.name, call.function.arguments)
            result = {"role": "tool", "tool_call_id": call.id, "content": output.text}
            session.append(result)


def main() -> None:
    """Run the agent, and print the last view of the model."""
    with tempfile.TemporaryDirectory() as folder, ScriptedServer(SCRIPT) as server:
        root = Path(folder)
        (root / "server.toml").write_text('host = "localhost"\nport = 48113\n', encoding="utf-8")
        config = Config().replace(files={"root": folder})
        client = OpenAI(base_url=server.openai_url, api_key="any")
        with Session.open(root / "agent.db", "demo", window=24_000, config=config) as session:
            todos = TodoTool(root / "todo.json")
            tools = Toolbox([*tools_of(root), todos.tool, *session_tools(session)])
            session.append({"role": "user", "content": "Move the server to the right port."})
            talk(client, session, tools)
            lines = [*map(str, session.receipts), f"to do: {todos.recap}"]
            lines += [f"{m['role']}: {m.get('content')}" for m in session.view()]
            sys.stdout.write("\n\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
