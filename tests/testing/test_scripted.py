"""The scripted server over plain HTTP: what it records, rejects and survives."""

import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection, HTTPException, RemoteDisconnected

import pytest

from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer, CallTool, Echo, Overflow, Raw, Stall, Status
from foldline.testing.scripted.connection import LARGEST

CHAT = "/v1/chat/completions"
HELLO = {"model": "m", "messages": [{"role": "user", "content": "Hello there"}]}


def post(server, body, path=CHAT, **headers):
    """Send one request over a new connection, and return status, headers and parsed body."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]), timeout=10)
    try:
        connection.request("POST", path, data, headers)
        response = connection.getresponse()
        text = response.read().decode()
        return response.status, response.headers, json.loads(text) if text[:1] == "{" else text
    finally:
        connection.close()


def fate(server):
    """Send one request, and return its outcome."""
    try:
        return post(server, HELLO)[0]
    except HTTPException as error:
        return type(error)


def text_of(reply):
    return reply[2]["choices"][0]["message"]["content"]


# --- the script ----------------------------------------------------------------------------


def test_steps_are_taken_in_order_and_a_string_is_an_answer():
    with ScriptedServer(["one", Answer("two"), Echo("you said: ")]) as server:
        texts = [text_of(post(server, HELLO)) for _ in range(3)]
    assert texts == ["one", "two", "you said: Hello there"]


def test_a_finished_script_returns_an_error_without_retry():
    with ScriptedServer(["one"]) as server:
        post(server, HELLO)
        status, headers, body = post(server, HELLO)
    assert status == 500
    assert headers["x-should-retry"] == "false"
    assert "The script is over: its 1 steps were taken, and this is request 2" in str(body)


def test_the_default_answers_requests_after_the_script():
    with ScriptedServer(["one"], default="more") as server:
        assert [text_of(post(server, HELLO)) for _ in range(3)] == ["one", "more", "more"]


def test_a_function_sees_the_request_and_chooses_the_step():
    def script(request):
        return "calm" if "Hello" in request.text else Status(503)

    with ScriptedServer(script) as server:
        assert text_of(post(server, HELLO)) == "calm"
        other = {"model": "m", "messages": [{"role": "user", "content": "Bye"}]}
        assert post(server, other)[0] == 503


def test_an_error_of_a_script_function_reaches_the_client_and_the_test():
    def script(request):
        raise LookupError("no such scene")

    with ScriptedServer(script) as server:
        status, _, body = post(server, HELLO)
        (error,) = server.errors
    assert status == 500
    assert "LookupError: no such scene" in body["error"]["message"]
    assert isinstance(error, LookupError)


def test_an_invalid_step_is_named():
    with ScriptedServer([42]) as server:
        _, _, body = post(server, HELLO)
    assert "int is not a step" in body["error"]["message"]


def test_requests_at_once_get_different_steps_and_numbers():
    with ScriptedServer([f"answer {n}" for n in range(16)]) as server:
        texts = []
        threads = [
            threading.Thread(
                target=lambda: texts.append(text_of(post(server, HELLO))), daemon=True
            )
            for _ in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert [request.number for request in server.requests] == list(range(16))
    assert sorted(texts) == sorted(f"answer {n}" for n in range(16))


# --- the record ----------------------------------------------------------------------------


def test_a_request_is_recorded_as_it_came():
    body = HELLO | {"messages": [{"role": "system", "content": "Be brief."}, *HELLO["messages"]]}
    with ScriptedServer(["ok"]) as server:
        post(server, body, path=f"{CHAT}?trace=1")
        (request,) = server.requests
    assert (request.method, request.path, request.format) == ("POST", CHAT, "openai-chat")
    assert (request.body, request.messages, request.model) == (body, body["messages"], "m")
    assert (request.text, request.last) == ("Be brief.\nHello there", "Hello there")
    assert request.tokens > 0
    assert not request.is_streaming


def test_no_key_is_kept_of_a_request():
    with ScriptedServer(["ok"]) as server:
        keys = {"Authorization": "Bearer sk-1", "X-Api-Key": "sk-1", "Cookie": "sk-1"}
        post(server, HELLO, path=f"{CHAT}?key=sk-1", **keys)
        (request,) = server.requests
    assert "sk-1" not in repr(vars(request))
    assert request.headers["authorization"] == "(hidden)"


def test_waiting_for_a_request_ends_with_it_or_with_the_time():
    outcomes = []
    with ScriptedServer([Stall()]) as server:
        assert not server.wait(1, seconds=0.01)
        thread = threading.Thread(target=lambda: outcomes.append(fate(server)), daemon=True)
        thread.start()
        assert server.wait(1, seconds=10)
        server.close()
        thread.join(10)
        assert outcomes == [RemoteDisconnected]


def test_the_shared_prefix_of_two_requests_is_reported_as_cached():
    first = HELLO["messages"]
    more = [*first, {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "More"}]
    changed = [{"role": "user", "content": "Something else"}, *more[1:]]
    with ScriptedServer(default="ok") as server:
        for messages in (first, more, changed):
            post(server, {"model": "m", "messages": messages})
        usages = [request.usage for request in server.requests]
    assert usages[0].cache_read == usages[2].cache_read == 0
    assert usages[1].cache_read == usages[0].input
    assert usages[1].total == usages[1].input + usages[0].input


# --- the rules -----------------------------------------------------------------------------

ORPHAN = {"role": "tool", "tool_call_id": "c9", "content": "result"}


def test_a_request_that_breaks_the_rules_is_rejected_and_takes_no_step():
    with ScriptedServer(["ok"]) as server:
        status, _, body = post(server, HELLO | {"messages": [*HELLO["messages"], ORPHAN]})
        assert status == 400
        assert "c9" in body["error"]["message"]
        assert [violation.rule for violation in server.violations] == ["pairing"]
        assert text_of(post(server, HELLO)) == "ok"


def test_a_lenient_server_only_keeps_the_violation():
    with ScriptedServer(["ok"], strict=False) as server:
        assert text_of(post(server, HELLO | {"messages": [*HELLO["messages"], ORPHAN]})) == "ok"
        assert len(server.violations) == 1


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (CHAT, {"messages": HELLO["messages"]}, "model"),
        ("/v1/messages", HELLO, "max_tokens"),
        ("/v1/responses", {"model": "m"}, "input"),
    ],
)
def test_a_missing_required_field_of_a_request_is_reported(path, body, field):
    with ScriptedServer(["ok"]) as server:
        assert post(server, body, path)[0] == 400
        assert server.violations[0].field == field


def test_a_window_rejects_larger_requests_with_the_wording_of_the_provider():
    long = [{"role": "user", "content": "word " * 3_000}]
    with ScriptedServer(["ok"], window=2_000) as server:
        _, _, chat = post(server, {"model": "m", "messages": long})
        claude = {"model": "m", "max_tokens": 10, "messages": long}
        status, _, anthropic = post(server, claude, "/v1/messages")
        tokens = server.requests[0].tokens
        assert text_of(post(server, HELLO)) == "ok"
    assert chat["error"]["code"] == "context_length_exceeded"
    assert f"resulted in {tokens} tokens" in chat["error"]["message"]
    assert status == 400
    assert anthropic["error"]["message"].endswith("tokens > 2000 maximum")


def test_the_cap_of_the_output_counts_against_the_window():
    with ScriptedServer(["ok", "ok"], window=2_000) as server:
        assert post(server, HELLO | {"max_tokens": 1_900})[0] == 200
        _, _, chat = post(server, HELLO | {"max_tokens": 2_000})
        _, _, claude = post(server, HELLO | {"max_tokens": 2_000}, "/v1/messages")
    assert "2000 in the completion" in chat["error"]["message"]
    assert "`max_tokens` exceed context limit" in claude["error"]["message"]


def test_counting_the_tokens_of_a_request_takes_no_step():
    with ScriptedServer(["ok"]) as server:
        _, _, counted = post(server, HELLO, "/v1/messages/count_tokens")
        assert counted == {"input_tokens": server.requests[0].tokens}
        assert post(server, HELLO | {"max_tokens": 5}, "/v1/messages")[0] == 200


def test_an_overflow_without_numbers_names_the_window_and_the_request():
    with ScriptedServer([Overflow(), Overflow(100, 250)]) as server:
        messages = [post(server, HELLO)[2]["error"]["message"] for _ in range(2)]
    assert "maximum context length is 128000 tokens" in messages[0]
    assert (
        "maximum context length is 100 tokens. However, your messages resulted in 250"
        in (messages[1])
    )


# --- hostile and broken --------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'{"model":"m","messages":3}', b"[" * 100_000, b"\xff\xfe"],
    ids=["empty", "broken", "list", "null", "number", "deep", "bytes"],
)
@pytest.mark.parametrize("path", [CHAT, "/v1/responses", "/v1/messages"])
def test_an_invalid_request_is_rejected(path, body):
    with ScriptedServer(["ok"]) as server:
        assert post(server, body, path)[0] == 400
        assert server.violations
        assert server.errors == ()


def test_another_path_does_not_exist():
    with ScriptedServer(["ok"]) as server:
        assert post(server, HELLO, "/v1/embeddings")[0] == 404
        assert server.requests[0].format == ""


def test_a_request_that_is_too_large_is_not_read():
    with ScriptedServer(["ok"]) as server:
        port = int(server.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            head = f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nContent-Length: {LARGEST + 1}\r\n\r\n"
            connection.sendall(head.encode())
            assert b" 413 " in connection.recv(65_536)
        assert server.requests == ()


@pytest.mark.parametrize("sent", [0, 10])
def test_a_client_that_disconnects_within_its_request_is_dropped_without_a_request(sent):
    data = json.dumps(HELLO).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n".encode()
    with ScriptedServer(["one"]) as server:
        address = ("127.0.0.1", int(server.url.rpartition(":")[2]))
        with socket.create_connection(address, timeout=10) as client:
            client.sendall(head + data[:sent])
            client.shutdown(socket.SHUT_WR)
            assert client.recv(1_000) == b""
        assert (server.requests, server.violations) == ((), ())
        assert text_of(post(server, HELLO)) == "one"


def test_any_bytes_can_be_sent():
    with ScriptedServer([Raw(b"<html>Bad gateway</html>", 502, "text/html")]) as server:
        status, headers, body = post(server, HELLO)
    assert (status, headers["content-type"], body) == (
        502,
        "text/html",
        "<html>Bad gateway</html>",
    )


def test_a_stall_can_end_by_itself():
    with ScriptedServer([Stall(seconds=0.01)]) as server, pytest.raises(HTTPException):
        post(server, HELLO)


def test_closing_ends_what_stalls_at_once_and_may_be_repeated():
    outcomes = []
    server = ScriptedServer(default=Stall())
    port = int(server.url.rpartition(":")[2])
    thread = threading.Thread(target=lambda: outcomes.append(fate(server)), daemon=True)
    thread.start()
    with socket.create_connection(("127.0.0.1", port), timeout=10) as silent:
        assert server.wait(1)
        start = time.monotonic()
        server.close()
        server.close()
        assert time.monotonic() - start < 5
        # Where the server had not taken the connection yet, the kernel resets it instead.
        with contextlib.suppress(ConnectionResetError):
            assert silent.recv(1) == b""
    thread.join(10)
    assert outcomes == [RemoteDisconnected]


def test_it_needs_no_extra():
    code = (
        "import sys; from foldline.testing import ScriptedServer; ScriptedServer().close();"
        "print([m for m in ('hypothesis', 'openai', 'anthropic', 'httpx2') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_tool_call_is_written_as_the_wire_has_it():
    tool = CallTool("read", {"path": "a.py"}, id="c1")
    with ScriptedServer([tool, tool]) as server:
        _, _, chat = post(server, HELLO)
        _, _, claude = post(server, HELLO | {"max_tokens": 9}, "/v1/messages")
    (call,) = chat["choices"][0]["message"]["tool_calls"]
    assert call["function"] == {"name": "read", "arguments": '{"path": "a.py"}'}
    assert claude["content"] == [
        {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a.py"}}
    ]


# --- what coding agents send -----------------------------------------------------------------


def test_a_websocket_is_refused_without_a_violation_so_that_the_client_falls_back():
    with ScriptedServer() as server:
        connection = HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]), timeout=10)
        with contextlib.closing(connection):
            upgrade = {"Upgrade": "websocket", "Connection": "Upgrade"}
            connection.request("GET", "/v1/responses", headers=upgrade)
            assert connection.getresponse().status == 426
    assert server.violations == ()


def test_a_head_request_is_answered():
    with ScriptedServer() as server:
        connection = HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]), timeout=10)
        with contextlib.closing(connection):
            connection.request("HEAD", "/")
            assert connection.getresponse().status == 200


@pytest.mark.parametrize(
    ("beta", "roles", "status"),
    [
        ("x,mid-conversation-system-2026-04-07", ("user", "system", "assistant", "user"), 200),
        ("x,mid-conversation-system-2026-04-07", ("system", "user"), 400),
        ("x", ("user", "system"), 400),
    ],
)
def test_system_messages_behind_the_first_one_need_their_beta(beta, roles, status):
    messages = [{"role": role, "content": "text"} for role in roles]
    body = {"model": "m", "max_tokens": 9, "messages": messages}
    with ScriptedServer(["ok"]) as server:
        found = post(server, body, "/v1/messages", **{"anthropic-beta": beta})
    assert found[0] == status


def test_a_custom_call_of_responses_has_free_text_and_its_namespace():
    call = CallTool("exec", "print(1)", custom=True, namespace="functions")
    with ScriptedServer([call, call]) as server:
        whole = post(server, {"model": "m", "input": "Hi"}, "/v1/responses")[2]["output"][-1]
        streamed = {"model": "m", "input": "Hi", "stream": True}
        events = post(server, streamed, "/v1/responses")[2]
    assert (whole["type"], whole["name"], whole["namespace"], whole["input"]) == (
        "custom_tool_call", "exec", "functions", "print(1)",
    )  # fmt: skip
    assert "response.custom_tool_call_input.delta" in events
    assert '"input":"print(1)"' in events.replace(" ", "")
