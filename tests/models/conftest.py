"""The three protocols, and clients of a scripted server that implements them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import pytest
import stamina

from foldline.models import Client, model
from foldline.testing import ScriptedServer

KEY = "sk-test-0123456789abcdef"

NAMES = ("openai:gpt-4o-mini", "openai-responses:gpt-4o-mini", "anthropic:claude-haiku-4-5")


@pytest.fixture(autouse=True)
def no_keys_of_this_machine(monkeypatch):
    for provider in ("OPENAI", "ANTHROPIC", "DEEPSEEK", "GEMINI"):
        monkeypatch.delenv(f"{provider}_API_KEY", raising=False)
        monkeypatch.delenv(f"{provider}_BASE_URL", raising=False)
    monkeypatch.delenv("FOLDLINE_MODELS", raising=False)


@pytest.fixture
def no_pauses() -> Iterator[None]:
    """Retry without pauses, as often as the code under test does."""
    with stamina.set_testing(True, attempts=100, cap=True):
        yield


@pytest.fixture(params=NAMES)
def name(request) -> str:
    return request.param


def address(server: ScriptedServer, name: str) -> str:
    return server.url if name.startswith("anthropic") else server.openai_url


@contextmanager
def client_of(server: ScriptedServer, name: str, **options) -> Iterator[Client]:
    options = {"base_url": address(server, name), "api_key": KEY, **options}
    with model(name, **options) as client:
        yield client


async def seconds_to_cancel(
    client: Client, server: ScriptedServer, work: Coroutine[Any, Any, object]
) -> float:
    """Cancel a client's request once it has arrived; return the seconds that takes."""
    task = asyncio.create_task(work)
    await asyncio.to_thread(server.wait, 1)
    await asyncio.sleep(0.05)
    began = monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    took = monotonic() - began
    await client.aclose()
    return took


def say(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]
