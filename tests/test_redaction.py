from __future__ import annotations

import time

import pytest

from foldline.redaction import HIDDEN, redact_json


@pytest.mark.requirement("H19")
@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("key sk-ant-api03-abcdefghijklmnop is bad", "abcdefghijklmnop"),
        ("sk-proj-AAAAbbbbCCCCdddd1234", "AAAAbbbb"),
        ("Authorization: Bearer abcdefghijkl.mnop", "abcdefghijkl"),
        ("bearer  0123456789abcdef", "0123456789"),
        ("basic dXNlcjpodW50ZXIy", "dXNlcjpodW50ZXIy"),
        ("AIzaSyA0123456789abcdefghijklmnopqrstuv", "SyA0123"),
        ("ghp_0123456789abcdefghijABCDEFGHIJ", "0123456789"),
        ("AKIAABCDEFGHIJKLMNOP", "ABCDEFGH"),
        ("ASIAABCDEFGHIJKLMNOP", "ABCDEFGH"),
        ("github_pat_0123456789abcdefghij", "0123456789"),
        ("hf_0123456789abcdefghij", "0123456789"),
        ("xoxb-1234567890-abcdef", "1234567890"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "zdWIi"),
        ("api_key='supersecretvalue'", "supersecret"),
        ("PASSWORD=hunter22", "hunter22"),
        ("postgres://me:hunter22@db/x", "hunter22"),
        (
            "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIabc\n-----END RSA PRIVATE" + " KEY-----",
            "MII",
        ),
    ],
)
def test_a_secret_is_redacted_at_any_position(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in redact_json(text)
    assert secret.upper() not in redact_json(text.upper())
    assert secret.lower() not in redact_json(text.lower())
    assert HIDDEN in redact_json(text)
    assert secret not in str(redact_json({"a": [{"b": text}], "c": (text,)}))


@pytest.mark.parametrize(
    "name", ["api_key", "Authorization", "x-api-key", "db_password", "Cookie"]
)
def test_a_value_under_a_secret_key_is_redacted_whole(name: str) -> None:
    assert redact_json({name: "x"}) == {name: HIDDEN}


@pytest.mark.parametrize(
    "value",
    ["tokens before: 12,000", "the basic idea", {"input_tokens": 5}, 3, None, "sk-1", "task-list"],
)
def test_other_text_is_unchanged(value: object) -> None:
    assert redact_json(value) == value


def test_hostile_text_takes_linear_time() -> None:
    began = time.perf_counter()
    for text in (
        "a" * 200_000,
        "sk-" * 60_000,
        "x://" * 50_000,
        "api_key" * 30_000,
        "eyJ" * 60_000,
    ):
        redact_json(text)
    assert time.perf_counter() - began < 10
    deep: object = "sk-ant-api03-abcdefghijklmnop"
    for _ in range(5_000):
        deep = [deep]
    assert "abcdefgh" not in str(redact_json(deep))[:10_000]
