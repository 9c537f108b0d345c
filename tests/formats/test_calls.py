from __future__ import annotations

import pytest

from foldline.errors import InputError
from foldline.formats.tool_json import CallShape
from foldline.values.messages import ToolCall

FLAT = CallShape("input", new={"type": "call"})
NESTED = CallShape(inner="function", needs_id=True, encode=str)


def test_a_call_is_read_where_its_shape_says() -> None:
    wire = {"id": "c", "function": {"name": "f", "arguments": {"a": 1}}}
    read = NESTED.read(wire, 0, "calls[0]")
    assert (read.id, read.name, read.arguments, read.raw is wire) == ("c", "f", '{"a": 1}', True)
    assert FLAT.read({"name": "f"}, 0, "x") == ToolCall(None, "f", "{}")


@pytest.mark.parametrize(
    ("wire", "field"),
    [
        ({"function": {"name": "f"}}, "calls[0].id"),
        ({"id": "c"}, "calls[0].function"),
        ({"id": "c", "function": {}}, "calls[0].function.name"),
    ],
)
def test_a_malformed_call_is_named(wire: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as caught:
        NESTED.read(wire, 3, "calls[0]")
    assert (caught.value.index, caught.value.field) == (3, field)


def test_an_unchanged_call_is_the_very_object_that_came() -> None:
    wire = {"id": "c", "function": {"name": "f", "arguments": '{"a":1}'}, "more": 1}
    assert NESTED.write(NESTED.read(wire, 0, ""), wire) is wire


def test_changed_arguments_stay_text_or_an_object_as_they_were() -> None:
    changed = ToolCall("d", "f", '{"b": 2}')
    before = {"id": "c", "function": {"name": "f", "arguments": "{}"}, "more": 1}
    after = {"id": "d", "function": {"name": "f", "arguments": '{"b": 2}'}, "more": 1}
    assert NESTED.write(changed, before) == after
    assert FLAT.write(changed, {"id": "d", "input": {}}) == {"id": "d", "input": {"b": 2}}


def test_a_call_of_another_wire_becomes_a_new_object() -> None:
    call = ToolCall("c", "f", '{"a": 1}')
    assert FLAT.write(call, None) == {"id": "c", "type": "call", "name": "f", "input": {"a": 1}}
    made = {"id": "c", "function": {"name": "f", "arguments": '{"a": 1}'}}
    assert NESTED.write(call, None) == made
