import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from foldline.errors import InputError, UnknownFormat
from foldline.formats.registry import DIALECTS, detect_dialect, dialect

PLAIN = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
TOOL_USE = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}],
}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
IMAGE_URL = {"type": "image_url", "image_url": {"url": "https://x.y/a.png"}}
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("openai-chat", PLAIN),
        ("openai-chat", {"model": "m", "messages": PLAIN, "max_tokens": 100}),
        ("openai-chat", [{"role": "system", "content": "s"}, *PLAIN]),
        ("openai-chat", [PLAIN[0], CALLING]),
        ("openai-chat", [{"role": "tool", "tool_call_id": "1", "content": "x"}]),
        ("openai-chat", [{"role": "user", "content": [IMAGE_URL]}]),
        ("openai-chat", [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]),
        ("anthropic", [PLAIN[0], TOOL_USE]),
        ("anthropic", [{"role": "user", "content": [IMAGE]}]),
        ("anthropic", {"system": "s", "max_tokens": 100, "messages": PLAIN}),
        ("anthropic", {"anthropic_version": "bedrock", "max_tokens": 1, "messages": PLAIN}),
        ("anthropic", {"max_tokens": 1, "messages": PLAIN, "tools": [{"input_schema": {}}]}),
        ("openai-responses", {"model": "m", "input": PLAIN}),
        ("openai-responses", {"model": "m", "input": "hi"}),
        (
            "openai-responses",
            [PLAIN[0], {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}],
        ),
        (
            "openai-responses",
            [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        ),
        ("gemini", [{"role": "user", "parts": [{"text": "hi"}]}]),
        ("gemini", {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}),
        ("langchain", [{"type": "human", "content": "hi"}]),
        ("langchain", {"messages": [{"type": "ai", "content": "hi"}]}),
        ("langchain", {"values": {"messages": [{"type": "human", "content": "hi"}]}}),
        (
            "langchain",
            [{"lc": 1, "type": "constructor", "id": ["HumanMessage"], "kwargs": {"content": ""}}],
        ),
        ("langchain", [HumanMessage("hi")]),
    ],
)
def test_a_conversation_is_recognised_by_its_content(name, wire):
    assert detect_dialect(wire).name == name
    detect_dialect(wire).decode(wire)


@pytest.mark.parametrize(
    ("wire", "sentence"),
    [
        ("hello", "A conversation is a list of messages or a request body, not str"),
        (None, "A conversation is a list of messages or a request body, not NoneType"),
        ([], "The conversation is empty"),
        ({"messages": []}, "The conversation is empty"),
        ({"model": "m"}, "The object has none of the fields messages, contents, input, values"),
        ({"messages": "hi"}, "field messages: the messages are not a list"),
        (["hi"], "message 0: a message is an object, not str"),
        ([*PLAIN, {"content": "x"}], "message 2, field role: the role is missing"),
        ([*PLAIN, {"role": "exit"}], "message 2, field role: unknown role 'exit'"),
        ([{"role": 3}], "message 0, field role: the role is not a string"),
        ([{"type": "bogus"}], "message 0, field type: unknown type 'bogus'"),
    ],
)
def test_a_value_that_is_not_a_conversation_is_explained(wire, sentence):
    with pytest.raises(UnknownFormat) as caught:
        detect_dialect(wire)
    assert caught.value.message == sentence
    assert caught.value.hint


@given(
    st.recursive(
        st.none() | st.integers() | st.sampled_from(["role", "user", "messages", "type", "ai"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["role", "type", "content", "messages", "values", "input", "parts"]
                ),
                inner,
            )
        ),
        max_leaves=15,
    )
)
def test_hostile_input_is_recognised_or_an_input_error(wire):
    try:
        found = detect_dialect(wire)
    except InputError as error:
        json.dumps(str(error))
    else:
        assert DIALECTS[found.name] is found


def test_dialects_are_found_by_name():
    for name in DIALECTS:
        assert dialect(name).name == name
        assert dialect(name) is DIALECTS[name]
    assert len(DIALECTS) == len(set(DIALECTS)) == 6


def test_an_unknown_name_suggests_a_known_one():
    with pytest.raises(UnknownFormat) as caught:
        dialect("antropic")
    assert "Did you mean 'anthropic'?" in str(caught.value)
    with pytest.raises(UnknownFormat) as caught:
        dialect("xml")
    assert all(name in str(caught.value) for name in DIALECTS)
    assert "mean" not in str(caught.value)


def test_no_dialect_imports_a_third_party_module():
    code = (
        "import sys\n"
        "from foldline.formats.registry import DIALECTS\n"
        "before = set(sys.modules)\n"
        "list(DIALECTS.values())\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(*(new - set(sys.stdlib_module_names) - {'foldline'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
