"""Chat models of LangChain on a scripted server."""

from __future__ import annotations

from typing import Any

from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from tests.integrations import agents

from foldline.testing import ScriptedServer


def openai_model(server: ScriptedServer, name: str = agents.AGENT) -> ChatOpenAI:
    made = ChatOpenAI(model=name, base_url=server.openai_url, api_key="any", max_retries=0)
    for client in (made.root_client, made.root_async_client):
        agents.unchecked(client)
    return made


def anthropic_model(server: ScriptedServer, name: str = agents.AGENT) -> ChatAnthropic:
    return ChatAnthropic(
        model_name=name, base_url=server.url, api_key="any", max_retries=0, max_tokens=512
    )


def chat_model(provider: str, server: ScriptedServer, name: str = agents.AGENT) -> Any:
    made: Any = {"openai": openai_model, "anthropic": anthropic_model}[provider]
    return made(server, name)
