"""The scripted server under the frameworks: one tool call, its result, and an answer."""

import asyncio

import pytest

from foldline.models.overflow import overflow_in
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Overflow, RateLimit, Tool

SCRIPT = [Tool("read_file", {"path": "a.py"}), "It is empty."]
BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def check(server, answer):
    assert answer == "It is empty."
    assert server.errors == server.violations == ()
    first, second = server.requests
    assert "read_file" in str(first.transcript.tools)
    assert second.last == "content of a.py"
    assert second.usage.cache_read == first.tokens or first.format == "anthropic"


@pytest.mark.parametrize("wire", ["chat", "responses", "messages"])
@BOTH
def test_langchain(wire, stream):
    from langchain_anthropic import ChatAnthropic
    from langchain_core.messages import HumanMessage
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    @tool
    def read_file(path: str) -> str:
        """Read a file."""
        return f"content of {path}"

    with ScriptedServer(SCRIPT) as server:
        if wire == "messages":
            model = ChatAnthropic(model="m", base_url=server.url, api_key="any")
        else:
            model = ChatOpenAI(
                model="m",
                base_url=server.openai_url,
                api_key="any",
                use_responses_api=wire == "responses",
            )
        bound = model.bind_tools([read_file])
        messages = [HumanMessage("Read a.py")]
        while True:
            if stream:
                chunks = list(bound.stream(messages))
                answer = chunks[0]
                for chunk in chunks[1:]:
                    answer += chunk
            else:
                answer = bound.invoke(messages)
            messages.append(answer)
            if not answer.tool_calls:
                break
            messages += [read_file.invoke(call) for call in answer.tool_calls]
        check(server, answer.text)


@pytest.mark.parametrize("wire", ["chat", "responses"])
@BOTH
def test_openai_agents(wire, stream):
    agents = pytest.importorskip("agents")
    from openai import AsyncOpenAI

    def read_file(path: str) -> str:
        return f"content of {path}"

    async def run(server):
        kind = {
            "chat": agents.OpenAIChatCompletionsModel,
            "responses": agents.OpenAIResponsesModel,
        }[wire]
        async with AsyncOpenAI(base_url=server.openai_url, api_key="any") as client:
            agent = agents.Agent(
                name="reader",
                tools=[agents.function_tool(read_file)],
                model=kind(model="m", openai_client=client),
            )
            config = agents.RunConfig(tracing_disabled=True)
            if not stream:
                result = await agents.Runner.run(agent, "Read a.py", run_config=config)
                return result.final_output
            result = agents.Runner.run_streamed(agent, "Read a.py", run_config=config)
            async for _ in result.stream_events():
                pass
            return result.final_output

    with ScriptedServer(SCRIPT) as server:
        check(server, asyncio.run(run(server)))


@pytest.mark.parametrize("wire", ["chat", "responses", "messages"])
@BOTH
def test_pydantic_ai(wire, stream):
    pytest.importorskip("pydantic_ai")
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI
    from pydantic_ai import Agent
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    async def run(server):
        if wire == "messages":
            client = AsyncAnthropic(base_url=server.url, api_key="any")
            model = AnthropicModel("m", provider=AnthropicProvider(anthropic_client=client))
        else:
            client = AsyncOpenAI(base_url=server.openai_url, api_key="any")
            kind = OpenAIChatModel if wire == "chat" else OpenAIResponsesModel
            model = kind("m", provider=OpenAIProvider(openai_client=client))
        agent = Agent(model)

        @agent.tool_plain
        def read_file(path: str) -> str:
            return f"content of {path}"

        async with client:
            if not stream:
                return (await agent.run("Read a.py")).output
            async with agent.run_stream("Read a.py") as result:
                return await result.get_output()

    with ScriptedServer(SCRIPT) as server:
        check(server, asyncio.run(run(server)))


@pytest.mark.requirement("K33", "F55")
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("wire", ["chat", "responses", "messages"])
def test_the_exceptions_of_langchain_are_understood(wire, streamed):
    from langchain_anthropic import ChatAnthropic
    from langchain_openai import ChatOpenAI

    def call(server):
        common = {"model": "m", "api_key": "any", "max_retries": 0}
        if wire == "messages":
            model = ChatAnthropic(base_url=server.url, **common)
        else:
            responses = wire == "responses"
            model = ChatOpenAI(base_url=server.openai_url, use_responses_api=responses, **common)
        with pytest.raises(Exception, match=r".") as caught:
            list(model.stream("Hi")) if streamed else model.invoke("Hi")
        return overflow_in(caught.value)

    with ScriptedServer([Overflow(8_000, 9_000), RateLimit()]) as server:
        found = call(server)
        assert found is not None
        assert found.limit == (None if wire == "responses" else 8_000)
        assert call(server) is None
