"""The scripted server as the SDKs of OpenAI and Anthropic see it, whole and streamed."""

import json

import anthropic
import httpx2
import openai
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState

from foldline.testing import ScriptedServer
from foldline.testing.scripted import (
    Answer,
    CallTool,
    Capped,
    CutOff,
    Malformed,
    Nothing,
    Novel,
    Overflow,
    RateLimit,
    Refuse,
    Stall,
    Status,
)
from foldline.values.messages import Usage

HI = [{"role": "user", "content": "Hi"}]
CALLS = Answer(
    "Let me see.", (CallTool("read", {"path": "é.py"}), CallTool("list")), thinking="Hm."
)
USAGE = Usage(input=100, output=20, cache_read=300)


@pytest.fixture(scope="module")
def http():
    """One pool of connections for all SDK clients: making it takes longer than a test."""
    with httpx2.Client() as client:
        yield client


@pytest.fixture
def connect(http):
    """Return a function that makes the clients of a server."""

    def made(server, retries=0, timeout=10.0):
        common = {"api_key": "any", "http_client": http, "max_retries": retries}
        return (
            openai.OpenAI(base_url=server.openai_url, timeout=timeout, **common),
            anthropic.Anthropic(base_url=server.url, timeout=timeout, **common),
        )

    return made


def chat(client, *, stream):
    """Call chat completions, and return text, refusal, calls, stop and usage."""
    if not stream:
        answer = client.chat.completions.create(model="m", messages=HI)
    else:
        chunks = client.chat.completions.create(
            model="m", messages=HI, stream=True, stream_options={"include_usage": True}
        )
        state = ChatCompletionStreamState()
        with chunks:
            for chunk in chunks:
                state.handle_chunk(chunk)
        answer = state.current_completion_snapshot
    message = answer.choices[0].message
    calls = [
        (call.function.name, json.loads(call.function.arguments))
        for call in message.tool_calls or ()
    ]
    usage = answer.usage
    given = (usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens)
    return (
        message.content or "",
        message.refusal or "",
        calls,
        answer.choices[0].finish_reason,
        (*given, usage.completion_tokens),
    )


def responses(client, *, stream):
    """Call Responses, and return text, refusal, calls, status and usage."""
    if not stream:
        answer = client.responses.create(model="m", input="Hi")
    else:
        with client.responses.create(model="m", input="Hi", stream=True) as events:
            answer = [event for event in events if hasattr(event, "response")][-1].response
    calls = [
        (item.name, json.loads(item.arguments))
        for item in answer.output
        if item.type == "function_call"
    ]
    refusals = [
        part.refusal
        for item in answer.output
        if item.type == "message"
        for part in item.content
        if part.type == "refusal"
    ]
    usage = answer.usage
    given = (usage.input_tokens, usage.input_tokens_details.cached_tokens)
    return (
        answer.output_text,
        "".join(refusals),
        calls,
        answer.status,
        (*given, usage.output_tokens),
    )


def messages(client, *, stream):
    """Call Anthropic Messages, and return text, "", calls, stop and usage."""
    request = {"model": "m", "messages": HI, "max_tokens": 1_000}
    if not stream:
        answer = client.messages.create(**request)
    else:
        with client.messages.stream(**request) as events:
            answer = events.get_final_message()
    text = "".join(block.text for block in answer.content if block.type == "text")
    calls = [(block.name, block.input) for block in answer.content if block.type == "tool_use"]
    usage = answer.usage
    cached = usage.cache_read_input_tokens
    given = (usage.input_tokens + cached, cached)
    return text, "", calls, answer.stop_reason, (*given, usage.output_tokens)


WIRES = {"chat": chat, "responses": responses, "messages": messages}
"""How to call each wire; the first two use the SDK of OpenAI."""

ALL = pytest.mark.parametrize("wire", WIRES)
BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def ask(connect, server, wire, *, stream, **options):
    """Call a server over a wire with the real SDK."""
    ours, theirs = connect(server, **options)
    return WIRES[wire](theirs if wire == "messages" else ours, stream=stream)


def stops(chat, responses, messages):
    return {"chat": chat, "responses": responses, "messages": messages}


@ALL
@BOTH
def test_an_answer_with_text_calls_and_usage(connect, wire, stream):
    step = Answer(CALLS.text, CALLS.calls, USAGE, thinking=CALLS.thinking)
    with ScriptedServer([step]) as server:
        text, _, calls, stop, usage = ask(connect, server, wire, stream=stream)
        assert server.errors == server.violations == ()
        assert server.requests[0].is_streaming == stream
    assert text == "Let me see."
    assert calls == [("read", {"path": "é.py"}), ("list", {})]
    assert stop == stops("tool_calls", "completed", "tool_use")[wire]
    assert usage == (400, 300, 20)


@ALL
@BOTH
def test_an_answer_that_reached_its_cap(connect, wire, stream):
    with ScriptedServer([Capped("Half a sent")]) as server:
        text, _, _, stop, _ = ask(connect, server, wire, stream=stream)
    assert text == "Half a sent"
    assert stop == stops("length", "incomplete", "max_tokens")[wire]


@ALL
@BOTH
def test_a_refusal(connect, wire, stream):
    with ScriptedServer([Refuse("No.")]) as server:
        text, refusal, _, stop, _ = ask(connect, server, wire, stream=stream)
    assert text + refusal == "No."
    assert stop == stops("stop", "completed", "refusal")[wire]


@ALL
@BOTH
@pytest.mark.parametrize("kind", ["empty", "blank"])
def test_an_empty_answer_has_every_form(connect, wire, stream, kind):
    with ScriptedServer([Nothing(kind)]) as server:
        text, _, calls, _, usage = ask(connect, server, wire, stream=stream)
    assert text.strip() == ""
    assert (calls, usage[2]) == ([], 0)


@ALL
@pytest.mark.parametrize("kind", ["null", "missing", "none"])
def test_an_answer_without_a_text(connect, wire, kind):
    with ScriptedServer([Nothing(kind)]) as server:
        ours, theirs = connect(server)
        if wire == "chat":
            choices = ours.chat.completions.create(model="m", messages=HI).choices
            found = [choice.message.content for choice in choices]
        elif wire == "responses":
            output = ours.responses.create(model="m", input="Hi").output
            found = [part.text for item in output for part in item.content]
        else:
            content = theirs.messages.create(model="m", messages=HI, max_tokens=9).content
            found = [block.text for block in content]
    assert set(found) <= {None}


@ALL
@BOTH
def test_a_novel_has_the_requested_length(connect, wire, stream):
    with ScriptedServer([Novel(5_000)]) as server:
        text, _, _, _, usage = ask(connect, server, wire, stream=stream)
    assert len(text) > 15_000
    assert 5_000 <= usage[2] < 5_500


ERRORS = [
    (Status(401), "AuthenticationError"),
    (Status(404), "NotFoundError"),
    (Status(429, retry_after=0.0), "RateLimitError"),
    (Status(500), "InternalServerError"),
    (RateLimit(retry_after=0.0), "RateLimitError"),
    (Overflow(8_000, 9_000), "BadRequestError"),
]


@pytest.mark.requirement("K42")
@ALL
@BOTH
@pytest.mark.parametrize(("step", "name"), ERRORS, ids=lambda value: str(value)[:20])
def test_an_error_is_the_one_of_the_sdk(connect, wire, stream, step, name):
    sdk = anthropic if wire == "messages" else openai
    with ScriptedServer([step]) as server, pytest.raises(getattr(sdk, name)) as caught:
        ask(connect, server, wire, stream=stream)
    error = caught.value.body["error"] if wire == "messages" else caught.value.body
    assert error["message"]
    assert error["type"]


@ALL
def test_the_sdk_retries_an_overloaded_server(connect, wire):
    with ScriptedServer([Status(529, retry_after=0.001), "Now."]) as server:
        assert ask(connect, server, wire, stream=False, retries=1)[0] == "Now."
        assert len(server.requests) == 2


@ALL
def test_an_error_that_forbids_retries_is_not_retried(connect, wire):
    sdk = anthropic if wire == "messages" else openai
    with ScriptedServer([Status(500, again=False), "Never."]) as server:
        with pytest.raises(sdk.InternalServerError):
            ask(connect, server, wire, stream=False, retries=3)
        assert len(server.requests) == 1


BROKEN = (
    json.JSONDecodeError,
    anthropic.AnthropicError,
    openai.OpenAIError,
    httpx2.HTTPError,
)


@pytest.mark.requirement("K42")
@ALL
@BOTH
@pytest.mark.parametrize(
    "step",
    [Malformed(), CutOff(), CutOff(200), Stall(), Stall(after=200)],
    ids=["malformed", "cut", "cut in the body", "stall", "stall in the body"],
)
def test_a_broken_connection_or_body_is_an_error_of_the_client(connect, wire, stream, step):
    with ScriptedServer([step]) as server:
        with pytest.raises(BROKEN):
            ask(connect, server, wire, stream=stream, timeout=0.3)
        assert server.errors == ()


def test_a_conversation_with_tools_is_accepted_on_the_way_back(connect):
    with ScriptedServer([CALLS, "Done."]) as server:
        _, client = connect(server)
        request = {"model": "m", "max_tokens": 500}
        first = client.messages.create(messages=HI, **request)
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": "found"}
            for block in first.content
            if block.type == "tool_use"
        ]
        turns = [
            *HI,
            {"role": "assistant", "content": [block.model_dump() for block in first.content]},
            {"role": "user", "content": results},
        ]
        marked = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
        last = client.messages.create(messages=turns, system=marked, **request)
        assert server.violations == ()
    assert last.content[0].text == "Done."
    assert last.usage.cache_creation_input_tokens > 0
