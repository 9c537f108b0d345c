"""Server-sent events do not depend on the chunks of a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.errors import ModelError
from foldline.models.completion import ServerSentEvent
from foldline.models.transport import read_events

STREAM = (
    b': hello\n\nevent: a\ndata: {"x": 1}\n\ndata: one\r\ndata: two\r\n\r\ndata:\xe4\xbd\xa0\r\r'
    b"retry: 3\nid: 4\n\nevent: lonely\n\ndata: [DONE]\n\n"
)
EVENTS = [
    ServerSentEvent("a", '{"x": 1}'),
    ServerSentEvent("", "one\ntwo"),
    ServerSentEvent("", "你"),
    ServerSentEvent("", "[DONE]"),
]


def events_of(pieces: Iterable[bytes]) -> list[ServerSentEvent]:
    async def chunks() -> AsyncGenerator[bytes, None]:
        for piece in pieces:
            yield piece

    async def read() -> list[ServerSentEvent]:
        return [event async for event in read_events(chunks())]

    return asyncio.run(read())


@given(st.lists(st.integers(1, len(STREAM) - 1), max_size=20))
def test_events_do_not_depend_on_chunk_boundaries(cuts):
    places = sorted({0, *cuts, len(STREAM)})
    assert events_of(STREAM[start:end] for start, end in pairwise(places)) == EVENTS


def test_a_byte_order_mark_is_not_part_of_an_event():
    assert events_of([b"\xef\xbb", b"\xbfdata: 1\n\n"]) == [ServerSentEvent("", "1")]


def test_a_truncated_event_is_never_returned():
    assert events_of([b'data: {"x": 1}\n']) == []
    assert events_of([b""]) == []


PIECES = st.sampled_from([b"data:", b"event:", b" ", b"\r", b"\n", b"\xe4", b"\xef\xbb\xbf"])


@given(st.lists(PIECES | st.binary(max_size=9), max_size=60).map(b"".join))
def test_any_bytes_give_the_same_events_whole_and_one_by_one(data):
    data += b"\n\n"
    at_once = events_of([data])
    assert events_of(bytes([byte]) for byte in data) == at_once
    assert all(not {"\r", "\n"} & {*event.name} for event in at_once)


@pytest.mark.parametrize("data", ["", "nothing", "[1]", '{"x"', "[" * 100_000])
def test_an_event_that_is_not_an_object_is_a_transient_error(data):
    with pytest.raises(ModelError) as caught:
        ServerSentEvent("", data).value()
    assert caught.value.retry


def test_a_very_long_line_is_read_in_linear_time():
    line = b"data: x" * 1_000
    assert events_of([line] * 2_000) == []
    assert len(events_of([*[line] * 2_000, b"\n\n"])) == 1
