from __future__ import annotations

import pytest

from foldline.errors import InputError
from foldline.formats.tool_json import CallShape
from foldline.values.messages import ToolCall

FLAT = CallShape("input", new={"type": "call"})
NESTED = CallShape(inner="function", needs_id=True, as_text=True, encode=str)
EITHER = CallShape(as_text=None)


def test_a_call_is_read_from_the_keys_of_its_shape() -> None:
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


def test_an_unchanged_call_is_the_original_object() -> None:
    wire = {"id": "c", "function": {"name": "f", "arguments": '{"a":1}'}, "more": 1}
    assert NESTED.write(NESTED.read(wire, 0, ""), wire) is wire


@pytest.mark.parametrize("before", ["{}", {"a": 1}, None])
def test_changed_arguments_have_the_type_that_the_wire_requires(before: object) -> None:
    changed = ToolCall("d", "f", '{"b": 2}')
    wire = {"id": "c", "function": {"name": "f", "arguments": before}, "more": 1}
    after = {"id": "d", "function": {"name": "f", "arguments": '{"b": 2}'}, "more": 1}
    assert NESTED.write(changed, wire) == after
    assert FLAT.write(changed, {"id": "d", "input": before}) == {"id": "d", "input": {"b": 2}}


@pytest.mark.parametrize(("before", "after"), [("{}", '{"b": 2}'), ({"a": 1}, {"b": 2})])
def test_changed_arguments_keep_their_type_if_both_are_valid(
    before: object, after: object
) -> None:
    changed = ToolCall("c", "f", '{"b": 2}')
    assert EITHER.write(changed, {"id": "c", "arguments": before})["arguments"] == after


def test_a_call_of_another_wire_is_written_as_a_new_object() -> None:
    call = ToolCall("c", "f", '{"a": 1}')
    assert FLAT.write(call, None) == {"id": "c", "type": "call", "name": "f", "input": {"a": 1}}
    made = {"id": "c", "function": {"name": "f", "arguments": '{"a": 1}'}}
    assert NESTED.write(call, None) == made


def test_a_new_call_begins_with_its_type_unless_its_id_comes_first() -> None:
    first = CallShape(new={"id": "", "type": "call"})
    call = ToolCall("c", "f", "{}")
    assert list(FLAT.write(call, None)) == ["type", "id", "name", "input"]
    assert list(first.write(call, None)) == ["id", "type", "name", "arguments"]
