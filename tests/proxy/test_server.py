"""The proxy prints its address, accepts only permitted clients, and stops on a signal."""

from __future__ import annotations

import signal

import pytest
from tests.proxy.conftest import answer, plain, request, talk
from tests.proxy.rewriting import turns

from foldline.core.config import Config
from foldline.errors import InputError
from foldline.proxy.request_rewriting import ProxyOptions
from foldline.proxy.server import ProxyServer, resolve_upstream
from foldline.session import Session


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_shuts_the_server_down_cleanly(serve, number):
    proxy = serve()
    assert proxy.url.startswith("http://127.0.0.1:")
    assert proxy.totals()["status"] == "ok"
    proxy.child.send_signal(number)
    assert proxy.child.wait(20) == 0
    assert proxy.lines()[0]["event"] == "started"


def test_other_machines_need_a_token(upstream, serve):
    with pytest.raises(InputError, match="token"):
        ProxyServer("anthropic", ProxyOptions(Config()), host="0.0.0.0")  # noqa: S104
    proxy = serve("--host", "0.0.0.0", "--token", "opensesame")  # noqa: S104
    proxy.url = proxy.url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
    assert proxy.send(request(talk(1))).status == 401
    assert proxy.send(None, "/healthz", "GET").status == 401
    let_in = {"x-foldline-token": "opensesame"}
    assert proxy.send(request(talk(1)), headers=let_in).status == 200
    (sent,) = upstream.sent
    assert sent.header("x-foldline-token") is None


def test_a_dry_run_sends_the_original_and_stores_nothing(upstream, serve, tmp_path):
    proxy = serve("--dry-run", "--window", "20000")
    history = talk(40)
    for length in (1, 41, 79):
        found = proxy.send(request(history[:length]))
        assert upstream.sent[-1].messages == history[:length]
    assert found.report("action") == "dry-run"
    assert int(found.report("tokens-after")) < int(found.report("tokens-before"))
    assert proxy.totals()["dry_run"] is True
    assert not (tmp_path / "a.db").exists()


def test_without_an_archive_the_log_reports_that_recall_is_off(serve, tmp_path):
    proxy = serve("--no-archive")
    proxy.send(request(talk(1)))
    assert "nothing can be recalled" in proxy.lines()[0]["recall"]
    assert not (tmp_path / "a.db").exists()


def test_sessions_beyond_their_retention_are_deleted(upstream, serve, tmp_path):
    with Session.open(tmp_path / "a.db", "old", window=9_000, clock=lambda: 1e9) as old:
        old.extend(turns(1))
    proxy = serve("--keep", "30d")
    proxy.send(request(talk(1)))
    proxy.stop()
    assert {"event": "pruned", "sessions": 1} in proxy.lines()


def test_keys_in_messages_are_redacted_on_request(upstream, serve, tmp_path):
    proxy = serve("--redact")
    secret = f"sk-ant-{'0123456789' * 2}"
    messages = [{"role": "user", "content": f"my key is {secret}"}]
    proxy.send(request(messages))
    assert upstream.sent[0].messages == messages
    proxy.stop()
    for file in tmp_path.iterdir():
        assert secret.encode() not in file.read_bytes(), file


def test_totals_equal_those_of_prometheus(upstream, serve):
    proxy = serve()
    upstream.reply = lambda _: plain(answer(input_tokens=5, output_tokens=2))
    proxy.send(request(talk(1)))
    text = proxy.send(None, "/metrics", "GET").body.decode()
    assert 'foldline_requests_total{outcome="unchanged"} 1\n' in text
    assert 'foldline_provider_tokens_total{kind="input"} 5\n' in text


@pytest.mark.parametrize(
    "address", ["", "ftp://x", "http://", "http://u:p@x", "http://x?key=1", "x.com", "http://x:y"]
)
def test_an_invalid_provider_address_is_rejected(address):
    with pytest.raises(InputError):
        resolve_upstream(address)


def test_providers_can_be_given_by_name():
    assert resolve_upstream("anthropic") == "https://api.anthropic.com"
    assert resolve_upstream("http://127.0.0.1:9/v1/") == "http://127.0.0.1:9/v1"


@pytest.mark.parametrize("host", ["bogus.invalid", "192.0.2.1", "a..b"])
def test_a_host_that_is_not_of_this_machine_is_reported_as_the_host(host):
    server = ProxyServer("anthropic", ProxyOptions(Config()), host=host, token="t")  # noqa: S106
    with pytest.raises(InputError, match="cannot listen") as caught:
        server.run(print)
    assert "--host" in caught.value.hint
    assert "--port" not in caught.value.hint


def test_a_port_in_use_is_reported(upstream):
    port = upstream.server_address[1]
    with pytest.raises(InputError, match="listen") as caught:
        ProxyServer("anthropic", ProxyOptions(Config()), port=port).run(print)
    assert "--port" in caught.value.hint
