"""Counting with tiktoken, with the network closed and a vocabulary built from splintr's."""

import base64
import socket
from pathlib import Path

import pytest

from foldline.tokens.splintr import SplintrCounter
from foldline.tokens.tiktoken import VOCABULARIES, TiktokenCounter

pytest.importorskip("tiktoken", reason="the extra 'tiktoken' is not installed")

TEXTS = [
    "",
    "Hello world!",
    "def f(x: int) -> int:\n    return x * 2\n",
    '{"a":[1,2,3],"path":"/tmp/x.py"}',
    "上下文压缩的目标是减少内容。" * 5,
    "<|endoftext|> and <|im_start|>",
    "\ud800 alone",
]


class NetworkUsed(BaseException):
    """Raised on network use; no handler for ordinary errors catches it."""


@pytest.fixture(autouse=True)
def closed_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise NetworkUsed

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def vocabulary() -> bytes:
    splintr = pytest.importorskip("splintr", reason="the extra 'tokens' is not installed")
    tokens = splintr.Tokenizer.from_pretrained("cl100k_base")
    lines = (
        base64.b64encode(tokens.decode_token_bytes(rank)) + b" %d\n" % rank
        for rank in range(100_256)
    )
    return b"".join(lines)


def test_the_network_is_closed() -> None:
    with pytest.raises(NetworkUsed):
        socket.create_connection(("localhost", 9))


@pytest.mark.parametrize("family", [*VOCABULARIES, "claude", "?"])
def test_without_the_file_it_is_unavailable_and_sends_no_request(cache: Path, family: str) -> None:
    assert not TiktokenCounter.available(family)
    assert not list(cache.iterdir())


def test_without_the_file_the_error_names_it(cache: Path) -> None:
    with pytest.raises(LookupError, match=r"fb374d41.* holds no vocabulary"):
        TiktokenCounter("o200k")


def test_a_disabled_cache_has_no_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert not TiktokenCounter.available("cl100k")


def test_a_damaged_file_is_kept_and_not_downloaded_again(cache: Path, vocabulary: bytes) -> None:
    file = cache / VOCABULARIES["cl100k"].file_name
    for damaged in (vocabulary[:-1], vocabulary[:-2] + b"9\n", b""):
        file.write_bytes(damaged)
        assert not TiktokenCounter.available("cl100k")
        assert file.read_bytes() == damaged


def test_with_the_file_it_counts_as_splintr_does(cache: Path, vocabulary: bytes) -> None:
    (cache / VOCABULARIES["cl100k"].file_name).write_bytes(vocabulary)
    counter, reference = TiktokenCounter("cl100k"), SplintrCounter("cl100k")
    assert (counter.name, counter.exact) == ("tiktoken:cl100k_base", True)
    assert [counter.count(text) for text in TEXTS] == [reference.count(text) for text in TEXTS]
