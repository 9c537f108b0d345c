"""
A tool-calling agent on the Anthropic SDK, in a short loop.

    pip install 'foldline[anthropic]'
    python examples/anthropic_loop.py

The session is stored on disk: run it twice with the same path, and it continues.

    python examples/anthropic_loop.py review.db
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import anthropic
from provider import QUESTIONS, SYSTEM, WINDOW, finish, provider, read_module, tell

from foldline import Session
from foldline.integrations.loop import send
from foldline.tools import Toolbox, recall_tool, tool_from_function


def main(path: Path) -> None:
    """Run the conversation."""
    with (
        provider("ANTHROPIC_API_KEY", "claude-haiku-4-5") as where,
        anthropic.Anthropic(api_key=where.key, base_url=where.url) as client,
        Session.open(path, "review", window=WINDOW, system=SYSTEM) as session,
    ):
        tools = Toolbox([tool_from_function(read_module), recall_tool(session)])
        session.surround(system=SYSTEM, tools=tools.schemas("anthropic"))
        for number, question in enumerate(QUESTIONS, 1):
            session.append({"role": "user", "content": question})
            tell(number, turn(client, where.model, session, tools), session)
        finish(session)


def turn(client: anthropic.Anthropic, model: str, session: Session, tools: Toolbox) -> str:
    """Call the model, and its tools, until it has answered."""
    while True:
        answer = send(
            session,
            lambda messages: client.messages.create(
                model=model,
                system=SYSTEM,
                messages=messages,
                tools=tools.schemas("anthropic"),
                max_tokens=700,
            ),
        )
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in answer.content if block.type == "text")
        results = [
            {
                "type": "tool_result",
                "tool_use_id": call.id,
                "content": tools.run(call.name, call.input).text,
            }
            for call in calls
        ]
        session.append({"role": "user", "content": results})


if __name__ == "__main__":
    if sys.argv[1:]:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder, "review.db"))
