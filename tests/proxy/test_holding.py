"""What is held back is given back: every byte, in order, and the error behind it."""

import asyncio
import json

import pytest

from foldline.errors import ModelError
from foldline.models.transport import Passed
from foldline.proxy.holding import Held
from foldline.proxy.overflowing import rejection

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
def test_every_byte_is_given_back_however_much_was_taken(takes):
    async def run(error):
        held = Held(chunks(PIECES, error))
        for _ in range(takes):
            await held.next(5)
        return await all_of(held.again())

    assert asyncio.run(run(None)) == PIECES
    assert asyncio.run(run(ModelError("cut"))) == [*PIECES, "broken"]


def test_what_comes_too_late_is_waited_for_later():
    async def run():
        gate = asyncio.Event()
        held = Held(chunks(PIECES, None, gate))
        assert await held.next(5) == b"one"
        assert await held.next(0) is None
        gate.set()
        return await all_of(held.again())

    assert asyncio.run(run()) == PIECES


def test_holding_is_bounded():
    async def run():
        held = Held(chunks([b"x" * 10] * 100))
        return len(await held.whole(35, 5)), len(b"".join(await all_of(held.again())))

    assert asyncio.run(run()) == (40, 1_000)


def judged(status, pieces, kind="application/json", risky=False, coding=b"identity"):
    async def run():
        headers = [(b"Content-Type", kind.encode()), (b"Content-Encoding", coding)]
        found, error = await rejection(Passed(status, headers, chunks(pieces), None), risky=risky)
        return error, b"".join(await all_of(found.chunks))

    return asyncio.run(run())


TOO_LONG = json.dumps({"error": {"code": "context_length_exceeded", "message": "too long"}})
FAILED = (
    b'data: {"type":"response.created"}\n\ndata: {"type":"response.failed","response":'
    b'{"error":{"code":"context_length_exceeded","message":"x"}}}\n\n'
)


def test_a_rejection_is_found_and_passed_on_whole():
    error, body = judged(400, [TOO_LONG[:9].encode(), TOO_LONG[9:].encode()])
    assert error is not None
    assert body.decode() == TOO_LONG
    assert judged(400, [b'{"error": "no such model"}'])[0] is None
    assert judged(429, [TOO_LONG.encode()])[0] is None
    assert judged(400, [TOO_LONG.encode()], coding=b"br")[0] is None


def test_a_rejection_in_a_stream_is_looked_for_where_it_may_be_one():
    stream = "text/event-stream"
    error, body = judged(200, [FAILED[:40], FAILED[40:]], stream, risky=True)
    assert error is not None
    assert body == FAILED
    assert judged(200, [FAILED], stream)[0] is None
    assert (
        judged(200, [b'data: {"type":"x","delta":"too long"}\n\n'], stream, risky=True)[0] is None
    )
    assert judged(200, [b"data: junk\n\n"], stream, risky=True)[0] is None
    assert judged(200, [b"", b": only a comment\n\n"], stream, risky=True)[0] is None
