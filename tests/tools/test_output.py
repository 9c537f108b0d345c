import json

import pytest

from foldline.errors import InputError
from foldline.tools import ErrorCode, ToolOutput

OUTPUTS = [
    ToolOutput("done"),
    ToolOutput("the first page", "partial", data={"next": 4}, stats={"bytes": 12}),
    ToolOutput.error(ErrorCode.NOT_FOUND, "There is no such file.", path="a.py"),
]


@pytest.mark.requirement("H11")
@pytest.mark.parametrize("output", OUTPUTS)
def test_an_output_becomes_json_and_comes_back(output):
    assert ToolOutput.from_dict(output.to_dict()) == output
    assert ToolOutput.from_dict(json.loads(output.to_json())) == output


@pytest.mark.requirement("H11")
def test_an_error_has_a_code_and_nothing_else_has_one():
    assert OUTPUTS[2].to_dict() == {
        "status": "error",
        "text": "There is no such file.",
        "code": "not_found",
        "data": {"path": "a.py"},
    }
    assert [output.ok for output in OUTPUTS] == [True, True, False]
    for status, code in (("error", None), ("success", ErrorCode.TIMEOUT), ("fine", None)):
        with pytest.raises(InputError):
            ToolOutput("", status, code)


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("text", ""),
        ({"text": 5}, "text"),
        ({"status": ["error"]}, "status"),
        ({"status": "error", "code": "no such"}, "code"),
        ({"status": "error", "code": {}}, "code"),
        ({"data": [1]}, "data"),
        ({"stats": "x"}, "stats"),
    ],
)
def test_an_invalid_output_is_an_error_that_names_the_field(value, field):
    with pytest.raises(InputError) as raised:
        ToolOutput.from_dict(value)
    assert raised.value.field == field


def test_a_value_that_is_not_json_does_not_break_the_output():
    assert "object" in ToolOutput("", data={"x": object()}).to_json()
