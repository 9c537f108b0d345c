from __future__ import annotations

import pytest

from foldline.formats.tool_schemas import ToolSchema, tool_schemas

PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}}
SCHEMA = ToolSchema("read", "Read a file.", PARAMETERS)
NAMED = {"name": "read", "description": "Read a file."}


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {**NAMED, "parameters": PARAMETERS}},
        {"type": "function", **NAMED, "parameters": PARAMETERS, "strict": True},
        {**NAMED, "input_schema": PARAMETERS},
        {"functionDeclarations": [{**NAMED, "parameters": PARAMETERS}]},
    ],
)
def test_the_notation_of_every_provider_is_read(tool: dict) -> None:
    assert tool_schemas([tool]) == [SCHEMA]


def test_what_is_written_can_be_read_again() -> None:
    assert tool_schemas([SCHEMA.as_anthropic(), SCHEMA.as_responses()]) == [SCHEMA, SCHEMA]


def test_a_function_without_parameters_takes_none() -> None:
    schema = tool_schemas([{"type": "function", "function": {"name": "now"}}])[0]
    assert schema.parameters == {"type": "object", "properties": {}}


def test_tools_of_the_provider_and_nonsense_are_left_out() -> None:
    assert tool_schemas([{"type": "web_search_20250305", "name": "web_search"}, 3, {}, None]) == []
