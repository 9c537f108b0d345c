import pytest

from foldline.formats.openai_chat import OpenAIChatDialect


def user(content="hi"):
    return {"role": "user", "content": content}


def call(number, arguments="{}"):
    return {"id": number, "type": "function", "function": {"name": "f", "arguments": arguments}}


def assistant(content=None, *numbers):
    calls = {"tool_calls": [call(number) for number in numbers]} if numbers else {}
    return {"role": "assistant", "content": content, **calls}


def tool(number, content="x"):
    return {"role": "tool", "tool_call_id": number, "content": content}


def rules(messages):
    return [
        (violation.index, violation.rule) for violation in OpenAIChatDialect().validate(messages)
    ]


FUNCTION_CALL = {
    "role": "assistant",
    "content": None,
    "function_call": {"name": "f", "arguments": "{}"},
}
FUNCTION = {"role": "function", "name": "f", "content": "x"}
CUSTOM = {"id": "1", "type": "custom", "custom": {"name": "p", "input": "text"}}


@pytest.mark.parametrize(
    "messages",
    [
        [user()],
        [{"role": "system", "content": "s"}, user(), assistant("x"), {**user(), "name": "n"}],
        [user(), assistant(None, "1", "2"), tool("2"), tool("1"), assistant("done")],
        [user(), assistant(None, "1", "2"), tool("1")],
        [user(), assistant(None, "1")],
        [user(), assistant(None, "1"), tool("1"), assistant(None, "1"), tool("1", "")],
        [user(), {"role": "assistant", "tool_calls": [CUSTOM]}, tool("1")],
        [user(), {"role": "assistant", "content": None, "refusal": "no"}],
        [user(), FUNCTION_CALL, FUNCTION],
        [user(), FUNCTION_CALL],
    ],
)
def test_valid_input_has_no_violations(messages):
    assert rules(messages) == []


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([], [(0, "empty")]),
        ([{"role": "exit", "content": "x"}], [(0, "role")]),
        ([{"role": ["user"], "content": "x"}, None], [(0, "role"), (1, "role")]),
        ([user("")], [(0, "empty")]),
        ([user(), assistant()], [(1, "empty")]),
        ([user(), assistant(None, "1"), user()], [(1, "pairing")]),
        ([user(), assistant(None, "1", "2"), tool("1"), assistant("x")], [(1, "pairing")]),
        ([user(), tool("1")], [(1, "pairing")]),
        ([user(), assistant(None, "1"), tool("1"), tool("1")], [(3, "pairing")]),
        ([user(), assistant(None, "1"), user(), tool("1")], [(1, "pairing"), (3, "pairing")]),
        ([user(), assistant(None, "1", "1"), tool("1")], [(1, "duplicate")]),
        ([user(), assistant(None, "1"), {"role": "tool", "content": "x"}], [(2, "pairing")]),
        ([user(), assistant(None, "1"), tool("1", None)], [(2, "type")]),
        ([user(), assistant(None, "")], [(1, "type")]),
        ([user(), {**assistant("x"), "tool_calls": []}], [(1, "type")]),
        ([user(), {**assistant("x"), "tool_calls": "1"}], [(1, "type")]),
        ([user(), {**assistant(), "tool_calls": [call("1", {})]}], [(1, "arguments")]),
        ([user(), {**assistant(), "tool_calls": [{"id": "1"}]}], [(1, "type")]),
        ([user(), FUNCTION_CALL, user()], [(1, "pairing")]),
        ([user(), FUNCTION], [(1, "pairing")]),
        ("hello", [(0, "type")]),
        ({"model": "m"}, [(0, "type")]),
    ],
)
def test_invalid_input_violates_the_named_rule(messages, found):
    assert rules(messages) == found


def test_every_cut_through_parallel_calls_is_a_violation():
    chat = [user(), assistant(None, "1", "2"), tool("1"), tool("2"), assistant("done")]
    for start in (2, 3):
        assert rules([user(), *chat[start:]]) == [(n, "pairing") for n in range(1, 5 - start)]
    assert rules(chat[1:2] + chat[3:]) == [(0, "pairing")]


def test_a_violation_names_location_and_problem():
    (violation,) = OpenAIChatDialect().validate([user(), tool("zz")])
    assert str(violation) == (
        "message 1, field tool_call_id: the result of 'zz' does not follow a message with that "
        "call [pairing]"
    )
