import json

import pytest

from foldline.errors import InputError
from foldline.tools.arguments import LONGEST, check_arguments, check_schema, parse_arguments

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1, "maxLength": 9},
        "count": {"type": "integer", "minimum": 0, "maximum": 5, "default": 3},
        "ratio": {"type": ["number", "null"]},
        "mode": {"type": "string", "enum": ["fast", "slow"]},
        "names": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
        "deep": {
            "type": "object",
            "properties": {"on": {"type": "boolean"}},
            "required": ["on"],
            "additionalProperties": False,
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}


def problems(**arguments):
    return check_arguments(SCHEMA, arguments)[1]


def test_right_arguments_pass_and_defaults_are_filled_in():
    check_schema(SCHEMA)
    given = {"path": "a", "ratio": None, "mode": "fast", "names": ["x"], "deep": {"on": True}}
    assert check_arguments(SCHEMA, given) == ({**given, "count": 3}, [])
    assert "count" not in given


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "path: missing"),
        ({"path": 5}, "path: string expected, not 5"),
        ({"path": ""}, "path: '' is invalid; it must have at least 1 characters"),
        ({"path": "x" * 10}, "it must have at most 9 characters"),
        ({"path": "a", "count": 6}, "count: 6 is invalid; it must be at most 5"),
        ({"path": "a", "count": -1}, "it must be at least 0"),
        ({"path": "a", "count": True}, "count: integer expected, not True"),
        ({"path": "a", "count": 1.5}, "count: integer expected, not 1.5"),
        ({"path": "a", "ratio": float("nan")}, "ratio: number or null expected"),
        ({"path": "a", "mode": "fats"}, "'fats' is not one of fast, slow. Did you mean 'fast'?"),
        ({"path": "a", "names": []}, "it must have at least 1 items"),
        ({"path": "a", "names": ["a", 2]}, "names[1]: string expected, not 2"),
        ({"path": "a", "names": "no list"}, "names: array expected"),
        ({"path": "a", "deep": {"on": "yes"}}, "deep.on: boolean expected"),
        ({"path": "a", "deep": {}}, "deep.on: missing"),
        ({"path": "a", "pth": "b"}, "pth: unknown. Did you mean 'path'? Known: path, count"),
    ],
)
def test_each_wrong_argument_is_named_with_the_expected_value(arguments, told):
    (problem,) = problems(**arguments)
    assert told in problem


def test_all_problems_are_reported_at_once():
    assert len(problems(path=5, count="x", other=1)) == 3


def test_common_mistakes_of_models_are_repaired():
    given = {"path": "a", "count": 4.0, "names": '["x", "y"]', "deep": '{"on": true}'}
    value, wrong = check_arguments(SCHEMA, given)
    assert wrong == []
    assert value == {"path": "a", "count": 4, "names": ["x", "y"], "deep": {"on": True}}
    assert check_arguments(SCHEMA, {"path": "a", "count": "4", "ratio": "0.5"}) == (
        {"path": "a", "count": 4, "ratio": 0.5},
        [],
    )


def test_null_is_nothing_where_nothing_need_be():
    given = {"path": "a", "count": None, "ratio": None, "mode": None}
    assert check_arguments(SCHEMA, given) == ({"path": "a", "count": 3, "ratio": None}, [])
    assert problems(path=None) == ["path: string expected, not None"]


def test_arguments_come_as_text_as_an_object_or_not_at_all():
    assert parse_arguments('{"a": 1}') == parse_arguments({"a": 1}) == {"a": 1}
    assert parse_arguments("") == parse_arguments(None) == parse_arguments("  ") == {}


@pytest.mark.parametrize(
    "text", ["{", "NaN", '{"a": Infinity}', "[" * 100_000, '"' + "x" * LONGEST + '"', "'a'"]
)
def test_invalid_json_is_one_error(text):
    with pytest.raises(InputError, match="arguments"):
        parse_arguments(text)


@pytest.mark.parametrize("value", ["text", 5, [1], None, True])
def test_arguments_that_are_not_an_object_are_reported(value):
    assert "object expected" in check_arguments(SCHEMA, value)[1][0]


@pytest.mark.parametrize(
    "schema",
    [
        {},
        [],
        {"type": "thing"},
        {"type": "string", "pattern": "a+"},
        {"type": "object", "required": ["a"]},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"oneOf": []}}}},
    ],
)
def test_a_schema_with_unsupported_keywords_is_refused(schema):
    with pytest.raises(InputError, match="parameters"):
        check_schema(schema)


def test_an_endless_schema_is_refused():
    endless = {"type": "array"}
    endless["items"] = endless
    with pytest.raises(InputError, match="nested"):
        check_schema(endless)


def test_an_endless_value_is_refused_or_skipped():
    deep = json.loads("[" * 500 + "]" * 500)
    assert check_arguments({"type": "array", "items": {"type": "string"}}, deep)[1]
    assert check_arguments({"type": "array"}, deep)[1] == []
