"""Conversations and streams, over real sockets, in all three protocols."""

from __future__ import annotations

import asyncio
import json
from time import monotonic

import pytest
from tests.models.conftest import KEY, address, client_of, say, seconds_to_cancel

from foldline.errors import BudgetError, InputError, ModelError
from foldline.models import Completion, Delta, TooLong, model
from foldline.testing import ScriptedServer
from foldline.testing.scripted import (
    Answer,
    CallTool,
    Capped,
    CutOff,
    Malformed,
    Overflow,
    Raw,
    Refuse,
    Stall,
    Status,
)
from foldline.values.messages import Usage

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOLS = {
    "openai-chat": [{"type": "function", "function": {"name": "read", "parameters": SCHEMA}}],
    "openai-responses": [{"type": "function", "name": "read", "parameters": SCHEMA}],
    "anthropic": [{"name": "read", "input_schema": SCHEMA}],
}
CALLING = Answer(
    "Let me look.",
    calls=(CallTool("read", {"path": "ä.py"}), CallTool("read", {"path": "b.py"})),
    thinking="Two files, then.",
)


def result(dialect: str, number: str) -> dict:
    if dialect == "openai-chat":
        return {"role": "tool", "tool_call_id": number, "content": "text"}
    if dialect == "openai-responses":
        return {"type": "function_call_output", "call_id": number, "output": "text"}
    return {"type": "tool_result", "tool_use_id": number, "content": "text"}


def answered(dialect: str, calls) -> list[dict]:
    results = [result(dialect, call.id) for call in calls]
    return [{"role": "user", "content": results}] if dialect == "anthropic" else results


@pytest.mark.parametrize("streamed", [False, True])
def test_a_loop_of_calls_and_results_is_accepted_by_the_provider(name, streamed):
    with ScriptedServer([CALLING, "Done."]) as server, client_of(server, name) as client:
        asked = say("Compare ä.py and b.py.")
        options = {"tools": TOOLS[client.dialect], "system": "Be brief.", "max_tokens": 900}
        if streamed:
            first = last(client.stream(asked, **options))
        else:
            first = client.complete(asked, **options)
        later = [*asked, *first.messages, *answered(client.dialect, first.calls)]
        second = client.complete(later, **options)
        assert server.violations == ()
    assert (first.stop, first.text) == ("tools", "Let me look.")
    assert [json.loads(call.arguments) for call in first.calls] == [
        {"path": "ä.py"},
        {"path": "b.py"},
    ]
    assert len({call.id for call in first.calls}) == 2
    assert (second.text, second.stop, second.calls) == ("Done.", "end", ())
    assert second.usage.total > 0
    assert second.usd > 0


def last(stream) -> Completion:
    *pieces, done = stream
    assert all(isinstance(piece, Delta) for piece in pieces)
    assert isinstance(done, Completion)
    return done


def test_a_stream_is_the_answer_in_pieces(name):
    text = "The quick brown fox, 你好, jumps. " * 20
    step = Answer(text, usage=Usage(120, 80), thinking="Hmm.")
    with ScriptedServer([step, step]) as server, client_of(server, name) as client:
        pieces = list(client.stream(say("Tell.")))
        whole = client.complete(say("Tell."))
    *deltas, done = pieces
    assert len(deltas) > 5
    assert "".join(piece.text for piece in deltas if piece.kind == "text") == text
    assert (done.text, done.stop, done.usage) == (text, "end", Usage(120, 80))
    assert (whole.text, whole.usage, whole.usd) == (done.text, done.usage, done.usd)


def test_the_pieces_of_parallel_calls_are_distinguished(name):
    with ScriptedServer([CALLING]) as server, client_of(server, name) as client:
        pieces = [
            piece
            for piece in client.stream(say("x"), tools=TOOLS[client.dialect])
            if isinstance(piece, Delta) and piece.kind == "call"
        ]
    arguments: dict[int, str] = {}
    for piece in pieces:
        arguments[piece.index] = arguments.get(piece.index, "") + piece.text
    assert [json.loads(text) for text in arguments.values()] == [
        {"path": "ä.py"},
        {"path": "b.py"},
    ]
    assert [piece.name for piece in pieces if piece.name] == ["read", "read"]


@pytest.mark.parametrize(
    ("step", "stop"), [(Capped(), "length"), (Refuse("No."), "refusal"), ("Well.", "end")]
)
def test_a_stream_reports_its_stop_reason(name, step, stop):
    with ScriptedServer([step]) as server, client_of(server, name) as client:
        done = last(client.stream(say("x")))
    assert done.stop == stop
    assert done.refusal == ("No." if stop == "refusal" else "")


@pytest.mark.parametrize("after", [0, 60, 600, 2_500])
def test_a_broken_stream_is_an_error_and_never_a_whole_answer(name, after):
    with (
        ScriptedServer([CutOff(after)] * 9) as server,
        client_of(server, name, attempts=1) as client,
    ):
        pieces = []
        with pytest.raises(ModelError) as caught:
            pieces.extend(client.stream(say("x")))
    assert caught.value.retry
    assert not any(isinstance(piece, Completion) for piece in pieces)


@pytest.mark.parametrize("step", [Malformed(), Raw(b"data: {}\n\n", type="text/event-stream")])
def test_a_malformed_stream_is_an_error(name, step):
    with ScriptedServer([step]) as server, client_of(server, name, attempts=1) as client:
        stream = client.stream(say("x"))
        with pytest.raises(ModelError) as caught:
            list(stream)
    assert caught.value.retry


def test_an_error_inside_a_stream_is_raised(name):
    body = b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", '
    body += b'"message": "busy"}}\n\n'
    step = Raw(body, type="text/event-stream")
    with ScriptedServer([step]) as server, client_of(server, name, attempts=1) as client:
        stream = client.stream(say("x"))
        with pytest.raises(ModelError, match="busy") as caught:
            list(stream)
    assert caught.value.retry


def test_a_stream_is_retried_only_before_its_first_piece(name, no_pauses):
    script = [Status(503), CutOff(0), "at last"]
    with ScriptedServer(script) as server, client_of(server, name) as client:
        done = last(client.stream(say("x")))
    assert (done.text, done.attempts) == ("at last", 3)


def test_closing_a_stream_closes_its_connection(name):
    long = Answer("word " * 3_000)
    with ScriptedServer([long, "next"]) as server, client_of(server, name) as client:
        stream = client.stream(say("x"))
        assert isinstance(next(stream), Delta)
        stream.close()
        assert client.complete(say("y")).text == "next"


def test_the_deadline_of_a_stream_holds(name):
    with ScriptedServer([Stall(30.0, after=900)]) as server, client_of(server, name) as client:
        began = monotonic()
        with pytest.raises(ModelError, match="in time"):
            list(client.stream(say("x"), timeout=0.4))
        assert monotonic() - began < 2.0


def test_cancelling_ends_a_stream_at_once(name):
    async def read(client):
        async for _ in client.astream(say("x")):
            pass

    with ScriptedServer([Stall(30.0, after=900)]) as server, client_of(server, name) as client:
        assert asyncio.run(seconds_to_cancel(client, server, read(client))) < 0.25


def test_the_async_methods_behave_like_the_blocking_ones(name):
    async def both(client):
        async with client:
            whole = await client.acomplete(say("x"), max_tokens=50)
            pieces = [piece async for piece in client.astream(say("y"))]
            return whole, pieces

    with ScriptedServer(["one", "two"]) as server, client_of(server, name) as client:
        whole, pieces = asyncio.run(both(client))
    assert (whole.text, pieces[-1].text) == ("one", "two")


def test_a_client_can_be_used_in_several_event_loops(name):
    async def one(client):
        answer = await client.acomplete(say("x"))
        await client.aclose()
        return answer.text

    with ScriptedServer(default="ok") as server, client_of(server, name) as client:
        assert [asyncio.run(one(client)) for _ in range(3)] == ["ok"] * 3
        assert client.complete(say("x")).text == "ok"


def test_errors_have_status_code_and_retry(name):
    with (
        ScriptedServer([Status(529), Overflow(limit=9_000)]) as server,
        client_of(server, name, attempts=1) as client,
    ):
        with pytest.raises(ModelError) as busy:
            client.complete(say("x"))
        with pytest.raises(TooLong) as long:
            client.complete(say("x"))
    assert (busy.value.status, busy.value.retry) == (529, True)
    assert (long.value.status, long.value.retry) == (400, False)


def test_a_closed_client_reopens_on_use(name):
    with ScriptedServer(default="ok") as server:
        client = model(name, base_url=address(server, name))
        assert client.complete(say("x")).text == "ok"
        client.close()
        client.close()
        assert client.complete(say("x")).text == "ok"
        client.close()


@pytest.mark.parametrize("messages", [[{"role": "user", "content": {1, 2}}], [float("nan")]])
def test_messages_that_are_not_json_are_rejected_before_sending(name, messages):
    with ScriptedServer() as server, client_of(server, name) as client:
        with pytest.raises(InputError, match="JSON"):
            client.complete(messages)
        assert server.requests == ()


def test_numbers_out_of_range_are_rejected(name):
    with ScriptedServer() as server:
        for options in ({"timeout": 0}, {"attempts": 0}, {"thinking": -1}):
            with pytest.raises(BudgetError):
                model(name, base_url=address(server, name), **options)
        with client_of(server, name) as client:
            with pytest.raises(BudgetError):
                client.complete(say("x"), max_tokens=0)
            with pytest.raises(ModelError, match="no time"):
                client.complete(say("x"), timeout=0.0)


def test_the_messages_of_an_answer_are_one_or_several():
    assert Completion(messages=({"role": "assistant"},)).message == {"role": "assistant"}
    for messages in ((), ({}, {})):
        with pytest.raises(InputError, match="messages"):
            _ = Completion(messages=messages).message


@pytest.mark.parametrize("streamed", [False, True])
def test_a_key_echoed_in_an_answer_does_not_enter_the_conversation(name, streamed):
    echo = Answer(
        f"You sent {KEY}, and {KEY[:-3]} is not it.",
        calls=(CallTool(f"use_{KEY}", {"key": KEY}),),
        thinking=f"The key is {KEY}.",
    )
    with ScriptedServer([echo]) as server, client_of(server, name) as client:
        if streamed:
            *deltas, done = client.stream(say("Which key?"))
            said = "".join(delta.text for delta in deltas if delta.kind == "text")
            assert said == done.text
        else:
            deltas, done = [], client.complete(say("Which key?"))
    assert done.text == f"You sent [redacted], and {KEY[:-3]} is not it."
    assert KEY not in repr((deltas, done))
    assert KEY not in "".join(delta.text for delta in deltas)


def test_a_placeholder_key_is_not_redacted(name):
    options = {"api_key": "ollama"}
    with ScriptedServer(["Run ollama."]) as server, client_of(server, name, **options) as client:
        assert client.complete(say("How?")).text == "Run ollama."
