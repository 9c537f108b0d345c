from __future__ import annotations

import json
import os
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from foldline.cli.commands.coding_agents import (
    CHATGPT,
    CLIENTS,
    OPENCODE,
    shell_commands,
    split_address,
)
from foldline.errors import InputError

MCP = ("/usr/bin/python", "-m", "foldline", "mcp", "--archive", '/kept/a "b".db')


def codex_settings(arguments: tuple[str, ...]) -> dict[str, Any]:
    """Parse the value after each ``-c`` as Codex does: a path of keys, and TOML."""
    assert arguments[::2] == ("-c",) * (len(arguments) // 2)
    return tomllib.loads("\n".join(arguments[1::2]))


def test_claude_gets_its_address_and_the_server_and_swallows_no_argument() -> None:
    setup = CLIENTS["claude"].setup({"anthropic": "http://127.0.0.1:9/x"}, MCP, {})
    assert setup.env == {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9/x"}
    (option,) = setup.arguments
    flag, _, value = option.partition("=")
    assert flag == "--mcp-config"
    server = json.loads(value)["mcpServers"]["foldline"]
    assert (server["command"], *server["args"]) == MCP


def test_codex_gets_both_as_settings() -> None:
    setup = CLIENTS["codex"].setup({"openai": "http://127.0.0.1:9/v1"}, MCP, {})
    read = codex_settings(setup.arguments)
    assert read["openai_base_url"] == "http://127.0.0.1:9/v1"
    server = read["mcp_servers"]["foldline"]
    assert (server["command"], *server["args"]) == MCP
    assert setup.env == {}


def test_opencode_keeps_the_settings_of_the_user() -> None:
    own = {"provider": {"mine": {"models": {}, "options": {"apiKey": "k"}}}, "theme": "dark"}
    setup = CLIENTS["opencode"].setup(
        {"mine": "http://127.0.0.1:9"}, MCP, {OPENCODE: json.dumps(own)}
    )
    read = json.loads(setup.env[OPENCODE])
    assert read["theme"] == "dark"
    assert read["provider"]["mine"]["options"] == {"apiKey": "k", "baseURL": "http://127.0.0.1:9"}
    assert read["provider"]["mine"]["models"] == {}
    assert tuple(read["mcp"]["foldline"]["command"]) == MCP


def test_malformed_opencode_settings_are_reported() -> None:
    with pytest.raises(InputError, match="not JSON"):
        CLIENTS["opencode"].setup({"openai": "http://x"}, (), {OPENCODE: "{"})


@pytest.mark.parametrize("name", CLIENTS)
def test_without_the_server_package_the_agent_gets_no_mcp_server(name: str) -> None:
    client = CLIENTS[name]
    bases = dict.fromkeys(client.providers({"OPENAI_API_KEY": "k"}), "http://127.0.0.1:9")
    setup = client.setup(bases, (), {})
    assert "mcp" not in str(setup)


def test_requests_of_claude_go_to_its_configured_address() -> None:
    env = {"ANTHROPIC_BASE_URL": "https://gateway.example/anthropic"}
    assert CLIENTS["claude"].providers(env) == {"anthropic": env["ANTHROPIC_BASE_URL"]}
    assert CLIENTS["claude"].providers({}) == {"anthropic": "https://api.anthropic.com"}


@pytest.mark.parametrize(
    ("said", "address"),
    [("Logged in using ChatGPT", CHATGPT), ("Not logged in", "https://api.openai.com/v1")],
)
def test_the_login_status_comes_from_codex_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, address: str
) -> None:
    program = tmp_path / "codex"
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert CLIENTS["codex"].providers({"PATH": str(tmp_path)}) == {"openai": address}
    keyed = {"PATH": str(tmp_path), "OPENAI_API_KEY": "k"}
    assert CLIENTS["codex"].providers(keyed) == {"openai": "https://api.openai.com/v1"}


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("https://host/v1/", ("https://host", "/v1")),
        ("http://127.0.0.1:11434", ("http://127.0.0.1:11434", "")),
        (CHATGPT, ("https://chatgpt.com", "/backend-api/codex")),
        ("http://[::1]:80/a/b", ("http://[::1]:80", "/a/b")),
    ],
)
def test_an_address_is_split_into_an_origin_and_a_path(
    address: str, parts: tuple[str, str]
) -> None:
    assert split_address(address) == parts


@pytest.mark.parametrize(
    "address",
    [
        "",
        "host",
        "ftp://host",
        "http://",
        "http://u:secret@host",
        "http://h/?k=secret",
        "http://h:0",
    ],
)
def test_an_invalid_address_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(InputError) as caught:
        split_address(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", CLIENTS)
def test_printed_commands_can_be_pasted_into_a_shell(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(OPENCODE, raising=False)
    client = CLIENTS[name]
    addresses = client.providers({"OPENAI_API_KEY": "k"})
    *proxies, last = shell_commands(client, addresses, MCP).split("\n")

    assert len(proxies) == len(addresses)
    for port, (line, address) in enumerate(zip(proxies, addresses.values(), strict=True), 8080):
        origin = split_address(address)[0]
        assert shlex.split(line.rstrip("&")) == [
            "foldline", "serve", "--upstream", origin, "--port", str(port),
        ]  # fmt: skip
    words = shlex.split(last)
    bases = {
        one: f"http://127.0.0.1:{port}{split_address(address)[1]}"
        for port, (one, address) in enumerate(addresses.items(), 8080)
    }
    setup = client.setup(bases, MCP, os.environ)
    assert words[-len(setup.arguments) - 1 :] == [name, *setup.arguments]
    assert words[: len(setup.env)] == [f"{key}={value}" for key, value in setup.env.items()]
