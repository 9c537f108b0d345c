import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Optional

import pytest

from foldline.errors import InputError
from foldline.tools import ErrorCode, ToolOutput, tool_from_function
from foldline.tools.functions import schema_of


def weather(city: str, days: int = 1, units: Literal["C", "F"] = "C") -> str:
    """
    Say what the weather will be.

    Args:
        city: Where.
        days: How far ahead.
    """
    return f"{city}: {days} days of rain in {units}"


@pytest.mark.requirement("H12")
def test_a_function_is_a_tool_with_the_schema_of_its_signature():
    tool = tool_from_function(weather, labels={"network"})
    assert (tool.name, tool.description) == ("weather", "Say what the weather will be.")
    assert tool.labels == {"network"}
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where."},
            "days": {"type": "integer", "description": "How far ahead.", "default": 1},
            "units": {"type": "string", "enum": ["C", "F"], "default": "C"},
        },
        "required": ["city"],
        "additionalProperties": False,
    }
    assert tool.run('{"city": "Oslo"}').text == "Oslo: 1 days of rain in C"
    refused = tool.run({"city": "Oslo", "units": "K"})
    assert refused.code is ErrorCode.INVALID_ARGUMENTS


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (bool, {"type": "boolean"}),
        (float, {"type": "number"}),
        (list, {"type": "array"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (dict[str, Any], {"type": "object", "additionalProperties": True}),
        (Mapping[str, int], {"type": "object", "additionalProperties": True}),
        (str | None, {"type": ["string", "null"]}),
        (Optional[list[str]], {"type": ["array", "null"], "items": {"type": "string"}}),  # noqa: UP045
        (int | str, {"type": ["integer", "string"]}),
        (Literal["a", 1], {"type": ["string", "integer"], "enum": ["a", 1]}),
        (Literal["a"] | None, {"type": ["string", "null"], "enum": ["a", None]}),
    ],
)
def test_types_have_schemas(hint, schema):
    assert schema_of(hint) == schema


@pytest.mark.parametrize("hint", [Any, object, set[str], dict[int, str], Literal[b"a"], type])
def test_types_without_json_schema_are_errors_that_name_the_parameter(hint):
    with pytest.raises(InputError, match="where") as raised:
        schema_of(hint, "where")
    assert raised.value.field == "where"


def test_a_function_without_description_or_types_is_refused():
    def silent(city: str) -> str:
        return city

    def untyped(city) -> str:
        """Say something."""
        return city

    def spread(*cities: str) -> str:
        """Say something."""
        return str(cities)

    with pytest.raises(InputError, match="has no description"):
        tool_from_function(silent)
    with pytest.raises(InputError, match=r"untyped\.city"):
        tool_from_function(untyped)
    with pytest.raises(InputError, match="must accept a keyword"):
        tool_from_function(spread)


@pytest.mark.parametrize(
    ("result", "text"),
    [(None, "Done."), ("x", "x"), ({"ä": 1}, '{"ä": 1}'), ([1, 2], "[1, 2]"), (3.5, "3.5")],
)
def test_any_return_value_becomes_an_output(result, text):
    def give() -> Any:
        """Give something."""
        return result

    assert tool_from_function(give).run().text == text


def test_a_function_that_raises_is_an_error_output():
    def fail() -> None:
        """Fail."""
        raise RuntimeError("no disk")

    output = tool_from_function(fail).run()
    assert output.code is ErrorCode.EXECUTION
    assert "no disk" in output.text


def test_an_async_function_is_awaited_and_runs_in_a_plain_program_too():
    async def slow(word: str, flag: bool | None = None) -> ToolOutput:
        """Say a word."""
        await asyncio.sleep(0)
        return ToolOutput(json.dumps([word, flag]))

    tool = tool_from_function(slow, name="say")
    assert tool.run({"word": "a"}).text == '["a", null]'
    assert asyncio.run(tool.arun({"word": "b", "flag": True})).text == '["b", true]'
