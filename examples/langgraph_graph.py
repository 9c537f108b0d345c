"""
A graph of LangGraph whose model node sees what fits, while its state keeps everything.

    pip install 'foldline[langchain]' langchain-openai
    python examples/langgraph_graph.py
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from provider import QUESTIONS, SYSTEM, WINDOW, Provider, finish, provider, read_module, tell

from foldline.integrations.langchain import Compressor


def main() -> None:
    """Run the conversation."""
    with provider("OPENAI_API_KEY", "gpt-5-mini") as where:
        compressor = Compressor(WINDOW, threshold=0.7, preserve=0.3, system=SYSTEM)
        graph = graph_of(where, compressor)
        config = {"configurable": {"thread_id": "review"}}
        for number, question in enumerate(QUESTIONS, 1):
            given = {"messages": [{"role": "user", "content": question}]}
            messages = graph.invoke(given, config)["messages"]
            tell(number, messages[-1].text, compressor.session(messages))
        finish(compressor.session(messages))
        compressor.close()


def graph_of(where: Provider, compressor: Compressor) -> Any:
    """Build the graph: the model, its tools, and back."""
    tools = [tool(read_module), *compressor.tools]  # with recall
    model = ChatOpenAI(model=where.model, api_key=where.key, base_url=where.openai_url)
    bound = model.bind_tools(tools)

    def call(state: MessagesState) -> dict[str, Any]:
        view, _ = compressor.compress_blocking(state["messages"])
        return {"messages": [bound.invoke([SystemMessage(SYSTEM), *view])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", call)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=InMemorySaver())


if __name__ == "__main__":
    main()
