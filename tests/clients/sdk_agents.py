"""The plainest agent over each SDK and framework: it calls a tool until the model is done."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import anthropic
import openai
from tests.clients.proxied import TURNS, printed

KEY = "made-up"
LINES = 75
ASK = {"role": "user", "content": "Print what there is to print."}
SCHEMA = {
    "type": "object",
    "properties": {"turn": {"type": "integer"}},
    "required": ["turn"],
    "additionalProperties": False,
}
FUNCTION = {"name": "print_turn", "description": "Print it.", "parameters": SCHEMA}
CHAT_TOOLS: list[Any] = [{"type": "function", "function": FUNCTION}]
RESPONSES_TOOLS: list[Any] = [{"type": "function", **FUNCTION, "strict": False}]
CLAUDE_TOOLS: list[Any] = [
    {"name": "print_turn", "description": "Print it.", "input_schema": SCHEMA}
]
GPT, CLAUDE = "gpt-5", "claude-opus-4-8"
BETA = "context-1m-2025-08-07"


def ran(arguments: str) -> str:
    return printed(json.loads(arguments)["turn"], LINES)


# --- OpenAI chat completions ------------------------------------------------------------------


def chat(base: str) -> str:
    client, messages = openai.OpenAI(base_url=f"{base}/v1", api_key=KEY, max_retries=0), [ASK]
    while True:
        said = client.chat.completions.create(model=GPT, messages=messages, tools=CHAT_TOOLS)
        message = said.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return str(message.content)
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": ran(call.function.arguments)}
            for call in message.tool_calls
        ]


def chat_async(base: str) -> str:
    async def run(client: openai.AsyncOpenAI) -> str:
        messages: list[Any] = [ASK]
        while True:
            given = {"model": GPT, "messages": messages, "tools": CHAT_TOOLS}
            async with client.chat.completions.stream(**given) as stream:
                message = (await stream.get_final_completion()).choices[0].message
            told = message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True)
            for call in told.get("tool_calls", ()):
                call["function"].pop("parsed_arguments", None)
            messages.append(told)
            if not message.tool_calls:
                return str(message.content)
            messages.extend(
                {"role": "tool", "tool_call_id": call.id, "content": ran(call.function.arguments)}
                for call in message.tool_calls
            )

    return _awaited(run, base)


def _awaited(run: Callable[[openai.AsyncOpenAI], Awaitable[str]], base: str) -> str:
    """Run an agent with an async client, which is closed in the loop that it was used in."""

    async def work() -> str:
        async with openai.AsyncOpenAI(base_url=f"{base}/v1", api_key=KEY, max_retries=0) as client:
            return await run(client)

    return asyncio.run(work())


# --- OpenAI Responses ---------------------------------------------------------------------------


def _outputs(items: list[Any]) -> list[dict[str, Any]]:
    return [
        {"type": "function_call_output", "call_id": one.call_id, "output": ran(one.arguments)}
        for one in items
        if one.type == "function_call"
    ]


def responses(base: str) -> str:
    client, items = openai.OpenAI(base_url=f"{base}/v1", api_key=KEY, max_retries=0), [ASK]
    while True:
        said = client.responses.create(model=GPT, input=items, tools=RESPONSES_TOOLS)
        items += [item.model_dump(exclude_none=True) for item in said.output]
        results = _outputs(said.output)
        if not results:
            return said.output_text
        items += results


def responses_async(base: str) -> str:
    async def run(client: openai.AsyncOpenAI) -> str:
        items: list[Any] = [ASK]
        while True:
            given = {"model": GPT, "input": items, "tools": RESPONSES_TOOLS}
            said = None
            async for event in await client.responses.create(**given, stream=True):
                said = event.response if event.type == "response.completed" else said
            items += [item.model_dump(exclude_none=True) for item in said.output]
            results = _outputs(said.output)
            if not results:
                return str(said.output_text)
            items += results

    return _awaited(run, base)


# --- Anthropic --------------------------------------------------------------------------------


def _results(content: list[Any]) -> list[dict[str, Any]]:
    return [
        {
            "type": "tool_result",
            "tool_use_id": one.id,
            "content": printed(one.input["turn"], LINES),
        }
        for one in content
        if one.type == "tool_use"
    ]


def _claude_loop(send: Callable[[list[Any]], Any]) -> str:
    messages: list[Any] = [ASK]
    while True:
        said = send(messages)
        content = [block.model_dump(exclude_none=True) for block in said.content]
        messages.append({"role": "assistant", "content": content})
        results = _results(said.content)
        if not results:
            return str(said.content[-1].text)
        messages.append({"role": "user", "content": results})


def claude(base: str) -> str:
    client = anthropic.Anthropic(base_url=base, api_key=KEY, max_retries=0)
    given = {"model": CLAUDE, "max_tokens": 1_000, "tools": CLAUDE_TOOLS}
    return _claude_loop(lambda messages: client.messages.create(messages=messages, **given))


def claude_beta(base: str) -> str:
    client = anthropic.Anthropic(base_url=base, api_key=KEY, max_retries=0)
    given = {"model": CLAUDE, "max_tokens": 1_000, "tools": CLAUDE_TOOLS, "betas": [BETA]}
    return _claude_loop(lambda messages: client.beta.messages.create(messages=messages, **given))


def claude_stream(base: str) -> str:
    client = anthropic.Anthropic(base_url=base, api_key=KEY, max_retries=0)
    given = {"model": CLAUDE, "max_tokens": 1_000, "tools": CLAUDE_TOOLS}

    def send(messages: list[Any]) -> Any:
        with client.messages.stream(messages=messages, **given) as stream:
            return stream.get_final_message()

    return _claude_loop(send)


def claude_async(base: str) -> str:
    client = anthropic.AsyncAnthropic(base_url=base, api_key=KEY, max_retries=0)
    given = {"model": CLAUDE, "max_tokens": 1_000, "tools": CLAUDE_TOOLS}

    with asyncio.Runner() as runner:
        said = _claude_loop(
            lambda messages: runner.run(client.messages.create(messages=messages, **given))
        )
        runner.run(client.close())
        return said


# --- frameworks ---------------------------------------------------------------------------------


def print_turn(turn: int) -> str:
    """Print it."""
    return printed(turn, LINES)


def langchain_openai(base: str) -> str:
    from langchain_openai import ChatOpenAI

    return _langchain(ChatOpenAI(model=GPT, base_url=f"{base}/v1", api_key=KEY, max_retries=0))


def langchain_anthropic(base: str) -> str:
    from langchain_anthropic import ChatAnthropic

    return _langchain(ChatAnthropic(model=CLAUDE, base_url=base, api_key=KEY, max_retries=0))


def _langchain(model: Any) -> str:
    from langchain.agents import create_agent

    agent = create_agent(model, [print_turn])
    done = agent.invoke({"messages": [ASK]}, {"recursion_limit": 4 * TURNS})
    return str(done["messages"][-1].text)


def openai_agents(base: str) -> str:
    from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled

    set_tracing_disabled(True)

    async def run(client: openai.AsyncOpenAI) -> str:
        model = OpenAIResponsesModel(GPT, client)
        agent = Agent("printer", model=model, tools=[function_tool(print_turn)])
        done = await Runner.run(agent, ASK["content"], max_turns=2 * TURNS)
        return str(done.final_output)

    return _awaited(run, base)


def pydantic_ai(base: str) -> str:
    from pydantic_ai import Agent, UsageLimits
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    async def run() -> str:
        async with anthropic.AsyncAnthropic(base_url=base, api_key=KEY, max_retries=0) as client:
            model = AnthropicModel(CLAUDE, provider=AnthropicProvider(anthropic_client=client))
            agent = Agent(model, tools=[print_turn])
            limits = UsageLimits(request_limit=2 * TURNS)
            return str((await agent.run(ASK["content"], usage_limits=limits)).output)

    return asyncio.run(run())


AGENTS = (
    chat,
    chat_async,
    responses,
    responses_async,
    claude,
    claude_beta,
    claude_stream,
    claude_async,
    langchain_openai,
    langchain_anthropic,
    openai_agents,
    pydantic_ai,
)
