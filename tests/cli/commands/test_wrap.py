"""`foldline wrap` with programs that stand for the clients; the real ones are in tests/clients."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.sample import foldline, start

from foldline.cli.commands.wrap import savings_sentence
from foldline.settings.sources import data_folder
from foldline.testing import ScriptedServer

CLIENT = """#!{python}
import json, os, signal, sys
from http.client import HTTPConnection
from urllib.parse import urlsplit

place = urlsplit(os.environ["ANTHROPIC_BASE_URL"])
config = json.loads(next(a for a in sys.argv if a.startswith("--mcp-config=")).split("=", 1)[1])
message = {{"role": "user", "content": sys.argv[-1]}}
body = {{"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [message]}}
connection = HTTPConnection(place.hostname, place.port, timeout=60)
connection.request("POST", "/v1/messages", json.dumps(body), {{"x-api-key": "sk-ant-made-up"}})
print(json.loads(connection.getresponse().read())["content"][0]["text"], flush=True)
print(os.environ["ANTHROPIC_BASE_URL"], flush=True)
print(" ".join(config["mcpServers"]["foldline"]["args"]), flush=True)
print(" ".join(sys.argv[2:]), flush=True)
{ending}
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch):
    with ScriptedServer(default="from the provider") as made:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", made.url)
        yield made


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    program = folder / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(CLIENT.format(python=sys.executable, ending=ending))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


def listens(address: str) -> bool:
    import httpx2

    try:
        return httpx2.get(f"{address}/healthz", timeout=5).status_code == 200
    except httpx2.ConnectError:
        return False


def test_the_client_runs_through_the_proxy_which_ends_with_it(tmp_path, monkeypatch, server):
    install(tmp_path, monkeypatch, "sys.exit(7)")
    out, told = start("wrap", "claude", "--", "-p", "hello").communicate(timeout=120)
    said, address, arguments, rest = out.decode().splitlines()

    assert said == "from the provider"
    assert address.startswith("http://127.0.0.1:")
    assert address != server.url
    assert rest == "-p hello"
    assert f"mcp --archive {data_folder() / 'archive.db'}" in arguments
    assert "1 requests, 0 compactions" in told.decode()
    assert not listens(address)
    assert len(server.requests) == 1


def test_the_exit_code_is_the_clients(tmp_path, monkeypatch, server):
    install(tmp_path, monkeypatch, "sys.exit(7)")
    ran = start("wrap", "-q", "claude", "--", "x")
    assert ran.communicate(timeout=120)[1] == b""
    assert ran.returncode == 7


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_reaches_the_client_and_sets_the_exit_code(tmp_path, monkeypatch, server, number):
    ending = (
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(42)); print('ready', flush=True)\n"
        "for one in (signal.SIGHUP, signal.SIGINT): signal.signal(one, signal.SIG_DFL)\n"
        "print('set', flush=True)\nwhile True: signal.pause()"
    )
    install(tmp_path, monkeypatch, ending)
    ran = start("wrap", "claude", "--", "x", start_new_session=True)
    assert ran.stdout is not None
    lines = [ran.stdout.readline() for _ in range(6)]
    assert lines[-1] == b"set\n"
    ran.send_signal(number)
    told = ran.communicate(timeout=120)[1]

    assert ran.returncode == (42 if number == signal.SIGTERM else 128 + number)
    assert b"1 requests" in told
    assert not listens(lines[1].decode().strip())


def test_a_dying_proxy_is_reported(tmp_path, monkeypatch, server):
    ending = (
        "for one in filter(str.isdigit, os.listdir('/proc')):\n"
        "    words = open(f'/proc/{one}/cmdline', 'rb').read().split(b'\\0')\n"
        f"    if b'serve' in words and {server.url.encode()!r} in words: os.kill(int(one), 9)"
    )
    install(tmp_path, monkeypatch, ending)
    told = start("wrap", "claude", "--", "x").communicate(timeout=120)[1]
    assert b"the proxy ended before the agent did" in told


def test_stored_files_are_private_and_hold_no_key(tmp_path, monkeypatch, server):
    install(tmp_path, monkeypatch, "")
    start("wrap", "claude", "--", "x").communicate(timeout=120)
    kept = list(data_folder().iterdir())
    assert {"archive.db", "proxy.log"} <= {one.name for one in kept}
    for one in kept:
        assert stat.S_IMODE(one.stat().st_mode) == 0o600
        assert b"sk-ant-made-up" not in one.read_bytes()


def test_a_missing_client_is_reported_before_anything_starts(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = foldline("wrap", "opencode")
    assert done.exit_code == 3
    assert "npm install -g opencode-ai" in done.stderr
    assert not data_folder().exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("wrap", "nobody"), 2),
        (("wrap", "claude", "--upstream", "nope"), 3),
        (("wrap", "opencode", "--upstream", "http://h/v1"), 2),
        (("wrap", "codex", "--upstream", "http://a/v1", "--upstream", "http://b/v1"), 2),
    ],
)
def test_a_wrong_command_line_is_explained(words, code):
    assert foldline(*words).exit_code == code


def test_the_settings_are_shown_and_nothing_is_run():
    done = foldline("wrap", "--print", "claude", "--upstream", "https://gateway.example/a")
    assert done.exit_code == 0
    assert "foldline serve --upstream https://gateway.example --port 8080 &" in done.stdout
    assert "ANTHROPIC_BASE_URL=http://127.0.0.1:8080/a claude" in done.stdout
    assert not data_folder().exists()
    assert subprocess.run(["bash", "-n", "-c", done.stdout], check=False).returncode == 0


ONE = {
    "requests": 40, "compactions": 2, "failed_open": 0,
    "tokens_before": 1_000, "tokens_saved": 250,
    "usage": {"input": 100, "output": 9, "cache_read": 850, "cache_write": 50},
}  # fmt: skip


def test_savings_are_one_sentence_over_all_proxies():
    assert savings_sentence([ONE, ONE]) == (
        "Foldline: 80 requests, 4 compactions; 500 of 2,000 tokens of input were not sent (25%); "
        "the provider read 85% of its input from its cache."
    )


def test_failed_requests_are_reported():
    assert "3 requests were forwarded unchanged" in savings_sentence([ONE | {"failed_open": 3}])


def test_without_traffic_there_is_no_savings_sentence():
    assert savings_sentence([{}]) == savings_sentence([]) == ""
    assert "%" not in savings_sentence([{"requests": 1}])
