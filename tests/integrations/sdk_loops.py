"""A minimal agent over each SDK: append, send, and run the tools until there are no calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anthropic
import openai
from tests.integrations import agents

from foldline import Session
from foldline.integrations.loop import asend, send
from foldline.testing import ScriptedServer

PASSING = (
    openai.APIConnectionError,
    openai.RateLimitError,
    openai.InternalServerError,
    anthropic.APIConnectionError,
    anthropic.RateLimitError,
    anthropic.InternalServerError,
)
"""What may pass when it is tried again."""

TRIES = 3


@dataclass(frozen=True)
class Sdk:
    """
    The adapter of one SDK.

    ``client`` opens the client, ``aclient`` the async one; ``call`` returns a function that sends
    messages with either. ``read`` returns the text of an answer and its tool calls, ``results``
    the messages with the tool results.
    """

    format: str
    tools: list[dict[str, Any]]
    client: Callable[[ScriptedServer], Any]
    aclient: Callable[[ScriptedServer], Any]
    call: Callable[[Any, list[Any]], Callable[[list[Any]], Any]]
    read: Callable[[Any], tuple[str, list[tuple[str, dict[str, str]]]]]
    results: Callable[[list[tuple[str, str]]], list[dict[str, Any]]]

    def opened(self, **options: Any) -> dict[str, Any]:
        """Return the options of a session for this SDK."""
        system = None if self.format == "openai-chat" else agents.SYSTEM
        return {"format": self.format, "tools": self.tools, "system": system} | options


def asker(sdk: Sdk, session: Session, call: Callable[[list[Any]], Any]) -> Callable[[str], str]:
    """Return a function that sends a user message to the agent."""

    def answered() -> Any:
        for _ in range(TRIES - 1):
            try:
                return send(session, call)
            except PASSING:
                continue
        return send(session, call)

    def ask(text: str) -> str:
        session.append({"role": "user", "content": text})
        while True:
            said, calls = sdk.read(answered())
            if not calls:
                return said
            session.extend(sdk.results([(i, agents.read_file(**given)) for i, given in calls]))

    return ask


def aasker(sdk: Sdk, session: Session, call: Callable[[list[Any]], Any]) -> Callable[[str], Any]:
    """Return an async function that sends a user message to the agent."""

    async def answered() -> Any:
        for _ in range(TRIES - 1):
            try:
                return await asend(session, call)
            except PASSING:
                continue
        return await asend(session, call)

    async def ask(text: str) -> str:
        await session.aappend({"role": "user", "content": text})
        while True:
            said, calls = sdk.read(await answered())
            if not calls:
                return said
            results = [(number, agents.read_file(**given)) for number, given in calls]
            await session.aextend(sdk.results(results))

    return ask


# --- chat completions ----------------------------------------------------------------------


def _chat(client: Any, tools: list[Any]) -> Callable[[list[Any]], Any]:
    system = {"role": "system", "content": agents.SYSTEM}
    return lambda messages: client.chat.completions.create(
        model=agents.AGENT, messages=[system, *messages], tools=tools
    )


def _chat_read(answer: Any) -> tuple[str, list[tuple[str, dict[str, str]]]]:
    said = answer.choices[0].message
    calls = [(c.id, json.loads(c.function.arguments)) for c in said.tool_calls or []]
    return said.content or "", calls


# --- responses -----------------------------------------------------------------------------


def _responses(client: Any, tools: list[Any]) -> Callable[[list[Any]], Any]:
    return lambda messages: client.responses.create(
        model=agents.AGENT,
        instructions=agents.SYSTEM,
        input=messages,
        tools=tools,
        store=False,
    )


def _responses_read(answer: Any) -> tuple[str, list[tuple[str, dict[str, str]]]]:
    calls = [item for item in answer.output if item.type == "function_call"]
    return answer.output_text, [(c.call_id, json.loads(c.arguments)) for c in calls]


# --- messages ------------------------------------------------------------------------------


def _messages(client: Any, tools: list[Any]) -> Callable[[list[Any]], Any]:
    return lambda messages: client.messages.create(
        model=agents.AGENT, system=agents.SYSTEM, messages=messages, tools=tools, max_tokens=512
    )


def _messages_read(answer: Any) -> tuple[str, list[tuple[str, dict[str, str]]]]:
    text = "".join(block.text for block in answer.content if block.type == "text")
    return text, [(b.id, b.input) for b in answer.content if b.type == "tool_use"]


def _messages_results(results: list[tuple[str, str]]) -> list[dict[str, Any]]:
    blocks = [{"type": "tool_result", "tool_use_id": i, "content": t} for i, t in results]
    return [{"role": "user", "content": blocks}]


# --- all three -----------------------------------------------------------------------------


def _openai(server: ScriptedServer) -> openai.OpenAI:
    return agents.unchecked(
        openai.OpenAI(base_url=server.openai_url, api_key="any", max_retries=0)
    )


def _aopenai(server: ScriptedServer) -> openai.AsyncOpenAI:
    return agents.unchecked(
        openai.AsyncOpenAI(base_url=server.openai_url, api_key="any", max_retries=0)
    )


def _anthropic(server: ScriptedServer) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=server.url, api_key="any", max_retries=0)


def _aanthropic(server: ScriptedServer) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(base_url=server.url, api_key="any", max_retries=0)


SDKS = {
    "chat": Sdk(
        "openai-chat",
        [{"type": "function", "function": agents.READ_FILE}],
        _openai,
        _aopenai,
        _chat,
        _chat_read,
        lambda results: [{"role": "tool", "tool_call_id": i, "content": t} for i, t in results],
    ),
    "responses": Sdk(
        "openai-responses",
        [{"type": "function", **agents.READ_FILE}],
        _openai,
        _aopenai,
        _responses,
        _responses_read,
        lambda results: [
            {"type": "function_call_output", "call_id": i, "output": t} for i, t in results
        ],
    ),
    "messages": Sdk(
        "anthropic",
        [
            {
                "name": agents.READ_FILE["name"],
                "description": agents.READ_FILE["description"],
                "input_schema": agents.READ_FILE["parameters"],
            }
        ],
        _anthropic,
        _aanthropic,
        _messages,
        _messages_read,
        _messages_results,
    ),
}
