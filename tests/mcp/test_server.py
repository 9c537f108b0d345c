from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("mcp")
import foldline
from foldline.mcp.server import Server
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool
from mcp import Client

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def shout(given: dict[str, Any]) -> ToolOutput:
    if given["text"] == "fail":
        return ToolOutput.error(ErrorCode.NOT_FOUND, "nothing there")
    if given["text"] == "crash":
        raise ValueError("a bug")
    return ToolOutput(given["text"].upper())


TOOLS = (
    Tool("shout", "Say it loudly.", TEXT, shout, labels=frozenset({"read"})),
    Tool("change", "Change it.", TEXT, shout, labels=frozenset({"write"})),
)


def talk(work: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(Server(TOOLS)) as client:
            return await work(client)

    return asyncio.run(run())


def test_a_client_sees_the_tools_with_schemas_and_annotations() -> None:
    first, second = talk(lambda client: client.list_tools()).tools
    assert (first.name, first.description) == ("shout", "Say it loudly.")
    assert first.input_schema == TEXT
    assert first.annotations.read_only_hint
    assert not second.annotations.read_only_hint


def test_a_call_returns_the_text_of_the_tool() -> None:
    done = talk(lambda client: client.call_tool("shout", {"text": "hey"}))
    assert [one.text for one in done.content] == ["HEY"]
    assert not done.is_error


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("shout", {"text": "fail"}, "nothing there"),
        ("shout", {"text": "crash"}, "a bug"),
        ("shout", {"text": 5}, "string expected"),
        ("shout", {}, "missing"),
        ("shoot", {}, "Did you mean 'shout'"),
    ],
)
def test_an_error_is_a_result_for_the_model(name: str, given: dict[str, Any], words: str) -> None:
    done = talk(lambda client: client.call_tool(name, given))
    assert done.is_error
    assert words in done.content[0].text


def test_the_server_has_a_name_and_instructions() -> None:
    async def look(client: Client) -> tuple[str, str, str]:
        info = client.server_info
        return info.name, info.version, client.instructions or ""

    name, version, instructions = talk(look)
    assert (name, version) == ("foldline", foldline.__version__)
    assert "recall" in instructions
