from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.cli.sample import PLANTED, foldline, start

pytest.importorskip("mcp")
from foldline.settings.sources import data_folder
from mcp import Client, StdioServerParameters, stdio_client


@pytest.fixture
def kept(session: Path, tmp_path: Path) -> Path:
    foldline("compact", session, "--budget", "30%", "-o", tmp_path / "out.json")
    return data_folder()


def talk(words: list[str], calls: list[tuple[str, dict[str, Any]]]) -> tuple[set[str], list[Any]]:
    """Start the server, and return the names of its tools and the results of calls."""
    arguments = ["-m", "foldline", "mcp", *words]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))

    async def run() -> tuple[set[str], list[Any]]:
        async with Client(stdio_client(server)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            return names, [await client.call_tool(*call) for call in calls]

    return asyncio.run(run())


def test_an_agent_searches_and_recalls_over_stdio(kept: Path) -> None:
    before = {one.name for one in kept.iterdir()}
    names, (found, stats) = talk(
        [], [("search", {"query": "deploy key"}), ("stats", {"session": "session.json"})]
    )
    assert names == {"recall", "search", "stats", "note", "memory"}
    assert PLANTED in found.content[0].text
    assert "1 compactions" in stats.content[0].text
    assert {one.name for one in kept.iterdir()} == before


def test_with_write_permission_an_agent_keeps_notes_and_compacts(
    kept: Path, tmp_path: Path
) -> None:
    notes = str(tmp_path / "notes")
    names, (made, done) = talk(
        ["--write", "--notes", notes],
        [("note", {"action": "create", "title": "A"}), ("compact", {"focus": "the heron"})],
    )
    assert "compact" in names
    assert not made.is_error
    assert "Session session.json" in done.content[0].text
    assert len(list((tmp_path / "notes").glob("2*.md"))) == 1


def test_over_http_only_clients_of_this_machine_with_the_token_are_answered(kept: Path) -> None:
    port = _free_port()
    server = start("mcp", "--http", port, "--token", "sesame")
    assert server.stdout is not None
    address = server.stdout.readline().decode().strip()
    assert address == f"http://127.0.0.1:{port}/mcp"

    assert _status(address, wait=True) == 401
    assert _status(address, Authorization="Bearer wrong") == 401
    assert _status(address, Authorization="Bearer sesame", Origin="http://a.example") == 403
    assert _status(address, Authorization="Bearer sesame", Host="a.example") == 421
    assert _status(address, Authorization="Bearer sesame") == 200


def test_an_address_that_others_reach_asks_for_a_token() -> None:
    done = foldline("mcp", "--http", "8765", "--host", "192.0.2.1")
    assert done.exit_code == 2
    assert "--token" in done.stderr


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _status(address: str, *, wait: bool = False, **headers: str) -> int:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    usual = {"Accept": "application/json, text/event-stream"}
    for _ in range(100_000 if wait else 1):
        try:
            return httpx2.post(address, json=body, headers=usual | headers, timeout=30).status_code
        except httpx2.ConnectError:
            continue  # it does not listen yet
    raise AssertionError("nobody listens")
