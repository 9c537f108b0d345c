import pytest

from foldline.formats.langchain import LangChainDialect


def human(content="hi"):
    return {"type": "human", "content": content}


def ai(content="", calls=(), **rest):
    listed = [{"name": "f", "args": {}, "id": number} for number in calls]
    return {"type": "ai", "content": content, "tool_calls": listed, **rest}


def tool(number, content="x"):
    return {"type": "tool", "content": content, "tool_call_id": number}


def rules(messages):
    return [
        (violation.index, violation.rule) for violation in LangChainDialect().validate(messages)
    ]


BLOCK = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
SENT = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    "messages",
    [
        [human()],
        [human(), ai(calls=["1", "2"]), tool("2"), tool("1"), ai("done")],
        [human(), ai(calls=["1"])],
        [human(), ai(calls=["1", "2"]), tool("1")],
        [human(), {"type": "system", "content": "note"}, ai("ok")],
        [human(), ai([BLOCK]), tool("1")],
        [human(), ai([BLOCK], ["1"]), tool("1"), ai("done")],
        [human(), ai(additional_kwargs={"tool_calls": [SENT]}), tool("1")],
        [human(), ai(calls=["1"], additional_kwargs={"tool_calls": [SENT]}), tool("1", "")],
        [human(), ai(additional_kwargs={"reasoning_content": "hm"})],
        [human(), ai(calls=["1"]), tool("1"), ai(calls=["1"]), tool("1")],
    ],
)
def test_valid_input_has_no_violations(messages):
    assert rules(messages) == []


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([{"type": "narrator", "content": "a"}], [(0, "type")]),
        ([{"type": "remove", "content": "", "id": "1"}], [(0, "type")]),
        (["a", None], [(0, "type"), (1, "type")]),
        ([human("")], [(0, "empty")]),
        ([human([])], [(0, "empty")]),
        ([human([{"type": "text", "text": ""}])], [(0, "empty")]),
        ([human(), ai()], [(1, "empty")]),
        ([human(), ai(calls=["1"]), human()], [(1, "pairing")]),
        ([human(), ai(calls=["1", "2"]), tool("1"), ai("x")], [(1, "pairing")]),
        ([human(), ai([BLOCK]), human()], [(1, "pairing")]),
        ([human(), ai(additional_kwargs={"tool_calls": [SENT]}), human()], [(1, "pairing")]),
        ([human(), tool("1")], [(1, "pairing")]),
        ([human(), ai(calls=["1"]), tool("1"), tool("1")], [(3, "pairing")]),
        ([human(), ai(calls=["1"]), human(), tool("1")], [(1, "pairing"), (3, "pairing")]),
        ([human(), ai(calls=["1", "1"]), tool("1")], [(1, "duplicate")]),
        ([human(), ai(calls=[None])], [(1, "type")]),
        ([human(), {**tool("1"), "tool_call_id": None}], [(1, "pairing")]),
        ([human(), ai(calls=["1"]), tool("1", None)], [(2, "type")]),
        ([human(), ai("x", tool_calls={"a": 1})], [(1, "type")]),
        ([human(), ai(tool_calls=[{"name": "f", "args": "{}", "id": "1"}])], [(1, "arguments")]),
        ([human(), ai(tool_calls=[{"args": {}, "id": "1"}])], [(1, "type")]),
    ],
)
def test_invalid_input_violates_the_named_rule(messages, found):
    assert rules(messages) == found
