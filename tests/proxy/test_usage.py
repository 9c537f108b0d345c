"""Usage is read on the side, whatever way the answer is cut, and never in the way."""

import gzip
import json

import pytest

from foldline.proxy.usage import LONGEST, Tap
from foldline.values.messages import Usage

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
def test_a_stream_tells_its_usage_however_it_is_cut(stream, usage, size):
    tap = Tap("text/event-stream; charset=utf-8", "")
    for start in range(0, len(stream), size):
        tap.feed(stream[start : start + size])
    assert tap.end() == usage


def test_the_cache_is_known_before_a_stream_of_anthropic_ends():
    tap = Tap("text/event-stream", "identity")
    tap.feed(ANTHROPIC[: ANTHROPIC.index(b"event: message_delta")])
    assert tap.usage == Usage(7, 1, 90, 3)


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_a_whole_answer_tells_its_usage(coding):
    data = json.dumps({"usage": {"input_tokens": 4, "output_tokens": 5}}).encode()
    tap = Tap("application/json", coding)
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
def test_what_cannot_be_read_tells_nothing_and_raises_nothing(data, kind, coding):
    tap = Tap(kind, coding)
    tap.feed(data)
    tap.feed(data)
    assert tap.end() is None


def test_a_bomb_is_left_alone():
    tap = Tap("application/json", "gzip")
    tap.feed(gzip.compress(b" " * 50_000_000))
    assert tap.end() is None
