"""A worker that hangs, dies or returns nonsense is one sentence, never the end of the bench."""

import os
import sys
import time

import pytest

import worker
from worker import Broken, Worker

ECHO = "import sys\nfor line in sys.stdin: sys.stdout.write(line); sys.stdout.flush()"


@pytest.fixture
def start():
    started = []

    def begin(code, **environ):
        started.append(Worker([sys.executable, "-c", code], environ))
        return started[-1]

    yield begin
    for each in started:
        each.close()


def test_a_request_of_any_size_is_echoed(start):
    request = {"text": "x" * 3_000_000, "again": ["y" * 100] * 10_000}
    assert start(ECHO).ask(request, 30) == request


def test_several_answers_at_once_are_read_one_by_one(start):
    worker = start('print(\'{"a": 1}\\n{"a": 2}\', flush=True)\ninput()')
    assert [worker.listen(20), worker.listen(20)] == [{"a": 1}, {"a": 2}]


def test_a_hanging_worker_is_given_up_at_its_deadline(start):
    began = time.monotonic()
    with pytest.raises(Broken, match=r"no answer within 0\.3 s"):
        start("import time; time.sleep(60)").ask({"text": "x" * 3_000_000}, 0.3)
    assert time.monotonic() - began < 20


def test_a_dying_worker_reports_its_last_line(start):
    dying = start("import sys; sys.stdin.readline(); sys.exit('no model file')")
    with pytest.raises(Broken, match="ended with status 1: no model file"):
        dying.ask({}, 20)


@pytest.mark.parametrize(
    ("said", "why"), [("hello", "not JSON"), ("[1]", "not a JSON object"), ("[" * 9_999, "JSON")]
)
def test_nonsense_is_named(start, said, why):
    with pytest.raises(Broken, match=why):
        start(f"print({said!r}, flush=True)\ninput()").listen(20)


def test_an_answer_without_end_is_cut_off(start, monkeypatch):
    monkeypatch.setattr(worker, "LARGEST_ANSWER", 1_000_000)
    with pytest.raises(Broken, match="larger than 1000000 bytes"):
        start("while True: print('x' * 65536, end='')").listen(60)


def test_a_worker_that_cannot_start_is_named(tmp_path):
    with pytest.raises(Broken, match="could not be started"):
        Worker([tmp_path / "python"], {})


def test_children_of_a_worker_end_with_it(start):
    code = (
        "import subprocess, sys, json\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(json.dumps({'pid': child.pid}), flush=True)\ninput()"
    )
    parent = start(code)
    child = parent.listen(20)["pid"]
    parent.close()
    until = time.monotonic() + 20
    while _runs(child):
        assert time.monotonic() < until, "the child outlived the worker"
        time.sleep(0.01)


def _runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123  # gone in between is an OSError too
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"


def test_a_worker_sees_no_key_and_reaches_no_network(start, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    code = "import json, os\nprint(json.dumps(dict(os.environ)), flush=True)\ninput()"
    seen = start(code, EXTRA="1").listen(20)
    assert "OPENAI_API_KEY" not in seen
    assert seen["EXTRA"] == "1"
    assert seen["https_proxy"] == seen["HTTP_PROXY"] == worker.NOWHERE
    assert not seen["HOME"].startswith(os.path.expanduser("~/"))  # noqa: PTH111  # the text
