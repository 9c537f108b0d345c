"""
An agent of the OpenAI Agents SDK whose session keeps everything and always fits the window.

    pip install 'foldline[openai-agents]'
    python examples/openai_agents_session.py [ARCHIVE]

With an archive, a SQLite file, the next run continues where this one ended.
"""

from __future__ import annotations

import asyncio
import sys

from agents import Agent, OpenAIResponsesModel, Runner, function_tool
from openai import AsyncOpenAI
from provider import QUESTIONS, SCREEN, SYSTEM, WINDOW, finish, provider, read_module, tell

from foldline.integrations.openai_agents import FoldlineSession, run_config


async def main(archive: str | None) -> None:
    """Run the conversation; without an archive it is kept in memory."""
    session = FoldlineSession("review", archive, window=WINDOW)
    with provider("OPENAI_API_KEY", "gpt-5-mini") as where:
        async with AsyncOpenAI(api_key=where.key, base_url=where.openai_url) as client:
            config = run_config(
                session, model=OpenAIResponsesModel(where.model, client), tracing_disabled=True
            )
            tools = [function_tool(read_module), *session.tools]
            agent = Agent("reviewer", instructions=SYSTEM, tools=tools)
            for number, question in enumerate(QUESTIONS, 1):
                result = await Runner.run(agent, question, session=session, run_config=config)
                tell(number, result.final_output, session.session)
    SCREEN.print(f"\nThe session holds all {len(session.session.messages)} items.")
    finish(session.session)
    session.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:2] or [None]))
