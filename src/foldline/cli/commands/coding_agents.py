"""How each coding agent is configured to use the proxy and the MCP server."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlunsplit

from foldline.errors import InputError
from foldline.frozen import field, frozen
from foldline.models.endpoint import split_url

NAME: Final = "foldline"
"""Name of the MCP server in the clients."""

CHATGPT: Final = "https://chatgpt.com/backend-api/codex"
"""Address that Codex sends requests to when logged in with a subscription."""

LOGIN_SECONDS: Final = 20.0

OPENCODE: Final = "OPENCODE_CONFIG_CONTENT"


@frozen
class ClientSetup:
    """
    Environment and arguments that a client is started with.

    ``env`` holds variables added to its own; ``arguments`` go before those of the
    user.
    """

    env: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()


@frozen
class WrappedClient:
    """
    A coding agent.

    Args:
        program: The program to run.
        package: Its name for ``npm install -g``.
        providers: Returns the addresses that its requests go to, by provider name; each gets a
            proxy of its own.
        setup: Returns how to start it, given the addresses of the proxies, the command of the MCP
            server (empty for none), and the environment.
    """

    program: str
    package: str
    providers: Callable[[Mapping[str, str]], Mapping[str, str]]
    setup: Callable[[Mapping[str, str], Sequence[str], Mapping[str, str]], ClientSetup]


def split_address(address: str) -> tuple[str, str]:
    """
    Split the base address of a provider into the origin that the proxy replaces, and the path.

    Raises:
        InputError: It is not an address.
    """
    read = split_url(address)
    if read is None or read.query or read.fragment or read.username is not None:
        raise InputError(
            "The address of the provider is not valid",
            hint="Give a URL such as https://host/v1, without user and query.",
        )
    return urlunsplit((read.scheme, read.netloc, "", "", "")), read.path.rstrip("/")


# --- Claude Code ---------------------------------------------------------------------------


def _claude_providers(env: Mapping[str, str]) -> Mapping[str, str]:
    return {"anthropic": env.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com"}


def _claude(bases: Mapping[str, str], mcp: Sequence[str], _: Mapping[str, str]) -> ClientSetup:
    arguments: tuple[str, ...] = ()
    if mcp:
        server = {"type": "stdio", "command": mcp[0], "args": list(mcp[1:])}
        # With "=": otherwise the option would take the arguments after it as further files.
        arguments = (f"--mcp-config={json.dumps({'mcpServers': {NAME: server}})}",)
    return ClientSetup({"ANTHROPIC_BASE_URL": bases["anthropic"]}, arguments)


# --- Codex ---------------------------------------------------------------------------------


def _codex_providers(env: Mapping[str, str]) -> Mapping[str, str]:
    """Return the providers of Codex; its login status comes from Codex, not from its keys."""
    if not (env.get("CODEX_API_KEY") or env.get("OPENAI_API_KEY")) and _has_subscription(env):
        return {"openai": CHATGPT}
    return {"openai": "https://api.openai.com/v1"}


def _has_subscription(env: Mapping[str, str]) -> bool:
    try:
        status = subprocess.run(  # the program that is run next, found the same way
            ["codex", "login", "status"],  # noqa: S607
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LOGIN_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return b"ChatGPT" in status.stdout + status.stderr


def _codex(bases: Mapping[str, str], mcp: Sequence[str], _: Mapping[str, str]) -> ClientSetup:
    # JSON strings and lists of strings are TOML as well.
    settings = {"openai_base_url": json.dumps(bases["openai"])}
    if mcp:
        settings[f"mcp_servers.{NAME}.command"] = json.dumps(mcp[0])
        settings[f"mcp_servers.{NAME}.args"] = json.dumps(list(mcp[1:]))
    pairs = [("-c", f"{key}={value}") for key, value in settings.items()]
    return ClientSetup({}, tuple(word for pair in pairs for word in pair))


# --- opencode ------------------------------------------------------------------------------


def _opencode_providers(_: Mapping[str, str]) -> Mapping[str, str]:
    return {"anthropic": "https://api.anthropic.com/v1", "openai": "https://api.openai.com/v1"}


def _opencode(bases: Mapping[str, str], mcp: Sequence[str], env: Mapping[str, str]) -> ClientSetup:
    providers = {name: {"options": {"baseURL": base}} for name, base in bases.items()}
    ours: dict[str, Any] = {"provider": providers}
    if mcp:
        ours["mcp"] = {NAME: {"type": "local", "command": list(mcp), "enabled": True}}
    try:
        given = json.loads(env.get(OPENCODE) or "{}")
    except ValueError as error:
        raise InputError(f"{OPENCODE} is not JSON: {error}") from error
    return ClientSetup({OPENCODE: json.dumps(_merge(given, ours))})


def _merge(given: Any, ours: Any) -> Any:
    """Merge our settings into those of the user."""
    if not isinstance(given, dict) or not isinstance(ours, dict):
        return ours
    return given | {key: _merge(given.get(key), value) for key, value in ours.items()}


CLIENTS: Final = {
    "claude": WrappedClient("claude", "@anthropic-ai/claude-code", _claude_providers, _claude),
    "codex": WrappedClient("codex", "@openai/codex", _codex_providers, _codex),
    "opencode": WrappedClient("opencode", "opencode-ai", _opencode_providers, _opencode),
}


def shell_commands(client: WrappedClient, upstreams: Mapping[str, str], mcp: Sequence[str]) -> str:
    """
    Return the shell commands that do what `foldline wrap` does.

    Args:
        client: The agent.
        upstreams: Addresses of its providers, by name.
        mcp: The command of the MCP server; empty for none.
    """
    lines, bases = list[str](), dict[str, str]()
    for port, (name, address) in enumerate(upstreams.items(), 8080):
        origin, path = split_address(address)
        lines.append(f"foldline serve --upstream {shlex.quote(origin)} --port {port} &")
        bases[name] = f"http://127.0.0.1:{port}{path}"
    setup = client.setup(bases, mcp, os.environ)
    values = [f"{name}={shlex.quote(value)}" for name, value in setup.env.items()]
    words = [*values, client.program, *map(shlex.quote, setup.arguments)]
    return "\n".join([*lines, " ".join(words)])
