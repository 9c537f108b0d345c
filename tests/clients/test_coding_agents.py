"""The coding agents that people run, as they are installed, through the proxy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.clients.coding_agents import AGENTS, INSTALLED, program, run
from tests.clients.proxied import DONE, TURNS, Script, check_session, printed, through, tools_of

from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer, CallTool, ReceivedRequest

pytestmark = pytest.mark.disk  # as people have their projects

FEW = 3
ROOMY = 1_000_000
"""A window in which nothing is compacted."""


@pytest.mark.slow
@pytest.mark.parametrize("name", AGENTS)
def test_a_session_of_sixty_tool_turns_survives_three_compactions(
    name: str, tmp_path: Path
) -> None:
    agent = AGENTS[name]
    program(agent)
    script = Script(agent.call)
    with ScriptedServer(script) as server, through(server, tmp_path, agent.window) as proxy:
        done = run(agent, proxy.address, tmp_path)
        assert done.returncode == 0, done.stderr[-2_000:]
        assert DONE in done.stdout
        check_session(server, script, proxy, 3)
        last = server.requests[-1]
    assert len(script.tools) == TURNS + 1
    assert set(script.tools) - {script.tools[0]} == set(), "a tool is missing from a request"
    assert printed(TURNS) in last.text, "the tool really ran, and its result is there"


@pytest.mark.slow
@pytest.mark.parametrize("name", AGENTS)
def test_below_the_trigger_the_proxy_changes_nothing(name: str, tmp_path: Path) -> None:
    agent = AGENTS[name]
    program(agent)
    results = []
    for proxied in (False, True):
        folder = tmp_path / str(proxied)
        folder.mkdir()
        script = Script(agent.call, FEW)
        with ScriptedServer(script) as server, through(server, folder, ROOMY) as proxy:
            done = run(agent, proxy.address if proxied else server.url, folder)
            assert done.returncode == 0, done.stderr[-2_000:]
            if proxied:
                check_session(server, script, proxy, 0)
            asked = [one for one in server.requests if one.method == "POST"]
        assert server.violations == ()
        # What names a folder or a moment differs from run to run.
        results.append(
            (
                script.tools,
                [(one.path, len(one.messages)) for one in asked],
                [f"of turn {turn}: " in asked[-1].text for turn in range(1, FEW + 1)],
                done.stdout.count(DONE),
            )
        )
    assert results[0] == results[1]
    assert results[0][2] == [True] * FEW


WAITS = {
    "claude": CallTool("WaitForMcpServers", {}),
    "codex-by-url": CallTool("exec_command", {"cmd": "sleep 1"}),
    "opencode": CallTool("bash", {"command": "true", "description": "Wait"}),
}
"""What an agent can do until it is connected to the MCP server."""

SEARCHES = {
    "claude": CallTool("mcp__foldline__search", {"query": "print"}),
    "codex-by-url": CallTool("search", {"query": "print"}, namespace="mcp__foldline"),
    "opencode": CallTool("foldline_search", {"query": "print"}),
}
FOUND = 'session "serve-'


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHES)
def test_a_wrapped_agent_searches_its_own_session_over_mcp(name: str, tmp_path: Path) -> None:
    program(AGENTS[name])

    def script(request: ReceivedRequest) -> Answer | str:
        tools = json.dumps(tools_of(request))
        if tools == "[]" or len(request.messages) > TURNS:
            return "A title"
        if FOUND in request.last:
            return DONE
        is_connected = "mcp__foldline" in tools or "foldline_search" in tools
        return Answer("", ((SEARCHES if is_connected else WAITS)[name],))

    with ScriptedServer(script) as server:
        ran = wrapped(name, server, tmp_path)
        assert ran.returncode == 0, ran.stderr[-2_000:]
        assert server.violations == ()
        assert any(FOUND in one.last for one in server.requests)
    assert DONE in ran.stdout
    assert " requests, 0 compactions" in ran.stderr
    kept = {one.name for one in (tmp_path / "kept").iterdir()}
    assert {"archive.db", "proxy.log"} <= kept


def wrapped(name: str, server: ScriptedServer, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``foldline wrap`` as a user would, with the agent on the path."""
    home, project = folder / "home", folder / "project"
    for one in (home, project):
        one.mkdir()
    before = {"TERM": "dumb", "HOME": str(home), "FOLDLINE_HOME": str(folder / "kept")}
    path = {"PATH": f"{INSTALLED}:{os.environ['PATH']}", "CODEX_API_KEY": "made-up"}
    env = {**before, **path, **AGENTS[name].env(server.url)}
    words = list(AGENTS[name].command(server.url))
    if name == "claude":
        words += ["--allowedTools", "Bash,mcp__foldline__search"]
    upstream = {"codex-by-url": server.openai_url, "opencode": f"mine={server.openai_url}"}
    if name == "codex-by-url":
        words = ["exec", *words[words.index("-m") :]]
    chosen = ["--upstream", upstream[name]] if name in upstream else []
    agent = AGENTS[name].program
    return subprocess.run(
        [sys.executable, "-m", "foldline", "wrap", *chosen, agent, "--", *words],
        cwd=project,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_scripts_print_the_values_that_the_tests_expect() -> None:
    call = AGENTS["codex-by-url"].call(7)
    command = json.loads(call.json)["cmd"]
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert ran.stdout.rstrip("\n") == printed(7)
