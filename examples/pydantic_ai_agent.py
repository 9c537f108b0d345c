"""
A Pydantic AI agent that always fits its window.

    pip install 'foldline[pydantic-ai,openai]'
    python examples/pydantic_ai_agent.py

One capability is enough: the message history keeps everything, the model sees what fits.
"""

from __future__ import annotations

import asyncio

from openai import AsyncOpenAI
from provider import QUESTIONS, SCREEN, SYSTEM, WINDOW, finish, provider, read_module, tell
from pydantic_ai import Agent, ModelMessage
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from foldline.integrations.pydantic_ai import FoldlineHistory


async def main() -> None:
    """Run the conversation."""
    with (
        provider("OPENAI_API_KEY", "gpt-5-mini") as where,
        FoldlineHistory(window=WINDOW) as history,
    ):
        async with AsyncOpenAI(api_key=where.key, base_url=where.openai_url) as client:
            model = OpenAIChatModel(where.model, provider=OpenAIProvider(openai_client=client))
            agent = Agent(model, instructions=SYSTEM, tools=[read_module], capabilities=[history])
            messages: list[ModelMessage] = []
            for number, question in enumerate(QUESTIONS, 1):
                result = await agent.run(
                    question, message_history=messages, conversation_id="review"
                )
                messages = result.all_messages()
                tell(number, result.output, history.session("review"))
        SCREEN.print(f"\nThe history of the agent holds all {len(messages)} messages.")
        finish(history.session("review"))


if __name__ == "__main__":
    asyncio.run(main())
