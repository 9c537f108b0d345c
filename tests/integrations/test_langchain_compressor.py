from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition
from tests.integrations import agents
from tests.integrations.chat_models import openai_model

import foldline
from foldline import Ask, BudgetError, Config, InputError, policy
from foldline.formats.registry import dialect
from foldline.integrations.langchain import Compressor
from foldline.testing import ScriptedServer

WINDOW = 4_000

read_file = tool(agents.read_file)


def turn(number: int, words: int = 60) -> list[BaseMessage]:
    call = {"name": "read", "args": {"path": f"src/part_{number}.py"}, "id": f"c{number}"}
    return [
        HumanMessage(f"Look at part {number}."),
        AIMessage("", tool_calls=[call]),
        ToolMessage(f"VALUE_{number} " * words, tool_call_id=f"c{number}"),
        AIMessage(f"Part {number} is fine."),
    ]


def conversation(turns: int) -> list[BaseMessage]:
    start: list[BaseMessage] = [SystemMessage("You mend builds.")]
    return start + [message for number in range(turns) for message in turn(number)]


def compressed(compressor: Compressor, messages: list[Any]) -> tuple[list[Any], bool]:
    return asyncio.run(compressor.compress(messages))


ways = pytest.mark.parametrize("compress", [compressed, Compressor.compress_blocking])
Way = Callable[[Compressor, list[Any]], tuple[list[Any], bool]]


@ways
@pytest.mark.requirement("K41")
def test_a_history_below_the_threshold_is_returned_as_the_same_object(compress: Way):
    messages = conversation(4)
    same, changed = compress(Compressor(64_000), messages)
    assert same is messages
    assert changed is False


@ways
@pytest.mark.requirement("G1", "G2", "G3")
def test_above_the_threshold_the_newest_part_is_kept_and_every_call_keeps_its_result(
    compress: Way,
):
    messages = conversation(40)
    shown, changed = compress(Compressor(WINDOW), messages)
    assert changed is True
    assert len(shown) < len(messages) / 2
    assert dialect("langchain").validate(shown) == []
    assert shown[0] is messages[0]
    assert shown[1].content == messages[1].content
    assert shown[-1] is messages[-1]
    assert len(messages) == 161, "the list that came in is untouched"


@pytest.mark.requirement("G1")
def test_threshold_and_preserved_fraction_can_be_set():
    messages = conversation(14)
    _, early = compressed(Compressor(8_000, threshold=0.2, preserve=0.1), messages)
    _, late = compressed(Compressor(8_000, threshold=0.9), messages)
    assert (early, late) == (True, False)
    kept = [
        sum(any(m is message for m in messages) for message in compressed(c, messages)[0])
        for c in (
            Compressor(4_000, threshold=0.3, preserve=0.1),
            Compressor(4_000, threshold=0.3, preserve=0.5),
        )
    ]
    assert kept[0] < kept[1]


@pytest.mark.requirement("G3")
def test_a_single_turn_of_many_tool_calls_is_split_inside():
    messages: list[BaseMessage] = [HumanMessage("Check all parts.")]
    for number in range(40):
        messages += turn(number)[1:3]
    shown, changed = compressed(Compressor(WINDOW), messages)
    assert changed
    assert shown[0].content == "Check all parts."
    assert 2 < len(shown) < len(messages)
    assert dialect("langchain").validate(shown) == []


@pytest.mark.requirement("G4", "G5")
def test_the_snapshot_identifies_itself_and_attributes_nothing_to_the_model():
    messages = conversation(40)
    shown, _ = compressed(Compressor(WINDOW), messages)
    made = [m for m in shown if m.type in ("human", "ai") and m.content not in _texts(messages)]
    assert [message.type for message in made] == ["human"]
    assert "not by the user" in made[0].text
    assert "src/part_3" in made[0].text


def _texts(messages: list[BaseMessage]) -> set[str]:
    return {str(message.content) for message in messages}


# --- cost of a growing history -------------------------------------------------------------


class Counting:
    """A summarizer that counts its requests."""

    def __init__(self, answer: str = "All parts up to here are fine.") -> None:
        self.answer, self.asked = answer, 0

    def __call__(self, _: Ask) -> str:
        self.asked += 1
        return self.answer


@pytest.mark.requirement("G6", "K41")
@pytest.mark.parametrize("going_on_with", ["the whole history", "what came back"])
def test_nothing_is_compressed_and_paid_for_twice(going_on_with):
    summarizer = Counting()
    compressor = Compressor(WINDOW, summarizer=summarizer)
    history, working, changes = conversation(0), conversation(0), 0
    for number in range(60):
        history += turn(number)
        working += turn(number)
        given = working if going_on_with == "what came back" else list(history)
        asked = summarizer.asked
        shown, changed = compressed(compressor, given)
        assert dialect("langchain").validate(shown) == []
        again, _ = compressed(compressor, given)
        assert [m.content for m in again] == [m.content for m in shown]
        if going_on_with == "what came back":
            assert (shown is given) is not changed
            same, changed_again = compressed(compressor, shown)
            assert same is shown
            assert changed_again is False
            working = list(shown)
        changes += summarizer.asked > asked
    assert 2 <= changes <= 15, "compressed once a threshold, not once a turn"
    assert summarizer.asked <= 2 * changes


@pytest.mark.requirement("G6")
@pytest.mark.parametrize("answer", ["", "word " * 20_000, "I'm sorry, I can't help with that."])
def test_an_unusable_summary_does_not_enlarge_the_history(answer):
    messages = conversation(40)
    shown, changed = compressed(Compressor(WINDOW, summarizer=Counting(answer)), messages)
    assert changed
    assert sum(len(str(m.content)) for m in shown) < sum(len(str(m.content)) for m in messages)
    assert not any(answer and answer[:50] in str(m.content) for m in shown)


def test_two_conversations_with_one_compressor_do_not_mix():
    compressor = Compressor(WINDOW)
    for _ in range(3):
        for name in ("red", "blue"):
            messages = conversation(40)
            messages[0] = SystemMessage(f"You mend {name} builds.")
            shown, changed = compressed(compressor, messages)
            assert changed
            assert shown[0] is messages[0]


def test_the_thread_of_a_run_names_the_conversation():
    compressor = Compressor(WINDOW, conversations=1)
    messages = conversation(40)
    config = {"configurable": {"thread_id": "t"}}
    shown, _ = asyncio.run(compressor.compress(messages, config))
    # Another first message, but the same thread: a branch of the same conversation.
    later = [SystemMessage("You mend bridges."), *messages[1:]]
    branch, changed = asyncio.run(compressor.compress(later, config))
    assert changed
    assert branch[0] is later[0]
    assert len(branch) == len(shown)


@pytest.mark.parametrize("options", [{"threshold": 0.0}, {"threshold": 1.5}, {"preserve": -0.1}])
def test_a_fraction_out_of_range_is_rejected(options):
    with pytest.raises(BudgetError):
        Compressor(WINDOW, **options)


@pytest.mark.parametrize(
    "options", [{"summarizer": "same"}, {"config": Config(summarizer="same")}]
)
def test_a_compressor_without_a_model_names_the_alternative(options):
    with pytest.raises(InputError, match="A compressor has no model object") as caught:
        Compressor(WINDOW, **options)
    assert "summarizer=model" in caught.value.hint


def test_any_policy_can_be_used_instead():
    messages = conversation(40)
    shown, changed = compressed(Compressor(WINDOW, policy=policy("window")), messages)
    assert changed
    assert all(any(m is message for m in messages) for message in shown)


# --- in a graph ----------------------------------------------------------------------------


def model_of(server: ScriptedServer) -> Any:
    return openai_model(server).bind_tools([read_file])


def graph_of(call: Any) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("model", call)
    graph.add_node("tools", ToolNode([read_file]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=InMemorySaver())


def asking(graph: Any) -> Callable[[str], str]:
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": 60}

    def ask(text: str) -> str:
        state = graph.invoke({"messages": [HumanMessage(text)]}, config)
        return str(state["messages"][-1].text)

    return ask


@pytest.mark.requirement("K38", "K41")
def test_a_graph_node_sends_a_view_that_fits_and_the_state_keeps_everything():
    with ScriptedServer(agents.model, window=agents.WINDOW) as server:
        model, compressor = model_of(server), Compressor(agents.WINDOW)

        def call(state: MessagesState) -> dict[str, Any]:
            seen = compressor.hook(state)["llm_input_messages"]
            return {"messages": [model.invoke(seen)]}

        graph = graph_of(call)
        said = agents.run(asking(graph), turns=30)
        state = graph.get_state({"configurable": {"thread_id": "t"}}).values["messages"]
    assert server.violations == ()
    agents.check_requests(server.requests)
    agents.check_words(said, [m.text for m in state if m.type == "human"])
    sizes = [len(request.messages) for request in server.requests]
    assert sum(later < earlier for earlier, later in pairwise(sizes)) >= 3


@pytest.mark.requirement("K38")
def test_a_graph_may_keep_the_compressed_list_instead_of_the_history():
    with ScriptedServer(agents.model, window=agents.WINDOW) as server:
        model, compressor = model_of(server), Compressor(agents.WINDOW)

        async def call(state: MessagesState) -> dict[str, Any]:
            shown, changed = await compressor.compress(state["messages"])
            answer = await model.ainvoke(shown)
            if not changed:
                return {"messages": [answer]}
            return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *shown, answer]}

        async def main() -> list[Any]:
            graph = graph_of(call)
            config = {"configurable": {"thread_id": "t"}, "recursion_limit": 60}

            async def ask(text: str) -> str:
                state = await graph.ainvoke({"messages": [HumanMessage(text)]}, config)
                return str(state["messages"][-1].text)

            await agents.arun(ask, turns=30)
            return list(graph.get_state(config).values["messages"])

        state = asyncio.run(main())
    assert server.violations == ()
    agents.check_requests(server.requests)
    assert len(state) < 120, "the state itself was compressed"


@pytest.mark.requirement("K38")
@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
@pytest.mark.parametrize("hook", ["hook", "ahook"])
def test_the_compressor_is_a_pre_model_hook(hook):
    with ScriptedServer(agents.model, window=agents.WINDOW) as server:
        model = openai_model(server)
        compressor = Compressor(WINDOW)
        agent = create_react_agent(
            model, [read_file], pre_model_hook=getattr(compressor, hook), version="v1"
        )
        history: list[Any] = []

        async def ask(text: str) -> str:
            state = await agent.ainvoke({"messages": [*history, HumanMessage(text)]})
            history[:] = state["messages"]
            return str(history[-1].text)

        said = asyncio.run(agents.arun(ask, turns=11))
        compacted = [r for r in compressor.session(history).receipts if r.edits]
        compressor.close()
    assert server.violations == ()
    assert compacted
    agents.check_requests(server.requests)
    agents.check_words(said, [message.text for message in history if message.type == "human"])


def test_the_tool_of_a_compressor_recalls_its_graphs_conversation():
    compressor = Compressor(WINDOW)
    messages = conversation(40)
    thread: Any = {"configurable": {"thread_id": "t"}}
    compressor.compress_blocking(messages, thread)
    handle = compressor.session(messages, thread).messages[1].id[:8]
    call = {"name": "recall", "args": {"handle": handle, "query": "part"}, "id": "r1"}
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(compressor.tools))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)

    history = [*messages, AIMessage("", tool_calls=[call])]
    state = graph.compile().invoke({"messages": history}, thread)

    assert "Look at part 0." in state["messages"][-1].content


@ways
@pytest.mark.parametrize("preserve", [0.2, 0.3])
def test_the_newest_fraction_is_kept_verbatim_in_a_history_of_four_windows(
    compress: Way, preserve: float
):
    messages = conversation(100)
    compressor = Compressor(WINDOW, preserve=preserve)
    shown, changed = compress(compressor, messages)
    assert changed
    whole = foldline.count(messages)
    assert whole > 4 * WINDOW
    kept = [message for message in shown if any(message is one for one in messages[2:])]
    assert foldline.count(kept) > 0.8 * preserve * WINDOW * 0.8
    tail = messages[-len(kept) :]
    assert all(one is other for one, other in zip(kept, tail, strict=True))
    assert foldline.count(shown) < WINDOW
