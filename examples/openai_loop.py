"""
A tool-calling agent on the OpenAI SDK, in a short loop.

    pip install 'foldline[openai]'
    python examples/openai_loop.py

Only the session is needed: append the messages, send the view. `send`
makes the call, retries once with less if it was too long, and appends the answer.
"""

from __future__ import annotations

import openai
from provider import QUESTIONS, SYSTEM, WINDOW, finish, provider, read_module, tell

from foldline import Session
from foldline.integrations.loop import send
from foldline.stores.memory import MemoryStore
from foldline.tools import Toolbox, recall_tool, tool_from_function


def main() -> None:
    """Run the conversation."""
    with (
        provider("OPENAI_API_KEY", "gpt-5-mini") as where,
        openai.OpenAI(api_key=where.key, base_url=where.openai_url) as client,
        # With a path in place of None, the session is kept on disk.
        Session.open(None, "review", store=MemoryStore(), window=WINDOW) as session,
    ):
        tools = Toolbox([tool_from_function(read_module), recall_tool(session)])
        session.surround(tools=tools.schemas("openai-chat"))
        session.append({"role": "system", "content": SYSTEM})
        for number, question in enumerate(QUESTIONS, 1):
            session.append({"role": "user", "content": question})
            tell(number, turn(client, where.model, session, tools), session)
        finish(session)


def turn(client: openai.OpenAI, model: str, session: Session, tools: Toolbox) -> str:
    """Call the model, and its tools, until it has answered."""
    while True:
        answer = send(
            session,
            lambda messages: client.chat.completions.create(
                model=model, messages=messages, tools=tools.schemas("openai-chat")
            ),
        )
        message = answer.choices[0].message
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            output = tools.run(call.function.name, call.function.arguments)
            session.append({"role": "tool", "tool_call_id": call.id, "content": output.text})


if __name__ == "__main__":
    main()
