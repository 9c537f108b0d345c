from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from tests.integrations import agents
from tests.integrations.chat_models import chat_model
from tests.integrations.summarizing import check_own_accounts, one_model

from foldline import Ask, BudgetError, Config, ContextOverflow, StoreError
from foldline.archive import Archive
from foldline.integrations.langchain import ChatModelSummarizer, FoldlineMiddleware
from foldline.integrations.langchain.runs import conversation_name, run_name
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer, CallTool, Capped, Nothing, Overflow, ReceivedRequest

PROVIDERS = ("openai", "anthropic")

read_file = tool(agents.read_file)


def agent_of(model: Any, *middleware: Any, **options: Any) -> Any:
    return create_agent(
        model, [read_file], system_prompt=agents.SYSTEM, middleware=middleware, **options
    )


Asks = Callable[[str], str]


def asking(agent: Any, thread: str | None = None) -> tuple[Asks, Callable[[], list[Any]]]:
    """Return functions that query an agent and return its history, kept in a thread if given."""
    config = {"configurable": {"thread_id": thread}, "recursion_limit": 50}
    history: list[Any] = []

    def ask(text: str) -> str:
        before = [] if thread else history
        state = agent.invoke({"messages": [*before, HumanMessage(text)]}, config)
        history[:] = state["messages"]
        return history[-1].text

    return ask, lambda: list(history)


def user_texts(history: list[Any]) -> list[str]:
    return [message.text for message in history if message.type == "human"]


class Seen(AgentMiddleware[Any, Any, Any]):
    """Records the messages of every request to the model."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[Any] = []

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        self.requests.append(request)
        return handler(request)


# --- the run -------------------------------------------------------------------------------


@pytest.mark.requirement("K38", "K41", "H8")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_agent_passes_the_threshold_repeatedly_and_loses_nothing(provider):
    with ScriptedServer(agents.model, window=agents.WINDOW) as server:
        middleware = FoldlineMiddleware(window=agents.WINDOW)
        agent = agent_of(chat_model(provider, server), middleware, checkpointer=InMemorySaver())
        ask, history = asking(agent, "thread-1")
        said = agents.run(ask, turns=30)
        session = middleware.session("thread-1")
        compacted = [receipt for receipt in session.receipts if receipt.status == "compacted"]
        agents.check_words(said, agents.words(session.messages))
        # The last answer is appended with the next question.
        assert len(session.messages) == len(history()) - 1
    assert len(compacted) >= 3
    assert server.violations == () == server.errors
    agents.check_requests(server.requests)
    # The state of the graph is the whole, untouched history.
    agents.check_words(said, user_texts(history()))
    results = [message for message in history() if message.type == "tool"]
    assert {m.content for m in results} == {
        agents.read_file(path) for turn in range(30) for r in agents.files_of(turn) for path in r
    }


@pytest.mark.requirement("K41")
def test_while_everything_fits_the_model_gets_the_original_request():
    outer, inner = Seen(), Seen()
    outer_name = type("Outer", (Seen,), {})
    outer = outer_name()
    with ScriptedServer(agents.model) as server:
        agent = agent_of(chat_model("openai", server), outer, FoldlineMiddleware(), inner)
        ask, _ = asking(agent)
        agents.run(ask, turns=3)
    assert len(outer.requests) > 3
    assert all(map(_is, outer.requests, inner.requests))


def _is(left: object, right: object) -> bool:
    return left is right


@pytest.mark.requirement("K41")
def test_messages_kept_by_a_compaction_are_the_objects_of_the_state():
    inner = Seen()
    with ScriptedServer(agents.model) as server:
        middleware = FoldlineMiddleware(window=4_000)
        ask, history = asking(agent_of(chat_model("openai", server), middleware, inner))
        agents.run(ask, turns=14)
    sent = inner.requests[-1].messages
    assert len(sent) < len(history())
    said = {message.id: message for message in history()}
    others = [m for m in sent if said.get(m.id) is not m]
    assert 0 < len(others) < len(sent) / 2
    assert all(m.id not in said or m.content != said[m.id].content for m in others)
    assert sent[0] is history()[0]
    assert sent[-1] is history()[-2]


async def _streamed(agent: Any, text: str) -> list[str]:
    seen: list[str] = []
    async for chunk, _ in agent.astream(
        {"messages": [HumanMessage(text)]},
        {"configurable": {"thread_id": "t"}, "recursion_limit": 50},
        stream_mode="messages",
    ):
        seen.append(chunk.text)
    return seen


@pytest.mark.requirement("F47", "K38")
@pytest.mark.parametrize("kind", ["chat model", "function that calls a chat model"])
def test_no_token_of_a_summary_reaches_the_stream_of_the_user(kind):
    import asyncio

    async def main() -> list[str]:
        seen: list[str] = []
        for turn in range(16):
            seen += await _streamed(agent, agents.question(turn))
        return seen

    with ScriptedServer(agents.model) as server:
        summarizer = chat_model("openai", server, agents.SUMMARIZER)

        def function(ask: Ask) -> str:
            # Even with its own tags, which replace those passed down.
            return str(summarizer.invoke(ask.prompt, {"tags": ["mine"]}).text)

        middleware = FoldlineMiddleware(
            window=4_000, summarizer=summarizer if kind == "chat model" else function
        )
        model = chat_model("openai", server)
        agent = agent_of(model, middleware, checkpointer=InMemorySaver())
        seen = asyncio.run(main())
    assert sum(request.model == agents.SUMMARIZER for request in server.requests) >= 2
    streamed = "".join(seen)
    assert agents.answer(15) in streamed
    assert agents.ACCOUNT not in streamed
    assert agents.ACCOUNT[:20] not in streamed


@pytest.mark.requirement("F42")
def test_the_summarizer_gets_plain_text_and_no_tools():
    with ScriptedServer(agents.model) as server:
        summarizer = chat_model("anthropic", server, agents.SUMMARIZER)
        middleware = FoldlineMiddleware(window=4_000, summarizer=summarizer)
        ask, _ = asking(agent_of(chat_model("anthropic", server), middleware))
        agents.run(ask, turns=11)
    asked = [request for request in server.requests if request.model == agents.SUMMARIZER]
    assert asked
    for request in asked:
        assert "tools" not in request.body
        assert [message.role for message in request.transcript.messages] == ["user"]
    shown = [r.text for r in server.requests if r.model == agents.AGENT]
    assert any(agents.ACCOUNT in text for text in shown), "the account was not used"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "options", [{"summarizer": "same"}, {"config": Config(summarizer="same")}]
)
def test_the_model_of_the_agent_writes_the_summaries_itself(provider, options, monkeypatch):
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    with ScriptedServer(one_model) as server:
        middleware = FoldlineMiddleware(window=4_000, **options)
        agent = agent_of(chat_model(provider, server), middleware, checkpointer=InMemorySaver())
        ask, _ = asking(agent, "t")
        agents.run(ask, turns=11)
        receipts = middleware.session("t").receipts
    check_own_accounts(server)
    assert sum(receipt.status == "compacted" for receipt in receipts) >= 2


def test_the_same_chat_model_makes_the_same_summarizer():
    with ScriptedServer(one_model) as server:
        one, other = (chat_model("openai", server) for _ in range(2))
    assert ChatModelSummarizer(one) == ChatModelSummarizer(one)
    assert ChatModelSummarizer(one) != ChatModelSummarizer(other)
    assert (
        len({ChatModelSummarizer(one), ChatModelSummarizer(one), ChatModelSummarizer(other)}) == 2
    )


# --- too long ------------------------------------------------------------------------------


@pytest.mark.requirement("J7", "C23")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_smaller_real_window_is_learned_without_an_error(provider):
    with ScriptedServer(agents.model, window=5_000) as server:
        agent = agent_of(chat_model(provider, server), FoldlineMiddleware(window=64_000))
        ask, history = asking(agent)
        said = agents.run(ask, turns=20)
    assert server.violations == ()
    agents.check_words(said, user_texts(history()))


@pytest.mark.requirement("J7")
def test_a_second_overflow_in_a_row_is_a_typed_error_and_the_run_can_continue():
    faults: list[Any] = []

    def script(request: ReceivedRequest) -> Any:
        return faults.pop() if faults else agents.model(request)

    with ScriptedServer(script) as server:
        middleware = FoldlineMiddleware(window=16_000)
        ask, _ = asking(agent_of(chat_model("openai", server), middleware))
        agents.run(ask, turns=8)
        faults += [Overflow(), Overflow()]
        before = len(server.requests)
        with pytest.raises(ContextOverflow):
            ask(agents.question(8))
        assert len(server.requests) == before + 2, "one smaller request, and no third"
        first, second = server.requests[before:]
        assert second.tokens < first.tokens
        assert ask(agents.question(9)) == agents.answer(9)


@pytest.mark.requirement("J7")
def test_other_provider_errors_propagate_unchanged():
    from langchain_core.exceptions import ModelError

    with ScriptedServer([]) as server:
        ask, _ = asking(agent_of(chat_model("openai", server), FoldlineMiddleware(window=8_000)))
        with pytest.raises(ModelError, match="script is over"):
            ask("Hello")
    assert len(server.requests) == 1


# --- histories changed by a framework ------------------------------------------------------


@pytest.mark.requirement("F07")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_unpaired_calls_and_results_are_repaired_before_sending(provider):
    history = [
        ToolMessage("42 files", tool_call_id="lost"),
        HumanMessage("[turn 001] Check part_001.py."),
        AIMessage("", tool_calls=[{"name": "read_file", "args": {"path": "a"}, "id": "open"}]),
        HumanMessage("[turn 001] Never mind, go on."),
        AIMessage(""),
        HumanMessage("[turn 001] And?"),
    ]
    with ScriptedServer(agents.model) as server:
        agent = agent_of(chat_model(provider, server), FoldlineMiddleware(window=8_000))
        state = agent.invoke({"messages": history})
    assert server.violations == ()
    assert state["messages"][-1].text == agents.answer(1)
    assert [m.content for m in state["messages"][:6]] == [m.content for m in history]
    assert "42 files" in server.requests[0].text


@pytest.mark.requirement("H8")
def test_a_rewound_thread_continues_as_a_branch_and_the_old_one_is_kept(tmp_path):
    with ScriptedServer(agents.model) as server:
        middleware = FoldlineMiddleware(window=4_000, path=tmp_path / "agent.db")
        agent = agent_of(chat_model("openai", server), middleware, checkpointer=InMemorySaver())
        config = {"configurable": {"thread_id": "t"}, "recursion_limit": 50}
        ask, history = asking(agent, "t")
        agents.run(ask, turns=12)
        past = list(history())
        gone = [RemoveMessage(message.id) for message in past[-8:]]
        agent.update_state(config, {"messages": gone})
        ask("[turn 050] Check part_050.py instead.")
        middleware.close()
    assert server.violations == ()
    last = server.requests[-1].text
    assert agents.question(11) not in last
    assert "part_050.py instead" in last
    with Archive.open(tmp_path / "agent.db") as archive:
        names = {session.head.name for session in archive.sessions()}
    assert len(names) == 2


def test_a_restarted_program_continues_with_its_compacted_view(tmp_path):
    saver = InMemorySaver()
    sizes: list[int] = []
    for start in (0, 12):
        with ScriptedServer(agents.model) as server:
            middleware = FoldlineMiddleware(window=4_000, path=tmp_path / "agent.db")
            agent = agent_of(chat_model("openai", server), middleware, checkpointer=saver)
            ask, _ = asking(agent, "t")
            for turn in range(start, start + 12):
                assert ask(agents.question(turn)) == agents.answer(turn)
            sizes.append(len(server.requests[0].messages))
            middleware.close()
            assert server.violations == ()
    with Archive.open(tmp_path / "agent.db") as archive:
        (session,) = archive.sessions()
    assert session.batches >= 2
    assert sizes[1] < 25, "the second program began with the view of the first"


# --- the tools of a session ----------------------------------------------------------------


def remembering(request: ReceivedRequest) -> Any:
    """Recall the first handle of the snapshot when the user requests it, and repeat it."""
    messages = request.transcript.messages
    if messages[-1].results and any(call.name != "read_file" for call in messages[-2].calls):
        return Answer(f"I read: {request.last}")
    if request.last == "What was the first?":
        handles = re.findall(r"^([0-9a-f]{6}) ", request.text, re.MULTILINE)
        return CallTool("recall", {"handle": handles[0] if handles else "abcdef"})
    if request.last == "Please tidy up.":
        return CallTool("compact", {"focus": "the tickets"})
    return agents.model(request)


@pytest.mark.parametrize("thread", [None, "t"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_agent_recalls_removed_content(provider, thread):
    with ScriptedServer(remembering) as server:
        saver = InMemorySaver() if thread else None
        middleware = FoldlineMiddleware(window=4_000)
        ask, history = asking(
            agent_of(chat_model(provider, server), middleware, checkpointer=saver), thread
        )
        agents.run(ask, turns=12)
        said = ask("What was the first?")
    assert server.violations == ()
    lost = {m.text for m in history() if m.type in ("human", "tool")}
    assert any(said.removeprefix("I read: ") in text for text in lost)
    assert "[turn 0" in said or "check_" in said
    assert history()[-2].status == "success"


def test_an_unknown_handle_is_reported_to_the_model():
    with ScriptedServer(remembering) as server:
        agent = agent_of(chat_model("openai", server), FoldlineMiddleware(window=8_000))
        ask, history = asking(agent)
        assert "abcdef" in ask("What was the first?")
    assert history()[-2].status == "error"


def test_an_agent_requests_a_compaction_only_if_allowed():
    with ScriptedServer(remembering) as server:
        middleware = FoldlineMiddleware(window=16_000, tools=["recall", "compact"])
        ask, _ = asking(agent_of(chat_model("openai", server), middleware))
        agents.run(ask, turns=14)
        assert "Compacted" in ask("Please tidy up.")
        offered = [[tool["function"]["name"] for tool in r.body["tools"]] for r in server.requests]
    assert server.violations == ()
    assert {frozenset(names) for names in offered} == {
        frozenset({"read_file", "recall", "compact"})
    }
    sizes = [len(request.messages) for request in server.requests[-2:]]
    assert sizes[1] < sizes[0]
    with pytest.raises(BudgetError, match="no tool 'forget'"):
        FoldlineMiddleware(tools=["forget"])


# --- conversation and window ---------------------------------------------------------------


class Run:
    thread_id: str | None = None
    checkpoint_ns = "model:0123"


def test_a_thread_has_one_name_and_an_agent_inside_a_graph_another_one():
    run, first = Run(), [HumanMessage("hello", id="m-1")]
    assert run_name(run, first) == "/m-1"
    run.thread_id = "user#7"
    assert run_name(run, first) == "user%237"
    run.checkpoint_ns = "research:1a|tools:2b|model:3c"
    assert run_name(run, first) == "user%237/research/tools/m-1"
    run.checkpoint_ns = "research:9f|tools:8e|model:7d"
    assert run_name(run, first) == "user%237/research/tools/m-1"
    assert run_name(None, []) == "/"


def test_conversations_without_ids_are_distinguished_by_their_first_message():
    one, other = [HumanMessage("one")], [HumanMessage("other")]
    assert conversation_name(one) == conversation_name([HumanMessage("one"), AIMessage("yes")])
    assert conversation_name(one) != conversation_name(other)
    assert conversation_name(one, {"configurable": {"thread_id": 7}}) == "7"


@pytest.mark.requirement("C23")
def test_the_window_is_that_of_the_models_profile_unless_given():
    with ScriptedServer(agents.model) as server:
        for given, window in ((None, 20_000), (10_000, 10_000)):
            model = chat_model("openai", server)
            model.profile = {"max_input_tokens": 20_000}
            middleware = FoldlineMiddleware(window=given)
            agent = agent_of(model, middleware, checkpointer=InMemorySaver())
            asking(agent, "t")[0](agents.question(0))
            budget = middleware.session("t").budget
            assert budget.resolved
            assert window * 0.8 < budget.scale < window
            assert budget.overhead > 20, "system prompt and tools are counted"
            with pytest.raises(StoreError, match="not open"):
                middleware.session("another thread")


# --- a chat model as summarizer ------------------------------------------------------------


@pytest.mark.requirement("C3")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_chat_model_answers_with_the_requested_cap_and_a_stop_reason(provider):
    with ScriptedServer([Answer("A short account."), Capped(), Nothing()]) as server:
        model = ChatModelSummarizer(chat_model(provider, server))
        ask = Ask("Tell.", 77, system="Be brief.")
        reply = model.answer(ask)
        assert (reply.text, reply.stop, reply.model) == ("A short account.", "end", agents.AGENT)
        assert reply.usage is not None
        assert reply.usage.total > 0
        assert model.answer(ask).stop == "length"
        assert model.answer(ask).text == ""
    body = server.requests[0].body
    assert 77 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    assert "Be brief." in server.requests[0].text


def test_a_chat_model_that_calls_a_tool_instead_is_reported():
    with ScriptedServer([CallTool("read_file", {"path": "a"})]) as server:
        reply = ChatModelSummarizer(chat_model("openai", server)).answer(Ask("Tell.", 77))
    assert (reply.text, reply.stop) == ("", "tools")


# --- without LangChain ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["FoldlineMiddleware", "Compressor"])
def test_without_langchain_the_error_names_the_package(name, tmp_path: Path):
    code = (
        "import sys\n"
        "sys.modules['langchain'] = sys.modules['langchain_core'] = None\n"
        "from foldline import MissingExtra\n"
        f"try:\n    from foldline.integrations.langchain import {name}\n"
        "except MissingExtra as error:\n    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'foldline[langchain]'" in ran.stdout, ran.stderr
