"""A client sees the same through the proxy as without it, or a clear error."""

import gzip
import http.client
import json
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest
from tests.proxy.conftest import KEY, STREAM, answer, chunk, plain, request, talk

BEGIN = (
    b'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":9,'
    b'"cache_read_input_tokens":90,"cache_creation_input_tokens":3,"output_tokens":1}}}\n\n'
)
EVENTS = [
    BEGIN,
    b'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"h"}}\n\n',
    b'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":7}}\n\n',
]


def settled(proxy, requests):
    """Wait until a number of requests are logged."""
    for _ in range(500):
        lines = [line for line in proxy.lines() if "path" in line and "refused" not in line]
        if len(lines) >= requests:
            return lines
        threading.Event().wait(0.01)
    raise AssertionError(proxy.log.read_text())


def test_a_request_and_its_answer_arrive_unchanged(shared):
    upstream, proxy = shared
    said = answer("hello", input_tokens=5, output_tokens=2)
    upstream.reply = lambda _: plain(said, **{"request-id": "r1", "set-cookie": "a=b"})
    data = b'{ "model":"m",  "messages" : [ {"role":"user","content":"h\\u00e9"} ], "x": 1.50 }'
    headers = {"anthropic-beta": "a,b", "anthropic-version": "2023-06-01", "x-new": "1"}
    found = proxy.send(data, "/v1/messages?beta=true", headers=headers)
    (sent,) = upstream.sent
    assert (sent.method, sent.target, sent.body) == ("POST", "/v1/messages?beta=true", data)
    assert {name: sent.header(name) for name in headers} == headers
    assert sent.header("x-api-key") == KEY
    assert sent.header("host") == urlsplit(upstream.url).netloc
    assert (found.status, json.loads(found.body)) == (200, said)
    assert (found.headers["request-id"], found.headers["set-cookie"]) == ("r1", "a=b")
    assert found.report("action") == "unchanged"
    assert (found.report("cache-read"), found.report("tokens-before")) == (
        "0",
        found.report("tokens-after"),
    )


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS", "POST"])
def test_everything_else_is_relayed_byte_for_byte(shared, method):
    upstream, proxy = shared
    upstream.sent.clear()
    upstream.reply = lambda _: plain(b"" if method == "HEAD" else b"\x00\xff", 207, etag="7")
    data = b"\x00\x01binary" if method in ("PUT", "PATCH", "POST") else None
    found = proxy.send(data, "/v1/files/a%2Fb?after=%20x&limit=2", method)
    (sent,) = upstream.sent
    assert (sent.method, sent.target) == (method, "/v1/files/a%2Fb?after=%20x&limit=2")
    assert sent.body == (data or b"")
    assert (found.status, found.headers["etag"]) == (207, "7")
    assert found.body == (b"" if method == "HEAD" else b"\x00\xff")


def test_the_first_byte_does_not_wait_for_the_last(shared):
    (upstream, proxy), go_on = shared, threading.Event()

    def reply(_):
        yield STREAM + chunk(EVENTS[0])
        assert go_on.wait(20)
        yield chunk(EVENTS[1]) + chunk(EVENTS[2]) + b"0\r\n\r\n"

    upstream.reply = reply
    connection = proxy.connect()
    connection.request("POST", "/v1/messages", json.dumps(request(talk(1), stream=True)))
    response = connection.getresponse()
    assert response.getheader("x-foldline-cache-read") == "90"
    assert response.getheader("x-foldline-cache-write") == "3"
    assert response.read(len(EVENTS[0])) == EVENTS[0]
    go_on.set()
    assert response.read() == EVENTS[1] + EVENTS[2]
    connection.close()
    (line,) = settled(proxy, 1)
    assert (line["input"], line["output"], line["cache_read"]) == (9, 7, 90)


def test_the_head_of_a_stream_is_sent_before_its_first_event(shared):
    (upstream, proxy), go_on = shared, threading.Event()

    def reply(_):
        yield STREAM
        assert go_on.wait(20)
        yield chunk(b"data: x\n\n") + b"0\r\n\r\n"

    upstream.reply = reply
    connection = proxy.connect()
    connection.request("POST", "/v1/messages", json.dumps(request(talk(1), stream=True)))
    response = connection.getresponse()
    assert response.status == 200
    go_on.set()
    assert response.read() == b"data: x\n\n"
    connection.close()


def test_invalid_events_are_relayed_unchanged(shared):
    (upstream, proxy), junk = shared, b"data: {\n\nevent\x00: \xff\n\n\n\ndata: [DONE"
    upstream.reply = lambda _: STREAM + chunk(junk) + b"0\r\n\r\n"
    assert proxy.send(request(talk(1), stream=True)).body == junk


def test_a_compressed_answer_is_relayed_compressed(shared):
    upstream, proxy = shared
    packed = gzip.compress(json.dumps(answer("x", input_tokens=4, output_tokens=1)).encode())
    upstream.reply = lambda _: plain(packed, **{"content-encoding": "gzip"})
    found = proxy.send(request(talk(1)), headers={"accept-encoding": "gzip, br;q=0.5, zstd"})
    assert (found.body, found.headers["content-encoding"]) == (packed, "gzip")
    assert upstream.sent[0].header("accept-encoding") == "gzip"
    assert settled(proxy, 1)[0]["input"] == 4


def test_a_compressed_request_is_relayed_unread(shared):
    (upstream, proxy), packed = shared, gzip.compress(json.dumps(request(talk(1))).encode())
    found = proxy.send(packed, headers={"content-encoding": "gzip"})
    assert (upstream.sent[0].body, found.report("action")) == (packed, "unread")


def test_a_provider_error_is_relayed_to_the_client(shared):
    upstream, proxy = shared
    error = {"type": "error", "error": {"type": "some_error", "message": "Something else."}}
    statuses = [400, 401, 403, 404, 429, 500, 503, 529]
    for status in statuses:
        said = plain(error, status, **{"retry-after": "7"})
        upstream.reply = lambda _, said=said: said
        found = proxy.send(request(talk(3)))
        assert (found.status, json.loads(found.body)) == (status, error)
        assert found.headers["retry-after"] == "7"
    assert len(upstream.sent) == len(statuses)


def test_an_answer_that_breaks_off_breaks_off_for_the_client(shared):
    upstream, proxy = shared
    upstream.reply = lambda _: STREAM + chunk(EVENTS[0])
    with pytest.raises(http.client.IncompleteRead):
        proxy.send(request(talk(1), stream=True))
    upstream.reply = lambda _: plain(answer())[:-4]
    with pytest.raises(http.client.IncompleteRead):
        proxy.send(request(talk(1)))
    assert all("ModelError" in line["problem"] for line in settled(proxy, 2))


def test_a_silent_or_unreachable_provider_is_reported_to_the_client(shared, serve):
    upstream, proxy = shared
    upstream.reply = lambda _: b""
    found = proxy.send(request(talk(1)))
    assert found.status == 502
    assert json.loads(found.body)["error"]["code"] == "foldline_upstream"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        nobody = serve(at=f"http://{address}")
        found = nobody.send(request(talk(1)), "/v1/messages?key=secret")
        assert found.status == 502
        words = json.loads(found.body)["error"]["message"]
        assert f"The provider at {address} cannot be reached: Connection refused. Check" in words
        assert "secret" not in words
        assert nobody.send(None, "/v1/models", "GET").status == 502


def test_the_upstream_request_ends_when_the_client_disconnects(shared):
    (upstream, proxy), arrived = shared, threading.Event()

    def reply(_):
        yield STREAM
        arrived.set()
        while True:
            yield chunk(b": still there\n\n" * 1_000)

    upstream.reply = reply
    connection = proxy.connect()
    connection.request("POST", "/v1/messages", json.dumps(request(talk(1), stream=True)))
    assert arrived.wait(20)
    connection.sock.close()
    assert upstream.gone.wait(20)
    assert settled(proxy, 1)[0]["problem"] == "the client went away"
    assert proxy.totals()["in_flight"] == 0


# --- compaction ------------------------------------------------------------------------------


def test_a_long_session_is_compacted_and_reported_to_the_client(upstream, serve):
    proxy = serve("--window", "20000")
    history = talk(45)
    actions, last = [], None
    for length in range(1, len(history) + 1, 2):
        last = proxy.send(request(history[:length]))
        actions.append(last.report("action"))
    assert actions[0] == "unchanged"
    assert actions.count("compacted") >= 1
    assert actions[-1] in ("view", "compacted")
    assert int(last.report("tokens-after")) < int(last.report("tokens-before"))
    assert last.report("receipt").startswith(last.report("session"))
    totals = proxy.totals()
    assert totals["requests"] == len(actions)
    assert totals["tokens_saved"] == totals["tokens_before"] - totals["tokens_after"] > 0
    assert totals["failed_open"] == 0


OVERFLOWS = {
    "/v1/messages": {
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "message": "prompt is too long: 9000 tokens > 8000 maximum",
        },
    },
    "/v1/chat/completions": {
        "error": {
            "message": "This model's maximum context length is 8000 tokens. However, your "
            "messages resulted in 9000 tokens. Please reduce the length of the messages.",
            "type": "invalid_request_error",
            "code": "context_length_exceeded",
        }
    },
    "/v1/responses": {
        "error": {
            "message": "Your input exceeds the context window of this model.",
            "type": "invalid_request_error",
            "code": "context_length_exceeded",
        }
    },
}


def test_an_overflow_is_retried_once_with_a_smaller_request(shared):
    upstream, proxy = shared
    before = proxy.totals()["overflow_retries"]
    for path in OVERFLOWS:
        upstream.sent.clear()
        sent_smaller(upstream, proxy, path)
    assert proxy.totals()["overflow_retries"] - before == len(OVERFLOWS)


def sent_smaller(upstream, proxy, path):
    history = [
        {"role": m["role"], "content": m["content"] if m["role"] == "user" else "reply"}
        for m in talk(20)
    ]
    body = {"model": "m", "input" if "responses" in path else "messages": history}
    upstream.reply = lambda sent: (
        plain(OVERFLOWS[path], 400) if len(sent.body) > 20_000 else plain(answer("fits"))
    )
    found = proxy.send(body, path)
    assert (found.status, json.loads(found.body)) == (200, answer("fits"))
    assert found.report("action") == "compacted"
    first, second = upstream.sent
    assert len(second.body) < len(first.body)
    assert json.loads(first.body) == body


def test_a_second_overflow_is_relayed_to_the_client(shared):
    (upstream, proxy), said = shared, OVERFLOWS["/v1/messages"]
    upstream.reply = lambda _: plain(said, 400)
    found = proxy.send(request(talk(20)))
    assert (found.status, json.loads(found.body)) == (400, said)
    assert len(upstream.sent) == 2


def test_an_overflow_inside_a_stream_is_detected_before_the_client_gets_a_byte(upstream, serve):
    proxy = serve("--window", "30000")
    begins = b'event: response.created\ndata: {"type":"response.created"}\n\n'
    error = {"code": "context_length_exceeded", "message": "Your input exceeds the context window"}
    fails = json.dumps({"type": "response.failed", "response": {"error": error}}).encode()
    failed = b"event: response.failed\ndata: " + fails + b"\n\n"

    def reply(sent):
        yield STREAM + chunk(begins)
        yield chunk(failed if len(upstream.sent) == 1 else b"data: fits\n\n") + b"0\r\n\r\n"

    upstream.reply = reply
    history = [m for m in talk(30) if m["role"] == "user"]
    found = proxy.send({"model": "m", "stream": True, "input": history}, "/v1/responses")
    assert found.body == begins + b"data: fits\n\n"
    assert len(upstream.sent) == 2
    assert len(upstream.sent[1].body) < len(upstream.sent[0].body)


def test_a_rate_limit_that_mentions_tokens_is_not_an_overflow(shared):
    upstream, proxy = shared
    error = {"error": {"message": "Request too large: tokens per min (TPM): Limit 30000"}}
    upstream.reply = lambda _: plain(error, 429)
    assert proxy.send(request(talk(20))).status == 429
    assert len(upstream.sent) == 1


def test_nothing_is_lost_when_the_proxy_is_killed(upstream, serve):
    proxy, history = serve("--window", "20000"), talk(50)
    for length in range(1, 81, 2):
        before = proxy.send(request(history[:length]))
    proxy.child.kill()
    proxy.child.wait(20)
    last = upstream.sent[-1].messages
    again = serve("--window", "20000").send(request(history[:83]))
    assert again.report("session") == before.report("session")
    assert again.report("action") == "view"
    assert upstream.sent[-1].messages[: len(last)] == last


# --- hostile -------------------------------------------------------------------------------------


def raw(proxy, data):
    """Send bytes, and return the whole response."""
    with socket.create_connection(urlsplit(proxy.url).netloc.split(":"), timeout=20) as line:
        line.sendall(data)
        pieces = []
        while piece := line.recv(65_536):
            pieces.append(piece)
            if b"\r\n\r\n" in b"".join(pieces):
                break
        return b"".join(pieces)


LENGTH = b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n"
FROM = b"GET / HTTP/1.1\r\nHost: "
DISHONEST = (
    LENGTH + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    LENGTH + b"Content-Length: 6\r\n\r\nhello",
    b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: xchunked\r\n\r\n",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"CONNECT evil.example:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    FROM + b"evil.example\r\n\r\n",
    FROM + b"127.0.0.1\r\nOrigin: https://evil.example\r\n\r\n",
    FROM + b"127.0.0.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    b"SSH-2.0-scan\r\n\r\n",
)


def test_malformed_requests_never_reach_the_provider(shared):
    upstream, proxy = shared
    for head in DISHONEST:
        found = raw(proxy, head)
        assert found == b"" or 400 <= int(found.split()[1]) < 500, head
    assert upstream.sent == []
    assert proxy.send(request(talk(1))).status == 200


def test_a_websocket_is_refused_at_once(shared):
    upstream, proxy = shared
    upgrade = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-key": "x"}
    found = proxy.send(None, "/v1/responses", "GET", upgrade)
    assert found.status == 426
    assert upstream.sent == []


def test_a_page_of_another_origin_is_refused(shared):
    upstream, proxy = shared
    for path in ("/healthz", "/metrics", "/v1/models"):
        found = proxy.send(None, path, "GET", {"origin": "https://evil.example"})
        assert found.status == 403
        assert "access-control-allow-origin" not in found.headers
    assert upstream.sent == []


def test_a_wrong_content_type_and_a_deeply_nested_body_are_relayed(shared):
    upstream, proxy = shared
    deep = b'{"messages": [' + b"[" * 200_000 + b"]" * 200_000 + b"]}"
    for kind, data in (("text/plain", b"hello"), ("", b"hello"), ("application/json", deep)):
        assert proxy.send(data, headers={"content-type": kind}).report("action") == "failed"
        assert upstream.sent[-1].body == data


def test_a_body_that_is_too_large_is_relayed_unread(shared):
    upstream, proxy = shared
    data = b'{"messages": ["' + b"x" * (33 << 20) + b'"]}'
    assert proxy.send(data).report("action") == "unread"
    assert upstream.sent[0].body == data

    def pieces():
        for start in range(0, len(data), 1 << 20):
            yield data[start : start + (1 << 20)]

    connection = proxy.connect()
    connection.request("POST", "/v1/messages", pieces(), {"x": "y"}, encode_chunked=True)
    assert connection.getresponse().status == 200
    connection.close()
    assert upstream.sent[1].body == data


def test_no_file_holds_a_key(upstream, serve, tmp_path):
    proxy = serve("--window", "20000")
    upstream.reply = lambda _: plain({"error": f"bad key {KEY}"}, 401)
    proxy.send(request(talk(1)), "/v1/messages?key=" + KEY)
    upstream.reply = lambda _: b""
    history = talk(40)
    for length in (1, 41, 79):
        proxy.send(request(history[:length]), headers={"authorization": f"Bearer {KEY}"})
    assert proxy.stop() == 0
    for file in tmp_path.iterdir():
        assert KEY.encode() not in file.read_bytes(), file
    assert (tmp_path / "a.db").stat().st_mode & 0o077 == 0


def test_answers_in_progress_are_finished_before_shutdown(upstream, serve):
    proxy, arrived = serve(), threading.Event()

    def reply(_):
        yield STREAM + chunk(EVENTS[0])
        arrived.set()
        time.sleep(0)  # let other threads run
        assert proxy.child.poll() is None
        yield chunk(EVENTS[1]) + b"0\r\n\r\n"

    upstream.reply = reply
    connection = proxy.connect()
    connection.request("POST", "/v1/messages", json.dumps(request(talk(1), stream=True)))
    assert arrived.wait(20)
    proxy.child.terminate()
    assert connection.getresponse().read() == EVENTS[0] + EVENTS[1]
    connection.close()
    assert proxy.child.wait(20) == 0
