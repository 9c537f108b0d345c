from __future__ import annotations

import copy
import pickle

import pytest

from foldline.errors import InputError
from foldline.models.endpoint import (
    Secret,
    is_private_host,
    make_endpoint,
    reveal_all,
)
from foldline.redaction import redact_json

KEY = "sk-0123456789abcdef"


@pytest.mark.parametrize(
    ("base", "path", "whole"),
    [
        ("https://a.example/v1", "/chat/completions", "https://a.example/v1/chat/completions"),
        ("https://a.example/v1/", "/responses", "https://a.example/v1/responses"),
        ("https://a.example", "/v1/messages", "https://a.example/v1/messages"),
        ("https://a.example/v1", "/v1/messages", "https://a.example/v1/messages"),
        ("https://a.example/x?api-version=1", "/y/z", "https://a.example/x/y/z?api-version=1"),
    ],
)
def test_a_path_is_appended_to_the_address_once(base, path, whole):
    assert make_endpoint(base, KEY).url(path) == whole


@pytest.mark.parametrize(
    "base",
    [
        "",
        "api.openai.com",
        "ftp://a.example",
        "https://",
        "https://a:b@c.example",
        "http://[::1",
        "https://a.example:port",
        "https://a.example?key=secret",
        "file:///etc/passwd",
    ],
)
def test_an_unsafe_address_is_rejected(base):
    with pytest.raises(InputError) as caught:
        make_endpoint(base, KEY)
    assert "base_url" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "near"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("::1", True),
        ("10.1.2.3", True),
        ("192.168.0.9", True),
        ("ollama", True),
        ("box.local", True),
        ("host.docker.internal", True),
        ("api.openai.com", False),
        ("8.8.8.8", False),
        ("localhost.evil.com", False),
        ("", False),
    ],
)
def test_only_a_local_server_may_have_no_key(host, near):
    assert is_private_host(host) is near


def test_a_missing_key_is_named_by_its_variable():
    with pytest.raises(InputError, match="Set OPENAI_API_KEY"):
        make_endpoint("https://api.openai.com/v1", variable="OPENAI_API_KEY")
    assert not make_endpoint("http://localhost:11434/v1").key
    assert make_endpoint("https://gw.example", headers={"Authorization": "Bearer x"})


@pytest.mark.parametrize("key", ["sk-a\nb: c", "sk-“x”", "\x00"])
def test_a_key_that_would_break_the_request_is_rejected_without_showing_it(key):
    with pytest.raises(InputError) as caught:
        make_endpoint("https://a.example", key)
    assert "sk-" not in str(caught.value)


def test_a_key_appears_in_no_representation():
    where = make_endpoint("https://a.example", KEY, {"x-gateway": KEY})
    for shown in (repr(where), str(where), f"{where.key}", repr(where.secrets)):
        assert KEY not in shown
    assert where.key.reveal() == KEY
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(where)
    with pytest.raises(TypeError):
        copy.deepcopy(where)


def test_a_key_echoed_by_a_server_is_redacted():
    assert redact_json(f"bad key {KEY}!", reveal_all([Secret(KEY)])) == "bad key [redacted]!"
    assert redact_json("a bad key", ["", "a"]) == "a bad key"
