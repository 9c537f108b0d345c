"""
A LangChain agent that always fits its window.

    pip install 'foldline[langchain]' langchain-openai
    python examples/langchain_agent.py

One middleware is enough: the state of the agent keeps every message, its model sees what fits.
"""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from provider import QUESTIONS, SCREEN, SYSTEM, WINDOW, finish, provider, read_module, tell

from foldline.integrations.langchain import FoldlineMiddleware


def main() -> None:
    """Run the conversation."""
    with provider("OPENAI_API_KEY", "gpt-5-mini") as where:
        middleware = FoldlineMiddleware(window=WINDOW)
        agent = create_agent(
            ChatOpenAI(model=where.model, api_key=where.key, base_url=where.openai_url),
            [tool(read_module)],
            system_prompt=SYSTEM,
            middleware=[middleware],
            checkpointer=InMemorySaver(),
        )
        config = {"configurable": {"thread_id": "review"}}
        for number, question in enumerate(QUESTIONS, 1):
            given = {"messages": [{"role": "user", "content": question}]}
            state = agent.invoke(given, config)
            tell(number, state["messages"][-1].text, middleware.session("review"))
        SCREEN.print(f"\nThe state of the agent holds all {len(state['messages'])} messages.")
        finish(middleware.session("review"))
        middleware.close()


if __name__ == "__main__":
    main()
