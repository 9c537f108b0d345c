from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from foldline.models.endpoint import Secret
from foldline.models.errors import TooLong, provider_error, wait_in


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_transient_errors_may_be_retried(status):
    assert provider_error(b"{}", status=status).retry


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 422])
def test_permanent_errors_are_not_retried(status):
    error = provider_error(b"{}", status=status)
    assert not error.retry
    assert error.status == status


def test_an_exhausted_account_is_not_retried():
    body = json.dumps({"error": {"code": "insufficient_quota", "message": "no money"}}).encode()
    assert not provider_error(body, status=429).retry


def test_a_provider_may_forbid_a_retry():
    assert not provider_error(b"", status=503, headers={"x-should-retry": "false"}).retry


@pytest.mark.requirement("K33")
@pytest.mark.parametrize(
    ("status", "error", "limit"),
    [
        (400, {"message": "prompt is too long: 210000 tokens > 200000 maximum"}, 200_000),
        (400, {"code": "context_length_exceeded", "message": "long"}, None),
        (413, {"type": "request_too_large", "message": "Request exceeds the maximum size"}, None),
        (400, {"type": "exceed_context_size_error", "message": "too big", "n_ctx": 4096}, 4_096),
        (
            400,
            {"message": "This model's maximum context length is 8,192 tokens. However, yours …"},
            8_192,
        ),
    ],
)
def test_a_request_that_is_too_long_is_distinguished_and_its_limit_read(status, error, limit):
    found = provider_error(json.dumps({"error": error}).encode(), status=status)
    assert isinstance(found, TooLong)
    assert (found.limit, found.retry) == (limit, False)


@pytest.mark.requirement("K33")
def test_a_rate_limit_that_mentions_tokens_is_not_an_overflow():
    words = "Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 35210."
    found = provider_error(json.dumps({"error": {"message": words}}).encode(), status=429)
    assert not isinstance(found, TooLong)
    assert found.retry


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Wed, 99 Foo 2099"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_read_from_the_headers(headers, seconds):
    assert wait_in(headers) == seconds


def test_the_wait_may_be_a_date():
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 27 < wait_in({"retry-after": soon}) <= 30
    assert wait_in({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}) == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Bad gateway</html>",
        b"[[[",
        b"null",
        b'"x"',
        b'{"error": null}',
        b'{"error": "x"}',
        b'[{"error": {"message": 3}}]',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"error": {"code": [1], "type": {}, "message": {"a": 1}}}',
    ],
)
def test_any_body_is_accepted_without_raising(body):
    assert str(provider_error(body, status=502)).startswith(
        "The provider answered with status 502"
    )


def test_a_message_is_bounded_and_holds_no_key():
    key = "sk-0123456789abcdef"
    body = json.dumps({"error": {"code": key, "message": f"bad key {key} " + "x" * 10_000}})
    error = provider_error(body.encode(), status=401, secrets=[Secret(key)])
    assert key not in str(error) + error.code
    assert len(str(error)) < 700
