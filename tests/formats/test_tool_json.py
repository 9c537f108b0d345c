from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.errors import InputError
from foldline.formats.tool_json import (
    ToolSchema,
    arguments_json,
    arguments_object,
    arguments_text,
    json_text,
    tool_schemas,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "{}"), ('{"a":1}', '{"a":1}'), ({"a": "汉"}, '{"a": "汉"}'), ("free", "free")],
)
def test_arguments_become_text_without_changing_text(value: object, text: str) -> None:
    assert arguments_text(value) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("[1]", {"input": "[1]"}),
        ("ls -l", {"input": "ls -l"}),
        ("[" * 100_000, {"input": "[" * 100_000}),
    ],
)
def test_arguments_become_an_object_without_losing_text(text: str, value: dict) -> None:
    assert arguments_object(text) == value


@given(st.text())
def test_the_json_of_arguments_is_always_an_object(text: str) -> None:
    assert isinstance(json.loads(arguments_json(text)), dict)


def test_the_json_of_an_object_is_its_own_text() -> None:
    assert arguments_json('{"a":1}') == '{"a":1}'
    assert arguments_json('{"input": "x"}') == '{"input": "x"}'


def test_deep_nesting_is_an_error_that_names_message_and_field() -> None:
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InputError) as caught:
        json_text(deep, 3, "input")
    assert (caught.value.index, caught.value.field) == (3, "input")


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


def test_written_schemas_can_be_read_again() -> None:
    wires = [SCHEMA.as_object("input_schema"), SCHEMA.as_object("parameters")]
    assert tool_schemas(wires) == [SCHEMA, SCHEMA]


def test_a_function_without_parameters_takes_none() -> None:
    schema = tool_schemas([{"type": "function", "function": {"name": "now"}}])[0]
    assert schema.parameters == {"type": "object", "properties": {}}


def test_provider_tools_and_invalid_schemas_are_omitted() -> None:
    assert tool_schemas([{"type": "web_search_20250305", "name": "web_search"}, 3, {}, None]) == []
