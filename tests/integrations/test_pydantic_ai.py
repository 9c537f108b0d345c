import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic_ai import Agent, BinaryContent, ModelHTTPError, ModelRetry, RetryModelRequest
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider
from tests.integrations import agents
from tests.integrations.summarizing import (
    CONFIG,
    check_own_accounts,
    check_spending,
    one_model,
    summarizing,
)

from foldline import Session
from foldline.errors import ContextOverflow
from foldline.integrations.pydantic_ai import FoldlineHistory
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer, CallTool, Overflow, ReceivedRequest

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x02\x00\x00\x00\x03\x08\x02"
OPTIONS: dict[str, Any] = {"window": agents.WINDOW, "output": 1_000}
"""A compaction is due a whole turn above ``agents.LARGE``: no run steps over all overflows."""


@dataclass
class Talk:
    """A conversation of an agent, whose whole history the caller keeps."""

    agent: Agent[None, str]
    history: FoldlineHistory
    messages: list[ModelMessage] = field(default_factory=list)

    async def say(self, text: str) -> str:
        result = await self.agent.run(text, message_history=self.messages)
        self.messages = result.all_messages()
        return result.output

    @property
    def session(self) -> Session:
        return self.history.session(self.messages[-1].conversation_id)


def hold(
    server: ScriptedServer,
    history: FoldlineHistory,
    conversation: Callable[[Talk], Awaitable[None]],
    *further: AbstractCapability[None],
    model: type[Any] = OpenAIChatModel,
) -> None:
    """Run a conversation of an agent on a server."""

    async def held() -> None:
        async with AsyncOpenAI(base_url=server.openai_url, api_key="any", max_retries=0) as client:
            provider = OpenAIProvider(openai_client=agents.unchecked(client))
            agent = Agent(
                model(agents.AGENT, provider=provider),
                instructions=agents.SYSTEM,
                capabilities=[history, *further],
                retries=5,
            )
            agent.tool_plain(agents.read_file)
            with history:
                await conversation(Talk(agent, history))

    asyncio.run(held())


def parts(*histories: list[ModelMessage]) -> list[Any]:
    return [part for history in histories for message in history for part in message.parts]


def prompts(messages: list[ModelMessage]) -> list[Any]:
    return [part.content for part in parts(messages) if isinstance(part, UserPromptPart)]


def compactions(session: Session) -> int:
    return sum(receipt.status == "compacted" for receipt in session.receipts)


# --- the view and the log --------------------------------------------------------------------


@pytest.mark.parametrize("model", [OpenAIChatModel, OpenAIResponsesModel])
@pytest.mark.requirement("K38", "K41", "H8")
def test_a_long_conversation_stays_in_the_window_and_loses_nothing(model, tmp_path):
    archive = tmp_path / "agent.db"
    handles: dict[str, list[str]] = {}

    async def conversation(talk: Talk) -> None:
        said = await agents.arun(talk.say, 20)
        session = talk.session
        assert compactions(session) >= 3
        assert prompts(talk.messages) == said
        agents.check_words(said, agents.words(session.messages))
        # The last answer is recorded with the next request.
        assert len(session.messages) == len(talk.messages) - 1
        handles[session.name] = [name for receipt in session.receipts for name in receipt.recall]

    with ScriptedServer(agents.model, window=agents.WINDOW) as server:
        hold(server, FoldlineHistory(path=archive, **OPTIONS), conversation, model=model)
    agents.check_requests(server.requests)
    assert server.violations == ()
    ((name, names),) = handles.items()
    with Session.open(archive, name) as again:
        assert names
        assert all(again.recall(handle).text for handle in names)


def remembering(request: ReceivedRequest) -> Any:
    """Search the snapshot for a ticket when the user requests it, and repeat the result."""
    if request.transcript.messages[-1].results and "ORD-" in request.last and "[" in request.last:
        return Answer(f"I read: {request.last}")
    if request.last == "Which ticket had part_001?":
        (handle,) = set(re.findall(r"anything by ([0-9a-f]{6,}) with query=", request.text))
        return CallTool("recall", {"handle": handle, "query": "ticket part_001.py"})
    return agents.model(request)


def test_an_agent_recalls_removed_content_unless_disabled():
    said: list[str] = []

    async def conversation(talk: Talk) -> None:
        await agents.arun(talk.say, 20)
        said.append(await talk.say("Which ticket had part_001?"))

    async def short(talk: Talk) -> None:
        await agents.arun(talk.say, 1)

    with ScriptedServer(remembering, window=agents.WINDOW) as server:
        hold(server, FoldlineHistory(**OPTIONS), conversation)
        hold(server, FoldlineHistory(recall=False, **OPTIONS), short)
    assert server.violations == ()
    assert "ORD-0007919" in said[0]
    assert "recall" not in {tool["function"]["name"] for tool in server.requests[-1].body["tools"]}


@pytest.mark.requirement("K41")
def test_while_everything_fits_the_model_gets_the_original_messages():
    seen: list[list[ModelMessage]] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(messages)
        return ModelResponse([ThinkingPart("Hm.", signature="c2ln"), TextPart("Yes.")])

    async def run() -> None:
        with FoldlineHistory(window=8_000) as history:
            agent = Agent(FunctionModel(answer), capabilities=[history])
            first = await agent.run("Hi.")
            await agent.run("Again.", message_history=first.all_messages())

    asyncio.run(run())
    assert seen[1][0] is seen[0][0]
    assert seen[1][1].parts[0] == ThinkingPart("Hm.", signature="c2ln")


def looking(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Call the tool that the user requests, then answer."""
    if isinstance(messages[-1].parts[-1], UserPromptPart):
        call = ToolCallPart("look", {"at": len(messages)})
        return ModelResponse([ThinkingPart("Hm.", signature="c2ln"), call])
    return ModelResponse([TextPart("Seen.")])


def look(at: int) -> Any:
    """Return a large result; fail at first."""
    if at == 1:
        raise ModelRetry("Not yet.")
    return [f"line {n} at {at}" for n in range(200)]


@pytest.mark.requirement("K41")
def test_images_signatures_and_failed_tools_survive_compactions():
    seen: list[list[ModelMessage]] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(messages)
        return looking(messages, info)

    async def run() -> list[ModelMessage]:
        messages: list[ModelMessage] = []
        with FoldlineHistory(window=9_000, output=1_000) as history:
            agent = Agent(FunctionModel(answer), capabilities=[history], tools=[look], retries=3)
            for turn in range(12):
                prompt = [f"Look {turn}.", BinaryContent(data=PNG, media_type="image/png")]
                messages = (await agent.run(prompt, message_history=messages)).all_messages()
        return messages

    kept = asyncio.run(run())
    assert len(prompts(kept)) == 12
    assert len(seen[-1]) < len(kept) // 2
    for view in seen:
        latest = [prompt for prompt in prompts(view) if isinstance(prompt, list)][-1]
        assert latest[1].data == PNG
    signatures = {part.signature for part in parts(*seen) if isinstance(part, ThinkingPart)}
    assert signatures == {"c2ln"}
    returned = [part for part in parts(kept) if isinstance(part, ToolReturnPart)]
    assert [part.outcome for part in returned[:2]] == ["retried", "success"]


def test_a_history_cut_between_call_and_result_continues_as_a_branch():
    async def conversation(talk: Talk) -> None:
        await agents.arun(talk.say, 12)
        whole = talk.messages
        cut = next(
            index
            for index, message in enumerate(whole)
            if index > 20 and isinstance(message.parts[0], ToolReturnPart)
        )
        talk.messages = [whole[0], *whole[cut:]]
        await talk.say(agents.question(18))
        assert talk.session.name.endswith("#2")

    with ScriptedServer(agents.model, window=agents.WINDOW) as server:
        hold(server, FoldlineHistory(**OPTIONS), conversation)
    assert server.violations == ()


def test_conversations_do_not_mix(tmp_path):
    async def both(talk: Talk) -> None:
        one = talk.agent.run("This is one.", conversation_id="one#1")
        other = talk.agent.run("This is the other.", conversation_id="other")
        await asyncio.gather(one, other)

    archive = tmp_path / "a.db"
    with ScriptedServer(default=Answer("Yes.")) as server:
        hold(server, FoldlineHistory(path=archive, **OPTIONS), both)
    said = {}
    for name in ("one%231", "other"):
        with Session.open(archive, name) as session:
            said[name] = [message.text for message in session.messages]
    assert said == {"one%231": ["This is one."], "other": ["This is the other."]}


def test_concurrent_runs_from_one_history_do_not_mix():
    async def conversation(talk: Talk) -> None:
        await talk.say("Hi.")
        history, name = talk.messages, talk.messages[-1].conversation_id
        await asyncio.gather(
            *(
                talk.agent.run(f"Run {n}.", message_history=history, conversation_id=name)
                for n in range(12)
            )
        )

    with ScriptedServer(default=Answer("Yes.")) as server:
        hold(server, FoldlineHistory(**OPTIONS), conversation)
    runs = server.requests[1:]
    assert sorted(request.last for request in runs) == sorted(f"Run {n}." for n in range(12))
    assert all(request.text.count("Run ") == 1 for request in runs)


def test_instructions_tools_and_reported_usage_count():
    async def conversation(talk: Talk) -> None:
        await talk.say("Hi.")
        await talk.say("Again.")
        assert talk.session.budget.overhead > 30
        usage = talk.session.messages[1].usage
        assert usage is not None
        assert usage.total > 0

    with ScriptedServer(default=Answer("Yes.")) as server:
        hold(server, FoldlineHistory(**OPTIONS), conversation)


def test_the_example_runs_without_a_key_and_without_a_network():
    example = Path(__file__).parents[2] / "examples" / "pydantic_ai_agent.py"
    environment = {key: value for key, value in os.environ.items() if key != "OPENAI_API_KEY"}
    ran = subprocess.run(
        [sys.executable, str(example)], capture_output=True, text=True, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    assert "holds all 48 messages" in ran.stdout
    assert "Recalled under" in ran.stdout


def test_without_the_framework_the_import_names_the_extra():
    code = (
        "import sys; sys.modules['pydantic_ai'] = None; import foldline.integrations.pydantic_ai"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "foldline[pydantic-ai]" in ran.stderr


# --- trouble -------------------------------------------------------------------------------


class Again(AbstractCapability[Any]):
    """Retries transient errors with the framework's own mechanism."""

    async def on_model_request_error(
        self,
        ctx: Any,  # noqa: ARG002  # part of the framework's signature
        *,
        request_context: Any,
        error: Exception,
    ) -> ModelResponse:
        passing = isinstance(error, (ModelAPIError, UnexpectedModelBehavior))
        if passing and request_context.attempt < 5:
            raise RetryModelRequest
        raise error


READ = Answer("", (CallTool("read_file", {"path": "a"}),))


@pytest.mark.requirement("K38")
def test_an_overflow_is_retried_once_with_a_strictly_smaller_request():
    async def conversation(talk: Talk) -> None:
        assert await talk.say("Read all of it.") == "Done."
        assert prompts(talk.messages) == ["Read all of it."]

    with ScriptedServer([*[READ] * 8, Overflow(), Answer("Done.")]) as server:
        hold(server, FoldlineHistory(**OPTIONS), conversation)
    assert server.requests[-1].tokens < server.requests[-2].tokens
    assert server.violations == ()


@pytest.mark.requirement("K38")
def test_a_second_overflow_is_an_error_and_not_a_loop():
    async def conversation(talk: Talk) -> None:
        with pytest.raises((ModelHTTPError, ContextOverflow)):
            await talk.say("Read all of it.")

    with ScriptedServer([READ] * 8, default=Overflow()) as server:
        hold(server, FoldlineHistory(**OPTIONS), conversation)
    assert len(server.requests) == 10


@pytest.mark.parametrize("model", [OpenAIChatModel, OpenAIResponsesModel])
def test_the_model_of_the_agent_writes_the_summaries_itself(model, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    async def conversation(talk: Talk) -> None:
        await agents.arun(talk.say, 20)
        assert compactions(talk.session) >= 2

    with ScriptedServer(one_model, window=agents.WINDOW) as server:
        history = FoldlineHistory(summarizer="same", **OPTIONS)
        hold(server, history, conversation, model=model)
    check_own_accounts(server)


def test_another_model_object_may_write_the_summaries():
    def write(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(messages)
        return ModelResponse([TextPart(agents.ACCOUNT)])

    async def conversation(talk: Talk) -> None:
        await agents.arun(talk.say, 14)
        assert compactions(talk.session) >= 1

    asked: list[list[ModelMessage]] = []
    with ScriptedServer(agents.model, window=agents.WINDOW) as server:
        history = FoldlineHistory(summarizer=FunctionModel(write), **OPTIONS)
        hold(server, history, conversation)
    assert asked
    assert any(agents.ACCOUNT in request.text for request in server.requests)


@pytest.mark.slow
@pytest.mark.requirement("K38", "K41", "H8")
def test_many_turns_with_a_fault_at_every_request():
    async def conversation(talk: Talk) -> None:
        said = await agents.arun(talk.say)
        assert compactions(talk.session) >= 3
        check_spending(trouble, talk.session.receipts)
        agents.check_words(said, prompts(talk.messages))
        agents.check_words(said, agents.words(talk.session.messages))

    trouble = agents.Trouble()
    with (
        ScriptedServer(trouble, window=agents.WINDOW) as server,
        summarizing(server) as summarizer,
    ):
        history = FoldlineHistory(summarizer=summarizer, config=CONFIG, **OPTIONS)
        hold(server, history, conversation, Again())
    agents.check_requests(server.requests)
    assert trouble.larger == []
    assert trouble.injected.keys() == agents.FAULTS.keys()
