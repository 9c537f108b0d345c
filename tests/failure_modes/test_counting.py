"""Token counts that were wrong by factors."""

import base64
import json

import pytest

import foldline
from foldline.core.budget import Budget
from foldline.session import Session
from foldline.stores.memory import MemoryStore
from foldline.tokens.estimate import EstimatedCounter
from foldline.tokens.splintr import SplintrCounter
from foldline.values.messages import Message, Thinking, Usage
from foldline.values.tokens import TokenCounter

COUNTER = EstimatedCounter("o200k")
PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\x00" * 750_000).decode()
PDF = base64.b64encode(b"%PDF-1.4\n" + b"0" * 750_000).decode()


def tokens(messages, **rest):
    return foldline.count(messages, counter=COUNTER, **rest)


@pytest.mark.requirement("K7", "F74")
def test_system_prompt_and_tools_make_a_compaction_due():
    budget = Budget.of_window(100_000, output=0, margin=0, overhead=50_000)
    assert budget.is_due(1.0, 60_000)
    assert not Budget.of_window(100_000, output=0, margin=0).is_due(1.0, 60_000)


CHAT = "openai-chat"
SHAPES = [
    (CHAT, {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}),
    (CHAT, {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PDF}"}}),
    (CHAT, {"type": "input_audio", "input_audio": {"data": PICTURE[:90_000], "format": "wav"}}),
    (
        "openai-responses",
        {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"},
    ),
    ("gemini", {"inlineData": {"mimeType": "image/png", "data": PICTURE}}),
    ("gemini", {"inline_data": {"mime_type": "application/pdf", "data": PDF}}),
    (
        "anthropic",
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": PICTURE},
        },
    ),
    (
        "anthropic",
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
        },
    ),
    ("langchain", {"type": "image", "base64": PICTURE, "mime_type": "image/png"}),
    ("langchain", {"type": "media", "data": PICTURE, "mime_type": "image/png"}),
]


@pytest.mark.parametrize(("dialect", "block"), SHAPES)
@pytest.mark.requirement("K7", "F75")
def test_media_are_not_counted_as_text_or_as_zero(dialect, block):
    if dialect == "gemini":
        message = {"role": "user", "parts": [block]}
    elif dialect == "langchain":
        message = {"type": "human", "content": [block]}
    else:
        message = {"role": "user", "content": [block]}
    assert 80 <= tokens([message], format=dialect) <= 60_000
    if "pdf" not in json.dumps(block)[:200]:
        assert tokens([message], format=dialect) <= 6_000


@pytest.mark.requirement("F75")
def test_an_image_inside_a_tool_result_is_an_image():
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    block = {
        "type": "tool_result",
        "tool_use_id": "1",
        "content": [{"type": "image", "source": source}],
    }
    assert 80 <= tokens([{"role": "user", "content": [block]}]) <= 6_000


DENSE = {
    "hex": "3fa9c1d07be24586" * 200,
    "json": json.dumps([{"id": n, "ok": True} for n in range(200)], separators=(",", ":")),
    "base64": base64.b64encode(bytes(range(256)) * 8).decode(),
    "digits": "31415926535897932384" * 100,
    "spaces": " " * 8_000,
}


@pytest.mark.parametrize("kind", DENSE)
@pytest.mark.requirement("K6", "F77")
def test_dense_texts_are_never_far_underestimated(kind):
    pytest.importorskip("splintr")
    exact = SplintrCounter("o200k").count(DENSE[kind])
    assert COUNTER.count(DENSE[kind]) >= exact / 1.5


@pytest.mark.requirement("F78")
def test_signatures_count_nothing_and_visible_reasoning_does():
    counter = TokenCounter(COUNTER)
    signed = Thinking("a short thought", True, {"signature": "x" * 8_000})
    hidden = Thinking("", True, {"encrypted_content": "x" * 50_000})
    bare = Message("assistant", (Thinking("a short thought"),))
    assert counter.message(Message("assistant", (signed,))) == counter.message(bare)
    assert counter.part(hidden) == 0


@pytest.mark.requirement("F79")
def test_a_call_that_is_on_the_wire_twice_is_counted_once():
    arguments = {"text": "word " * 500}
    once = {
        "type": "ai",
        "content": "",
        "tool_calls": [{"name": "write", "args": arguments, "id": "1"}],
    }
    block = {"type": "tool_use", "id": "1", "name": "write", "input": arguments}
    twice = {**once, "content": [block]}
    assert tokens([twice], format="langchain") == tokens([once], format="langchain")


@pytest.mark.parametrize(
    ("dialect", "message"),
    [
        (CHAT, {"role": "user", "content": [{"type": "new_thing", "data": "x" * 900}]}),
        ("anthropic", {"role": "user", "content": [{"type": "new_thing", "data": {"a": 1}}]}),
        ("openai-responses", {"type": "new_item", "data": "x"}),
        ("gemini", {"role": "user", "parts": [{"newThing": {"a": 1}}]}),
        ("langchain", {"type": "human", "content": [{"type": "new_thing", "data": 1}]}),
    ],
)
@pytest.mark.requirement("F81")
def test_an_unknown_part_is_a_number_rather_than_an_exception(dialect, message):
    assert tokens([message], format=dialect) > 0


@pytest.mark.requirement("H6", "F82")
def test_the_text_of_a_special_token_is_counted_like_any_other():
    messages = [{"role": "user", "content": "say <|endoftext|> and <|im_start|>"}]
    assert tokens(messages) > 5
    assert foldline.count(messages) > 5


@pytest.mark.requirement("C23", "F83")
def test_a_given_window_wins_and_an_unknown_one_is_conservative():
    unknown = Budget.of_window(None)
    assert not unknown.resolved
    assert unknown.scale <= 128_000
    known = Session.open(None, "a", store=MemoryStore(), model="gpt-4.1", window=200_000)
    assert known.budget.scale < 200_000


@pytest.mark.requirement("F58", "K8", "F59")
def test_usage_reported_for_the_old_prefix_triggers_nothing():
    session = Session.open(
        None, "a", store=MemoryStore(), window=20_000, counter=COUNTER, format="anthropic"
    )
    session.append({"role": "user", "content": "task"})
    for n in range(30):
        session.append({"role": "assistant", "content": f"step {n} " + "word " * 400})
        session.append({"role": "user", "content": "go on"})
    reported = Usage(input=18_000, output=900)
    session.append({"role": "assistant", "content": "long ago"}, usage=reported)
    assert session.compact().status == "compacted"
    assert session.tokens < 10_000
    before = session.view()
    assert session.compact().status == "unchanged"
    assert session.view() == before
