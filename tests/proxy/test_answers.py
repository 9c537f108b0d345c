"""Bytes that are held back are replayed: all of them, in order, with a final error."""

from __future__ import annotations

import asyncio
import gzip
import json

import pytest

from foldline.errors import ModelError
from foldline.models.transport import Passed
from foldline.proxy.answers import LONGEST, BufferedAnswer, UsageReader, find_rejection
from foldline.values.messages import Usage

PIECES = [b"one", b"two", b"three"]


async def chunks(pieces, error=None, gate=None):
    for number, piece in enumerate(pieces):
        if gate is not None and number:
            await gate.wait()
        yield piece
    if error is not None:
        raise error


async def all_of(source):
    out = []
    try:
        async for piece in source:
            out += [piece]
    except ModelError:
        out.append("broken")
    return out


@pytest.mark.parametrize("takes", range(5))
def test_every_byte_is_replayed_however_much_was_read(takes):
    async def run(error):
        held = BufferedAnswer(chunks(PIECES, error))
        for _ in range(takes):
            await held.next(5)
        return await all_of(held.replay())

    assert asyncio.run(run(None)) == PIECES
    assert asyncio.run(run(ModelError("cut"))) == [*PIECES, "broken"]


def test_late_bytes_are_delivered_later():
    async def run():
        gate = asyncio.Event()
        held = BufferedAnswer(chunks(PIECES, None, gate))
        assert await held.next(5) == b"one"
        assert await held.next(0) is None
        gate.set()
        return await all_of(held.replay())

    assert asyncio.run(run()) == PIECES


def test_the_amount_held_back_is_bounded():
    async def run():
        held = BufferedAnswer(chunks([b"x" * 10] * 100))
        return len(await held.whole(35, 5)), len(b"".join(await all_of(held.replay())))

    assert asyncio.run(run()) == (40, 1_000)


def rejected(status, pieces, kind="application/json", risky=False, coding=b"identity"):
    async def run():
        headers = [(b"Content-Type", kind.encode()), (b"Content-Encoding", coding)]
        found, error = await find_rejection(
            Passed(status, headers, chunks(pieces), None), risky=risky
        )
        return error, b"".join(await all_of(found.chunks))

    return asyncio.run(run())


TOO_LONG = json.dumps({"error": {"code": "context_length_exceeded", "message": "too long"}})
FAILED = (
    b'data: {"type":"response.created"}\n\ndata: {"type":"response.failed","response":'
    b'{"error":{"code":"context_length_exceeded","message":"x"}}}\n\n'
)


def test_a_rejection_is_detected_and_relayed_whole():
    error, body = rejected(400, [TOO_LONG[:9].encode(), TOO_LONG[9:].encode()])
    assert error is not None
    assert body.decode() == TOO_LONG
    assert rejected(400, [b'{"error": "no such model"}'])[0] is None
    assert rejected(429, [TOO_LONG.encode()])[0] is None
    assert rejected(400, [TOO_LONG.encode()], coding=b"br")[0] is None


def test_a_rejection_in_a_stream_is_detected_if_the_request_is_large():
    stream = "text/event-stream"
    error, body = rejected(200, [FAILED[:40], FAILED[40:]], stream, risky=True)
    assert error is not None
    assert body == FAILED
    assert rejected(200, [FAILED], stream)[0] is None
    assert (
        rejected(200, [b'data: {"type":"x","delta":"too long"}\n\n'], stream, risky=True)[0]
        is None
    )
    assert rejected(200, [b"data: junk\n\n"], stream, risky=True)[0] is None
    assert rejected(200, [b"", b": only a comment\n\n"], stream, risky=True)[0] is None


ANTHROPIC = (
    b'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":7,'
    b'"cache_read_input_tokens":90,"cache_creation_input_tokens":3,"output_tokens":1}}}\n\n'
    b'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":25}}\n\n'
)
CHAT = (
    b'data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: {"choices":[],"usage":'
    b'{"prompt_tokens":100,"completion_tokens":25,"prompt_tokens_details":{"cached_tokens":90}}}'
    b"\n\ndata: [DONE]\n\n"
)
RESPONSES = (
    b'event: response.completed\ndata: {"type":"response.completed","response":{"usage":'
    b'{"input_tokens":100,"input_tokens_details":{"cached_tokens":90},"output_tokens":25}}}\n\n'
)


@pytest.mark.parametrize(
    ("stream", "usage"),
    [
        (ANTHROPIC, Usage(7, 25, 90, 3)),
        (CHAT, Usage(10, 25, 90)),
        (RESPONSES, Usage(10, 25, 90)),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_usage_is_read_from_a_stream_in_any_chunks(stream, usage, size):
    tap = UsageReader("text/event-stream; charset=utf-8", "")
    for start in range(0, len(stream), size):
        tap.feed(stream[start : start + size])
    assert tap.end() == usage


def test_the_cache_is_known_before_a_stream_of_anthropic_ends():
    tap = UsageReader("text/event-stream", "identity")
    tap.feed(ANTHROPIC[: ANTHROPIC.index(b"event: message_delta")])
    assert tap.usage == Usage(7, 1, 90, 3)


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_usage_is_read_from_a_whole_answer(coding):
    data = json.dumps({"usage": {"input_tokens": 4, "output_tokens": 5}}).encode()
    tap = UsageReader("application/json", coding)
    tap.feed(gzip.compress(data) if coding else data)
    assert tap.end() == Usage(4, 5)


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\xff" * 50,
        b'data: {"usage": [[[\n\n',
        b'data: {"usage": "many"}\n\n',
        b'data: {"usage": {"input_tokens": -4, "output_tokens": true}}\n\n',
        b'data: "usage"' + b"[" * 100_000 + b"\n\n",
        b"x" * (LONGEST + 10),
    ],
)
@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
@pytest.mark.parametrize("coding", ["", "gzip", "br"])
def test_unreadable_answers_give_no_usage_and_never_raise(data, kind, coding):
    tap = UsageReader(kind, coding)
    tap.feed(data)
    tap.feed(data)
    assert tap.end() is None


def test_a_compression_bomb_is_not_decompressed():
    tap = UsageReader("application/json", "gzip")
    tap.feed(gzip.compress(b" " * 50_000_000))
    assert tap.end() is None
