from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from subprocess import run

import pytest

from foldline.errors import InputError
from foldline.formats import source as module
from foldline.formats.source import TranscriptSource, decode_text, parse_line

LINE = b'{"a": 1}\n'


def test_every_member_of_a_gzip_file_is_decompressed() -> None:
    packed = gzip.compress(LINE, mtime=0) + gzip.compress(b'{"b": 2}', mtime=0)
    assert TranscriptSource.of(packed).data == LINE + b'{"b": 2}'
    assert TranscriptSource.of(packed + b"\0" * 7).data == LINE + b'{"b": 2}'
    large = b"".join(b'{"n": %d}\n' % n for n in range(400_000))
    assert TranscriptSource.of(gzip.compress(large, 1, mtime=0)).data == large


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (gzip.compress(LINE * 50, mtime=0)[:-3], "ends too early"),
        (gzip.compress(LINE * 50, mtime=0)[:12], "ends too early"),
        (gzip.compress(LINE, mtime=0) + b"rest", "something else follows"),
        (gzip.compress(LINE, mtime=0) + gzip.compress(LINE, mtime=0)[:9], "ends too early"),
        (b"\x1f\x8b\x63\x00 not gzip at all", "not a readable gzip file"),
        (gzip.compress(LINE, mtime=0)[:-8] + b"12345678", "not a readable gzip file"),
    ],
)
def test_damaged_gzip_is_reported(data: bytes, why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        TranscriptSource.of(data, "session.jsonl.gz")
    assert "session.jsonl.gz" in str(caught.value)


def test_compressed_input_expands_to_25_times_its_size_unless_the_caller_allows_more() -> None:
    bomb = gzip.compress(b"0" * 50_000_000, 1, mtime=0)
    with pytest.raises(InputError, match=r"larger than 8,388,608 bytes.*--max-bytes"):
        TranscriptSource.of(bomb)
    assert len(TranscriptSource.of(bomb, max_bytes=50_000_000).data) == 50_000_000
    with pytest.raises(InputError, match="larger than 49,999,999 bytes"):
        TranscriptSource.of(bomb, max_bytes=49_999_999)
    ordinary = gzip.compress(b"".join(b'{"n": %d}\n' % n for n in range(1_000_000)), 1, mtime=0)
    assert len(TranscriptSource.of(ordinary).data) > module.UNPACKED_BYTES


@pytest.mark.parametrize("limit", [2**62, 2**80])
def test_a_limit_beyond_all_memory_allocates_none(limit: int) -> None:
    assert TranscriptSource.of(gzip.compress(LINE, mtime=0), max_bytes=limit).data == LINE


def test_plain_input_is_read_up_to_the_limit_of_the_caller() -> None:
    assert TranscriptSource.of(b"0" * 3_000, max_bytes=3_000).data == b"0" * 3_000
    with pytest.raises(InputError, match="larger than 3,000 bytes"):
        TranscriptSource.of(b"0" * 3_001, max_bytes=3_000)


@pytest.mark.skipif(not Path("/proc").exists(), reason="peak memory is read from /proc")
def test_a_small_bomb_of_messages_is_rejected_in_little_memory() -> None:
    program = """
import gzip, re, sys
from pathlib import Path
from foldline.errors import InputError
from foldline.formats.files import read_file
bomb = sys.stdin.buffer.read()
try:
    read_file(bomb)
except InputError:
    print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""
    message = b'{"role":"user","content":"a"},'
    body = b"[" + message * (48_000_000 // len(message)) + b"{}]"
    bomb = gzip.compress(body, 9, mtime=0)
    assert len(bomb) < 130_000
    done = run([sys.executable, "-c", program], input=bomb, capture_output=True, timeout=60)
    assert done.stderr == b""
    assert int(done.stdout) < 120_000, "kilobytes at most"


@pytest.mark.parametrize(
    ("data", "why"), [(b"", "empty"), (b" \n\n", "empty"), (b"\x7fELF\0\0\0", "binary")]
)
def test_empty_and_binary_data_are_rejected(data: bytes, why: str) -> None:
    with pytest.raises(InputError, match=why):
        TranscriptSource.of(data)


def test_lines_end_at_line_feeds_only_and_join_to_the_data() -> None:
    data = 'a\u2028b\x85\x0b\r\n{"x": "\u2029"}\r\n\nlast'.encode()
    source = TranscriptSource.of(data)
    assert b"".join(source.lines) == data
    assert len(source.lines) == 4
    assert parse_line(source.lines[1]) == {"x": "\u2029"}


def test_invalid_json_has_no_value() -> None:
    source = TranscriptSource.of(b'// note\n{"a": 1}\n5\n{"a": \n[1]\n')
    assert [parse_line(line) for line in source.lines] == [None, {"a": 1}, None, None, [1]]
    assert "".join(map(decode_text, source.lines)) == source.text


def test_invalid_utf8_is_replaced_in_text_and_kept_in_lines() -> None:
    source = TranscriptSource.of(b'{"a": "\xff"}\n')
    assert parse_line(source.lines[0]) == {"a": "\ufffd"}
    assert source.lines == (b'{"a": "\xff"}\n',)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-8"])
def test_a_byte_order_mark_sets_the_encoding_and_is_not_text(encoding: str) -> None:
    # U+0A0A and U+100A contain the byte of a line feed, but are not line feeds.
    text = '{"a": "汉\u0a0a\u100a"}\n{"b": 2}'
    source = TranscriptSource.of(("\ufeff" + text).encode(encoding))
    assert source.encoding == encoding
    assert source.text == text
    assert b"".join(source.lines) == source.data
    values = [parse_line(line, encoding) for line in source.lines]
    assert values == [json.loads(line) for line in text.split("\n")]
    assert source.head[1] == {"b": 2}


def test_hostile_json_has_no_value() -> None:
    deep = b"[" * 100_000
    number = b'{"a": ' + b"9" * 10_000 + b"}"
    source = TranscriptSource.of(deep + b"\n" + number + b"\n")
    assert [parse_line(line) for line in source.lines] == [None, None]
    assert source.document is None


def test_the_head_is_bounded_but_reads_a_long_first_line() -> None:
    long_line = json.dumps({"text": "x" * 300_000}).encode() + b"\n"
    source = TranscriptSource.of(long_line + LINE * 1000)
    assert len(source.head) == 1
    assert len(TranscriptSource.of(LINE * 1000).head) == module.HEAD_LINES
