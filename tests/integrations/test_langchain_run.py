"""The long run: many turns, a failure before every answer, with LangChain and LangGraph."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import RetryPolicy
from tests.integrations import agents
from tests.integrations.agents import Trouble
from tests.integrations.chat_models import anthropic_model, openai_model

from foldline import Config, Limits, Receipt
from foldline.integrations.langchain import Compressor, FoldlineMiddleware
from foldline.testing import ScriptedServer

read_file = tool(agents.read_file)

LIMITS = Limits(attempts=2)
CONFIG = Config(limits=LIMITS)


def agent_of(model: Any, middleware: FoldlineMiddleware) -> Any:
    retry = ModelRetryMiddleware(
        max_retries=2, on_failure="error", initial_delay=0, backoff_factor=0, jitter=False
    )
    return create_agent(
        model, [read_file], system_prompt=agents.SYSTEM, middleware=[retry, middleware]
    )


def check(
    trouble: Trouble,
    server: ScriptedServer,
    said: list[str],
    history: list[Any],
    receipts: Iterable[Receipt],
) -> None:
    agents.check_requests(server.requests)
    agents.check_words(said, [message.text for message in history if message.type == "human"])
    assert server.violations == () == server.errors
    assert trouble.larger == []
    spent = [receipt.spent.attempts for receipt in receipts]
    assert max(spent, default=0) <= LIMITS.attempts
    assert trouble.asked == sum(spent), "the receipts name every request to the summarizer"


@pytest.mark.slow
@pytest.mark.requirement("K38", "H8", "J7", "F07")
def test_a_langchain_agent_survives_many_turns_with_failures():
    trouble, history = Trouble(), list[Any]()
    with ScriptedServer(trouble, window=agents.WINDOW) as server:
        summarizer = openai_model(server, agents.SUMMARIZER)
        middleware = FoldlineMiddleware(window=agents.WINDOW, summarizer=summarizer, config=CONFIG)
        agent = agent_of(openai_model(server), middleware)

        def ask(text: str) -> str:
            given = {"messages": [*history, HumanMessage(text)]}
            history[:] = agent.invoke(given, {"recursion_limit": 60})["messages"]
            return str(history[-1].text)

        said = agents.run(ask)
        session = middleware.session("", history)
    check(trouble, server, said, history, session.receipts)
    agents.check_words(said, agents.words(session.messages))
    assert sum(r.status == "compacted" and r.reason != "repair" for r in session.receipts) > 10
    assert set(trouble.injected) == set(agents.FAULTS)


@pytest.mark.slow
@pytest.mark.requirement("K38", "H8", "J7")
def test_an_async_agent_survives_many_turns_with_failures():
    trouble, history = Trouble(), list[Any]()

    async def main() -> list[str]:
        agent = agent_of(anthropic_model(server), middleware)

        async def ask(text: str) -> str:
            given = {"messages": [*history, HumanMessage(text)]}
            history[:] = (await agent.ainvoke(given, {"recursion_limit": 60}))["messages"]
            return str(history[-1].text)

        return await agents.arun(ask, agents.FEWER)

    with ScriptedServer(trouble, window=agents.WINDOW) as server:
        summarizer = anthropic_model(server, agents.SUMMARIZER)
        middleware = FoldlineMiddleware(window=agents.WINDOW, summarizer=summarizer, config=CONFIG)
        said = asyncio.run(main())
        session = middleware.session("", history)
    check(trouble, server, said, history, session.receipts)
    agents.check_words(said, agents.words(session.messages))


@pytest.mark.slow
@pytest.mark.requirement("K38", "H8", "J7")
def test_a_langgraph_graph_survives_many_turns_with_failures():
    # Without overflows: a compressor does not get the model's errors.
    trouble = Trouble([kind for kind in agents.FAULTS if kind != "overflow"])
    history = list[Any]()
    with ScriptedServer(trouble, window=agents.WINDOW) as server:
        model = openai_model(server).bind_tools([read_file])
        compressor = Compressor(
            agents.WINDOW,
            summarizer=openai_model(server, agents.SUMMARIZER),
            config=CONFIG,
            tools=[agents.READ_FILE],
        )

        def call(state: MessagesState) -> dict[str, Any]:
            return {"messages": [model.invoke(compressor.hook(state)["llm_input_messages"])]}

        graph = _graph(call)

        def ask(text: str) -> str:
            given = {"messages": [*history, HumanMessage(text)]}
            history[:] = graph.invoke(given, {"recursion_limit": 60})["messages"]
            return str(history[-1].text)

        said = agents.run(ask, agents.FEWER)
        session = compressor.session(history)
    check(trouble, server, said, history, session.receipts)


def _graph(call: Callable[[MessagesState], dict[str, Any]]) -> Any:
    again = RetryPolicy(
        initial_interval=0, max_interval=0, jitter=False, retry_on=lambda _: True, max_attempts=3
    )
    graph = StateGraph(MessagesState)
    graph.add_node("model", call, retry_policy=again)
    graph.add_node("tools", ToolNode([read_file]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
    graph.add_edge("tools", "model")
    return graph.compile()


@pytest.mark.requirement("J7")
@pytest.mark.parametrize("kind", agents.FAULTS)
def test_every_kind_of_failure_at_every_position_is_survived(kind):
    trouble, history = Trouble([kind], summaries=[kind]), list[Any]()
    with ScriptedServer(trouble, window=agents.WINDOW) as server:
        summarizer = openai_model(server, agents.SUMMARIZER)
        middleware = FoldlineMiddleware(window=agents.WINDOW, summarizer=summarizer, config=CONFIG)
        agent = agent_of(openai_model(server), middleware)

        def ask(text: str) -> str:
            given = {"messages": [*history, HumanMessage(text)]}
            history[:] = agent.invoke(given, {"recursion_limit": 60})["messages"]
            return str(history[-1].text)

        said = agents.run(ask, turns=16)
        session = middleware.session("", history)
    check(trouble, server, said, history, session.receipts)
    assert trouble.injected.total() >= 30
    assert trouble.injected[kind]
