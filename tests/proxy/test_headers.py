"""Headers are forwarded unchanged, except hop-by-hop headers and the proxy's own."""

from foldline.proxy.headers import report_headers, request_headers, response_headers
from foldline.proxy.request_rewriting import Decision
from foldline.proxy.requests import client_name, session_hint
from foldline.values.messages import Usage

CAME = [
    (b"host", b"127.0.0.1:1"),
    (b"connection", b"keep-alive, X-Secret-Hop"),
    (b"x-secret-hop", b"1"),
    (b"transfer-encoding", b"chunked"),
    (b"content-length", b"3"),
    (b"x-foldline-token", b"t"),
    (b"authorization", b"Bearer k"),
    (b"accept-encoding", b"gzip, deflate;q=0.5, br, zstd"),
    (b"x-twice", b"1"),
    (b"x-twice", b"2"),
]
STAYS = [(b"authorization", b"Bearer k"), (b"x-twice", b"1"), (b"x-twice", b"2")]


def test_hop_by_hop_headers_are_not_forwarded():
    coding = (b"accept-encoding", b"gzip, deflate;q=0.5, br, zstd")
    assert request_headers(CAME, reads=False) == [STAYS[0], coding, *STAYS[1:]]
    assert (b"content-length", b"3") in request_headers(CAME, reads=False, length=True)


def test_an_answer_that_is_read_accepts_only_readable_codings():
    coding = (b"accept-encoding", b"gzip, deflate;q=0.5")
    assert request_headers(CAME, reads=True) == [STAYS[0], coding, *STAYS[1:]]
    only = [(b"accept-encoding", b"br")]
    assert request_headers(only, reads=True) == [(b"accept-encoding", b"identity")]


def test_a_provider_cannot_forge_headers_of_the_proxy():
    came = [(b"X-Foldline-Session", b"forged"), (b"Keep-Alive", b"5"), (b"Retry-After", b"7")]
    assert response_headers(came) == [(b"retry-after", b"7")]


def test_report_headers_hold_everything_known():
    decision = Decision(b"", "view", session="s", before=9, after=4, receipt="s/1")
    reported = dict(report_headers(decision, Usage(1, 2, 3, 4), dry_run=False))
    assert reported == {
        b"x-foldline-action": b"view",
        b"x-foldline-session": b"s",
        b"x-foldline-receipt": b"s/1",
        b"x-foldline-tokens-before": b"9",
        b"x-foldline-tokens-after": b"4",
        b"x-foldline-cache-read": b"3",
        b"x-foldline-cache-write": b"4",
    }
    assert report_headers(Decision(b"", "unread"), None, dry_run=True) == [
        (b"x-foldline-action", b"dry-run")
    ]


def test_clients_are_identified_by_their_headers():
    assert client_name({"user-agent": "claude-cli/2.1.197 (external, cli)"}) == "claude-code"
    assert client_name({"user-agent": "../..\x00/1"}) == "client"
    assert client_name({}) == "client"
    assert session_hint({"thread-id": "t" * 900}) == "t" * 200
    assert session_hint({}) == ""
