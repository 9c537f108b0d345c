"""Local programs are accepted; web pages, other host names and other machines are not."""

import pytest

from foldline.proxy.access_control import AccessControl, is_loopback

HERE = AccessControl("127.0.0.1")


def reason(access, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    found = access.refusal({"host": "127.0.0.1:4000"} | named)
    return found and found.reason


def test_a_local_program_is_accepted():
    assert reason(HERE) is None
    assert reason(HERE, host="localhost:4000") is None
    assert reason(HERE, host="[::1]:4000") is None
    assert reason(HERE, origin="http://localhost:4000") is None


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "127.0.0.1.evil.example", "localhost.evil", "10.0.0.7", "[::", "@"],
)
def test_a_host_name_that_another_site_can_use_is_refused(host):
    assert reason(HERE, host=host) == "host"


@pytest.mark.parametrize("origin", ["null", "", "https://evil.example", "file://", "http://["])
def test_pages_of_other_origins_are_refused(origin):
    assert reason(HERE, origin=origin) == "origin"
    assert reason(HERE, sec_fetch_site="cross-site") == "origin"


def test_a_websocket_is_refused_at_once_for_every_client():
    found = HERE.refusal({"host": "127.0.0.1", "upgrade": "WebSocket"})
    assert found is not None
    assert (found.status, found.reason) == (426, "websocket")


def test_two_content_lengths_are_refused():
    assert reason(HERE, content_length="3", transfer_encoding="chunked") == "framing"


def test_a_token_must_match_completely():
    access = AccessControl("0.0.0.0", "opensesame")  # noqa: S104
    assert reason(access, host="10.0.0.7") == "token"
    right, wrong = ({"x-foldline-token": word} for word in ("opensesame", "opensesam"))
    assert reason(access, host="10.0.0.7", **wrong) == "token"
    assert reason(access, host="10.0.0.7", **right) is None
    assert reason(access, host="evil.example", **right) == "host"


def test_only_this_machine_is_loopback():
    assert [is_loopback(h) for h in ("127.0.0.1", "::1", "localhost")] == [True] * 3
    assert [is_loopback(h) for h in ("0.0.0.0", "10.0.0.7", "example.org")] == [False] * 3  # noqa: S104
