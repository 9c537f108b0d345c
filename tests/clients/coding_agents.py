"""How each coding agent is started against a provider on this machine, with made-up keys."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from foldline.testing.scripted import CallTool

INSTALLED = Path(__file__).resolve().parents[2] / ".clients" / "node_modules" / ".bin"
LINES = (
    "print('\\n'.join('line %d of turn {0}: heron-%d' % (n, n * {0} % 977) for n in range(150)))"
)
PROMPT = "Print what there is to print."


def shell(turn: int) -> str:
    """Return a command that prints about 1,500 tokens."""
    return f'python3 -c "{LINES.format(turn)}"'


@dataclass(frozen=True)
class CodingAgent:
    """
    A coding agent.

    ``command`` and ``env`` return how it is run for a base address without a path, ``call`` what
    its model calls in a turn. ``window`` is in tokens and has room for its prompts and tools.
    """

    program: str
    command: Callable[[str], list[str]]
    call: Callable[[int], CallTool]
    window: int
    env: Callable[[str], dict[str, str]] = lambda _: {}


def _claude(_: str) -> list[str]:
    return ["-p", PROMPT, "--allowedTools", "Bash", "--output-format", "json"]


def _codex(model: str, provider: Callable[[str], dict[str, str]]) -> Callable[[str], list[str]]:
    def command(base: str) -> list[str]:
        pairs = [("-c", f"{key}={value}") for key, value in provider(base).items()]
        settings = [word for pair in pairs for word in pair]
        own = ["-m", model] if model else []
        quiet = ["--skip-git-repo-check", "-s", "danger-full-access", "--json"]
        return ["exec", *settings, *own, *quiet, PROMPT]

    return command


def _by_url(base: str) -> dict[str, str]:
    return {"openai_base_url": json.dumps(f"{base}/v1")}


def _by_provider(base: str) -> dict[str, str]:
    place = {"name": "Mine", "base_url": f"{base}/v1", "env_key": "CODEX_API_KEY"}
    told = {f"model_providers.mine.{key}": json.dumps(value) for key, value in place.items()}
    return {"model_provider": '"mine"', **told}


def _opencode(base: str) -> dict[str, str]:
    model = {"name": "M", "tool_call": True, "limit": {"context": 1_000_000, "output": 8_000}}
    place = {"baseURL": f"{base}/v1", "apiKey": "made-up"}
    mine = {"npm": "@ai-sdk/openai-compatible", "options": place, "models": {"m": model}}
    config = {"provider": {"mine": mine}, "permission": "allow", "snapshot": False}
    return {"OPENCODE_CONFIG_CONTENT": json.dumps(config), "OPENCODE_DISABLE_MODELS_FETCH": "1"}


def _function(turn: int) -> CallTool:
    return CallTool("exec_command", {"cmd": shell(turn)})


def _script(turn: int) -> CallTool:
    """Call the one tool of Codex's newest models: a script that calls the others."""
    code = (
        f"const r = await tools.exec_command({json.dumps({'cmd': shell(turn)})}); text(r.output);"
    )
    return CallTool("exec", code, custom=True, namespace="functions")


AGENTS = {
    "claude": CodingAgent(
        "claude",
        _claude,
        lambda turn: CallTool("Bash", {"command": shell(turn), "description": "Print"}),
        70_000,
        lambda base: {"ANTHROPIC_BASE_URL": base, "ANTHROPIC_API_KEY": "sk-ant-made-up"},
    ),
    "codex-by-url": CodingAgent("codex", _codex("gpt-5", _by_url), _function, 60_000),
    "codex-by-provider": CodingAgent("codex", _codex("gpt-5", _by_provider), _function, 60_000),
    "codex-newest-model": CodingAgent("codex", _codex("", _by_url), _script, 70_000),
    "opencode": CodingAgent(
        "opencode",
        lambda _: ["run", "-m", "mine/m", "--format", "json", PROMPT],
        lambda turn: CallTool("bash", {"command": shell(turn), "description": "Print"}),
        60_000,
        _opencode,
    ),
}


def program(agent: CodingAgent) -> Path:
    """Return where an agent is installed; skip the test where it is not."""
    path = INSTALLED / agent.program
    if not path.exists():
        pytest.skip(f"{agent.program} is not installed; 'make clients' does it")
    return path


def run(agent: CodingAgent, base: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run an agent in an empty project and an empty home, until it is done."""
    home, project = folder / "home", folder / "project"
    for one in (home, home / ".codex", project):
        one.mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return subprocess.run(
        [program(agent), *agent.command(base)],
        cwd=project,
        env={
            **kept,
            "HOME": str(home),
            "TERM": "dumb",
            "CODEX_API_KEY": "made-up",
            **agent.env(base),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
