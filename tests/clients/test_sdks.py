"""The SDKs and frameworks, unchanged but for a base address, through the proxy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import httpx2
import pytest
from tests.clients.proxied import DONE, Script, check_session, printed, through
from tests.clients.sdk_agents import AGENTS, CHAT_TOOLS, CLAUDE_TOOLS, LINES, RESPONSES_TOOLS

from foldline.testing import ScriptedServer
from foldline.testing.scripted import CallTool

WINDOW = 10_000
SESSION_TURNS = 20
Way: TypeAlias = tuple[Script, ScriptedServer, str]
"""A provider, the source of its answers, and its address."""


def call(turn: int) -> CallTool:
    return CallTool("print_turn", {"turn": turn})


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.__name__)
def test_a_session_of_twenty_tool_turns_survives_three_compactions(
    agent: Callable[[str], str], tmp_path: Path
) -> None:
    script = Script(call, SESSION_TURNS)
    with ScriptedServer(script) as server, through(server, tmp_path, WINDOW) as proxy:
        assert agent(proxy.address) == DONE
        check_session(server, script, proxy, 3)
        last = server.requests[-1]
    assert set(script.tools) == {script.tools[0]}
    assert "print_turn" in script.tools[0]
    assert printed(SESSION_TURNS, LINES) in last.text


REQUESTS = {
    "/v1/chat/completions": {"model": "gpt-5", "tools": CHAT_TOOLS},
    "/v1/responses": {"model": "gpt-5", "tools": RESPONSES_TOOLS},
    "/v1/messages?beta=true": {
        "model": "claude-sonnet-4-5", "max_tokens": 99, "tools": CLAUDE_TOOLS,
        "metadata": {"user_id": "u"}, "not_known_to_anybody": [1, {"a": None}],
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Way]]:
    """A provider alone, and another one that has answered the same, behind a proxy."""
    scripts = [Script(call, 2), Script(call, 2)]
    with (
        ScriptedServer(scripts[0]) as alone,
        ScriptedServer(scripts[1]) as behind,
        through(behind, tmp_path_factory.mktemp("proxy"), 10**6) as proxy,
    ):
        yield [(scripts[0], alone, alone.url), (scripts[1], behind, proxy.address)]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", REQUESTS)
def test_below_the_trigger_an_answer_is_the_providers_byte_for_byte(
    path: str, stream: bool, ways: list[Way]
) -> None:
    answers = []
    key = "input" if "responses" in path else "messages"
    bodies = [REQUESTS[path] | {key: messages, "stream": stream} for messages in growing()]
    headers = {"x-api-key": "k", "authorization": "Bearer k", "content-type": "application/json"}
    for script, server, base in ways:
        script.turn, before = 0, len(server.requests)
        sent = [json.dumps(body, separators=(", ", ":")).encode() for body in bodies]
        got = [httpx2.post(f"{base}{path}", content=one, headers=headers) for one in sent]
        answers.append(
            [(one.status_code, one.headers["content-type"], one.content) for one in got]
        )
        assert [one.body for one in server.requests[before:]] == bodies
        assert server.violations == ()
    assert answers[0] == answers[1]
    assert b"Turn 1." in answers[0][0][2]


def growing() -> list[list[dict[str, str]]]:
    """Return the same conversation at three moments."""
    texts = [f'{number}: ä 你 "quoted"' for number in range(5)]
    roles = ["user", "assistant"] * 3
    said = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
    return [said[:1], said[:3], said]
