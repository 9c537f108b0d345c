import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    ModelRetrySettings,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIProvider,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SessionSettings,
    function_tool,
    handoff,
    retry_policies,
)
from agents.extensions.handoff_filters import remove_all_tools
from openai import APIStatusError, AsyncOpenAI
from tests.integrations import agents as scenario
from tests.integrations.summarizing import (
    CONFIG,
    check_own_accounts,
    check_spending,
    one_model,
    summarizing,
)

from foldline import Session
from foldline.errors import ContextOverflow, InputError
from foldline.formats.registry import dialect
from foldline.integrations.openai_agents import FoldlineModel, FoldlineSession, run_config
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer, CallTool, Overflow, ReceivedRequest, Step

OPTIONS: dict[str, Any] = {"window": scenario.WINDOW, "output": 1_000}
"""A compaction is due a whole turn above ``scenario.LARGE``: no run steps over all overflows."""

READ = Answer("", (CallTool("read_file", {"path": "a"}),))
AGAIN = ModelSettings(
    retry=ModelRetrySettings(
        max_retries=4,
        backoff={"initial_delay": 0.0, "jitter": False},
        policy=retry_policies.any(
            retry_policies.network_error(), retry_policies.http_status([429, 500, 529])
        ),
    )
)


@function_tool
def read_file(path: str) -> str:
    """Read a file of the program."""
    return scenario.read_file(path)


@dataclass
class Talk:
    """A conversation in a session; every user message is a run."""

    agent: Agent[None]
    session: FoldlineSession
    config: RunConfig
    streams: bool = False

    async def say(self, text: str) -> str:
        around: dict[str, Any] = {"session": self.session, "run_config": self.config}
        if not self.streams:
            return str((await Runner.run(self.agent, text, **around)).final_output)
        streamed = Runner.run_streamed(self.agent, text, **around)
        async for _ in streamed.stream_events():
            pass
        return str(streamed.final_output)


def hold(
    server: ScriptedServer,
    session: FoldlineSession,
    conversation: Callable[[Talk], Awaitable[None]],
    *,
    model: type[Any] = OpenAIResponsesModel,
    streams: bool = False,
    **settings: Any,
) -> None:
    """Run a conversation of an agent on a server."""

    async def held() -> None:
        async with AsyncOpenAI(base_url=server.openai_url, api_key="any", max_retries=0) as client:
            config = run_config(
                session,
                model=model(scenario.AGENT, scenario.unchecked(client)),
                tracing_disabled=True,
                **settings,
            )
            agent = Agent("checker", instructions=scenario.SYSTEM, tools=[read_file])
            await conversation(Talk(agent, session, config, streams))

    asyncio.run(held())
    session.close()


def compactions(session: Session) -> int:
    return sum(receipt.status == "compacted" for receipt in session.receipts)


# --- the view and the log --------------------------------------------------------------------


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("model", [OpenAIResponsesModel, OpenAIChatCompletionsModel])
@pytest.mark.requirement("K38", "H8")
def test_a_long_conversation_stays_in_the_window_and_loses_nothing(model, streams, tmp_path):
    handles: list[str] = []

    async def conversation(talk: Talk) -> None:
        said = await scenario.arun(talk.say, 20)
        session = talk.session.session
        assert compactions(session) >= 3
        scenario.check_words(said, scenario.words(session.messages))
        handles.extend(name for receipt in session.receipts for name in receipt.recall)

    archive = tmp_path / "a.db"
    with ScriptedServer(scenario.model, window=scenario.WINDOW) as server:
        session = FoldlineSession("user", archive, **OPTIONS)
        hold(server, session, conversation, model=model, streams=streams)
    scenario.check_requests(server.requests)
    assert server.violations == ()
    with Session.open(archive, "user") as again:
        assert handles
        assert all(again.recall(handle).text for handle in handles)


@pytest.mark.requirement("K38")
def test_one_long_run_is_compacted_between_its_model_calls():
    async def conversation(talk: Talk) -> None:
        result = await Runner.run(
            talk.agent,
            "Read all of it.",
            session=talk.session,
            run_config=talk.config,
            max_turns=60,
        )
        assert result.final_output == "Done."
        assert compactions(talk.session.session) >= 2
        assert len(talk.session.session.messages) == 102

    def model(request: ReceivedRequest) -> Step:
        number = len(server.requests)
        if number > 50:
            return Answer("Done.")
        return Answer("", (CallTool("read_file", {"path": f"part_{number}.py"}),))

    with ScriptedServer(model, window=scenario.WINDOW) as server:
        hold(server, FoldlineSession("user", **OPTIONS), conversation)
    assert server.violations == ()
    assert all("Read all of it." in request.text for request in server.requests)


@pytest.mark.requirement("F21", "F87")
def test_items_follow_their_reasoning_or_lose_their_id():
    async def conversation(talk: Talk) -> None:
        await scenario.arun(talk.say, 14)
        log = [message.raw for message in talk.session.session.messages]
        bound.update(
            (item["id"], before["id"])
            for before, item in pairwise(log)
            if before.get("type") == "reasoning" and item.get("id")
        )

    def thinking(request: ReceivedRequest) -> Step:
        step = scenario.model(request)
        return Answer(step.text, step.calls, thinking="I read it, then I tell.")

    bound: dict[str, str] = {}
    with ScriptedServer(thinking, window=scenario.WINDOW) as server:
        session = FoldlineSession("user", **OPTIONS)
        hold(server, session, conversation, model_settings=ModelSettings(store=False))
    assert bound
    assert server.violations == ()
    for request in server.requests:
        items = [{}, *request.body["input"]]
        for before, item in pairwise(items):
            if item.get("id") in bound:
                assert before.get("id") == bound[item["id"]]


def test_a_session_without_the_filter_starts_every_run_with_a_view_that_fits():
    async def conversation(talk: Talk) -> None:
        talk.config = RunConfig(model=talk.config.model, tracing_disabled=True)
        await scenario.arun(talk.say, 16)

    with ScriptedServer(scenario.model, window=scenario.WINDOW + 4_000) as server:
        hold(server, FoldlineSession("user", **OPTIONS), conversation)
    scenario.check_requests(server.requests)


def test_a_call_left_without_output_by_a_crash_is_handled(tmp_path):
    async def crashed() -> None:
        session = FoldlineSession("user", tmp_path / "a.db", **OPTIONS)
        call = {"type": "function_call", "call_id": "c", "name": "read_file", "arguments": "{}"}
        await session.add_items([{"role": "user", "content": "[turn 000] Check."}, call])
        session.close()

    async def conversation(talk: Talk) -> None:
        await scenario.arun(talk.say, 14)
        assert compactions(talk.session.session) >= 1

    asyncio.run(crashed())
    with ScriptedServer(scenario.model, window=scenario.WINDOW) as server:
        hold(server, FoldlineSession("user", tmp_path / "a.db", **OPTIONS), conversation)
    assert server.violations == ()


def test_a_run_with_a_history_rewritten_by_a_handoff_fits_and_its_session_keeps_all():
    async def conversation(talk: Talk) -> None:
        await scenario.arun(talk.say, 12)
        before = len(talk.session.session.messages)
        other = Agent("other", instructions="You close.", tools=[read_file])
        talk.agent.handoffs = [handoff(other, input_filter=remove_all_tools)]
        assert await talk.say("Hand over.") == "Closed."
        assert len(talk.session.session.messages) > before

    def model(request: ReceivedRequest) -> Step:
        if "You close." in request.text:
            return Answer("Closed.")
        if request.last == "Hand over.":
            return Answer("", (CallTool("transfer_to_other", {}),))
        return scenario.model(request)

    with ScriptedServer(model, window=scenario.WINDOW) as server:
        hold(server, FoldlineSession("user", **OPTIONS), conversation)
    assert server.violations == ()
    assert not any(
        item.get("type") == "function_call" for item in server.requests[-1].body["input"]
    )


def test_a_limit_also_holds_between_model_calls():
    async def conversation(talk: Talk) -> None:
        await scenario.arun(talk.say, 6)
        assert len(talk.session.session.messages) > 30

    with ScriptedServer(scenario.model, window=scenario.WINDOW) as server:
        session = FoldlineSession("user", session_settings=SessionSettings(limit=4), **OPTIONS)
        hold(server, session, conversation)
    assert server.violations == ()
    assert max(len(request.body["input"]) for request in server.requests) < 16


def test_the_example_runs_without_a_key_and_without_a_network(tmp_path):
    example = Path(__file__).parents[3] / "examples" / "openai_agents_session.py"
    environment = {key: value for key, value in os.environ.items() if key != "OPENAI_API_KEY"}
    ran = subprocess.run(
        [sys.executable, str(example), str(tmp_path / "a.db")],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert ran.returncode == 0, ran.stderr
    assert "holds all 48 items" in ran.stdout
    assert "Recalled under" in ran.stdout


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.requirement("F85", "H8")
def test_a_run_that_waited_for_an_approval_continues_in_its_session(restarts, tmp_path):
    asked = function_tool(needs_approval=True)(scenario.read_file)
    archive = tmp_path / "a.db"

    async def conversation(talk: Talk) -> None:
        await scenario.arun(talk.say, 12)
        talk.agent.tools = [asked]
        around = {"session": talk.session, "run_config": talk.config}
        stopped = await Runner.run(talk.agent, scenario.question(12), **around)
        assert stopped.interruptions
        state = stopped.to_state()
        if restarts:
            talk.session.close()
            talk.session = FoldlineSession("user", archive, **OPTIONS)
            around = {
                "session": talk.session,
                "run_config": run_config(
                    talk.session, model=talk.config.model, tracing_disabled=True
                ),
            }
        while stopped.interruptions:
            for item in stopped.interruptions:
                state.approve(item)
            stopped = await Runner.run(talk.agent, state, **around)
            state = stopped.to_state()
        assert stopped.final_output == scenario.answer(12)
        items = await talk.session.get_items()
        assert dialect("openai-responses").validate(items) == []
        talk.session.close()

    with ScriptedServer(scenario.model, window=scenario.WINDOW) as server:
        hold(server, FoldlineSession("user", archive, **OPTIONS), conversation)
    assert server.violations == ()


def test_without_the_sdk_the_import_names_the_extra():
    code = "import sys; sys.modules['agents'] = None; import foldline.integrations.openai_agents"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "foldline[openai-agents]" in ran.stderr


# --- trouble -------------------------------------------------------------------------------


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.requirement("K38")
def test_an_overflow_is_retried_once_with_a_strictly_smaller_request(streams):
    async def conversation(talk: Talk) -> None:
        assert await talk.say("Read all of it.") == "Done."
        said = scenario.words(talk.session.session.messages)
        assert said == ["Read all of it."]

    with ScriptedServer([*[READ] * 8, Overflow(), Answer("Done.")]) as server:
        hold(server, FoldlineSession("user", **OPTIONS), conversation, streams=streams)
    assert server.requests[-1].tokens < server.requests[-2].tokens
    assert server.violations == ()


@pytest.mark.requirement("K38")
def test_a_second_overflow_is_an_error_and_not_a_loop():
    async def conversation(talk: Talk) -> None:
        with pytest.raises(ContextOverflow):
            await talk.say("Read all of it.")

    with ScriptedServer([READ] * 8, default=Overflow()) as server:
        hold(server, FoldlineSession("user", **OPTIONS), conversation)
    assert len(server.requests) == 10


def test_without_the_filter_an_overflow_propagates_unchanged():
    async def conversation(talk: Talk) -> None:
        talk.config = RunConfig(model=talk.config.model, tracing_disabled=True)
        assert isinstance(talk.config.model, FoldlineModel)
        with pytest.raises(APIStatusError):
            await talk.say("Hi.")

    with ScriptedServer(default=Overflow()) as server:
        hold(server, FoldlineSession("user", **OPTIONS), conversation)


def test_models_given_by_name_are_wrapped_too():
    provider = OpenAIProvider(openai_client=AsyncOpenAI(api_key="any"))
    config = run_config(FoldlineSession("user"), model_provider=provider)
    assert isinstance(config.model_provider.get_model("gpt-5"), FoldlineModel)


@pytest.mark.parametrize("model", [OpenAIResponsesModel, OpenAIChatCompletionsModel])
def test_the_model_of_the_run_writes_the_summaries_itself(model, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    async def conversation(talk: Talk) -> None:
        await scenario.arun(talk.say, 20)
        assert compactions(talk.session.session) >= 2

    with ScriptedServer(one_model, window=scenario.WINDOW) as server:
        session = FoldlineSession("user", summarizer="same", **OPTIONS)
        hold(server, session, conversation, model=model)
    check_own_accounts(server)


def test_a_model_that_a_run_names_writes_the_summaries_itself():
    async def held() -> None:
        async with AsyncOpenAI(base_url=server.openai_url, api_key="any", max_retries=0) as client:
            provider = OpenAIProvider(openai_client=scenario.unchecked(client))
            config = run_config(session, model_provider=provider, tracing_disabled=True)
            agent = Agent(
                "checker", instructions=scenario.SYSTEM, tools=[read_file], model=scenario.AGENT
            )
            await scenario.arun(Talk(agent, session, config).say, 14)

    with ScriptedServer(one_model, window=scenario.WINDOW) as server:
        session = FoldlineSession("user", summarizer="same", **OPTIONS)
        asyncio.run(held())
        session.close()
    check_own_accounts(server)


def test_a_session_without_a_run_names_the_alternative():
    session = FoldlineSession("user", summarizer="same", **OPTIONS)
    with pytest.raises(InputError, match="A session has no model object") as caught:
        asyncio.run(session.get_items())
    assert "run_config(session, model=model)" in caught.value.hint
    session.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "turns"),
    [(OpenAIChatCompletionsModel, scenario.TURNS), (OpenAIResponsesModel, scenario.FEWER)],
)
@pytest.mark.requirement("K38", "H8")
def test_many_turns_with_a_fault_at_every_request(model, turns):
    async def conversation(talk: Talk) -> None:
        said = await scenario.arun(talk.say, turns)
        receipts = talk.session.session.receipts
        assert compactions(talk.session.session) >= 3
        check_spending(trouble, receipts)
        scenario.check_words(said, scenario.words(talk.session.session.messages))

    trouble = scenario.Trouble()
    with (
        ScriptedServer(trouble, window=scenario.WINDOW) as server,
        summarizing(server) as summarizer,
    ):
        session = FoldlineSession("user", summarizer=summarizer, config=CONFIG, **OPTIONS)
        hold(server, session, conversation, model=model, model_settings=AGAIN)
    scenario.check_requests(server.requests)
    assert trouble.larger == []
    assert trouble.injected.keys() == scenario.FAULTS.keys()
