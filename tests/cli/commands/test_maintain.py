"""``foldline maintain``: reports without a model, answers with one, and a conversation."""

from __future__ import annotations

import json
import os
import pty
import select
import sys

import pytest
from click.testing import CliRunner
from tests.agents.maintainer.world import codebase
from tests.children import launch

from foldline.cli.main import cli
from foldline.testing import ScriptedServer
from foldline.testing.scripted import CallTool as Call
from foldline.testing.scripted import Status

pytestmark = pytest.mark.disk  # the codebase is the workspace of a terminal


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("MAINTAIN_MODEL", raising=False)
    return codebase(tmp_path)


def run(*words):
    return CliRunner().invoke(cli, ["maintain", *map(str, words)])


@pytest.mark.requirement("T15")
def test_without_a_model_the_report_is_counted(shop):
    done = run(shop, "--mode", "analyze")
    assert done.exit_code == 0
    assert "| total | app/orders.py:1 | 5 |" in done.stdout
    assert "A model would read the hot spots" in done.stdout


@pytest.mark.requirement("T15")
def test_json_is_one_object_with_answer_and_report(shop):
    told = json.loads(run(shop, "--json").stdout)
    assert told["schema"] == "foldline.maintain/1"
    assert told["answer"]["status"] == "without a model"
    assert told["report"]["survey"]["files"] == 6
    assert told["report"]["activity"]["notes_created"] == 0


def test_the_page_is_written_and_holds_no_script(shop, tmp_path):
    (shop / "<img src=x onerror=y>.py").write_text("# TODO <script>x</script>\n" * 30)
    done = run(shop, "--mode", "explore", "--page", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert done.exit_code == 0
    assert "&lt;img" in page
    assert "<script" not in page
    assert "<img" not in page
    assert "app/orders.py" in page


def test_mistakes_are_reported_in_a_sentence(shop, tmp_path):
    assert "--resume needs a --model" in run(shop, "--resume").stderr
    assert run(tmp_path / "nothing").exit_code == 2
    inside = run(shop, "--home", shop / "x")
    assert inside.exit_code == 3
    assert "is inside the codebase" in inside.stderr
    assert run(shop, "--page", tmp_path).exit_code == 2


@pytest.mark.requirement("T15", "E4.2")
def test_a_question_is_answered_and_a_broken_one_resumed(shop, monkeypatch):
    script = [Call("terminal", {"command": "ls"}), Status(401), "It is a shop.", "Here."]
    with ScriptedServer(script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        model = ("--model", "openai:scripted", "--window", 32_000)
        broken = run(shop, "What is it?", *model)
        assert broken.exit_code == 1
        resumed = run(shop, "--resume", *model)
        asked = run(shop, "Where are orders?", *model, "--quiet")
    assert "terminal" in broken.stderr
    assert "question has no answer" in resumed.stderr
    assert resumed.stdout == "It is a shop.\n"
    assert (asked.stdout, asked.stderr) == ("Here.\n", "")
    assert server.violations == () == server.errors


@pytest.mark.requirement("T15", "E3.2")
def test_a_conversation_has_modes_notes_history_and_approvals(shop, tmp_path):
    note = {"title": "Cents are lost", "content": "In total().", "source": "app/orders.py:2"}
    script = [
        Call("record", note),
        "Noted.",
        Call("terminal", {"command": "touch made"}),
        "Somebody said no.",
    ]
    with ScriptedServer(script) as server:
        lines = ["/mode plan", "What is wrong?", "/notes", "/nonsense", "Make a file.", "n"]
        said = talk(shop, server.openai_url, [*lines, "/check", "/quit"])
    assert "plan>" in said
    assert "Noted." in said
    assert "Cents are lost" in said
    assert "There is no command /nonsense" in said
    assert "An agent asks to run" in said
    assert "Somebody said no." in said
    assert "All still true." in said
    assert not (shop / "made").exists()
    history = next((tmp_path / "data/maintainer").glob("*/history")).read_text()
    assert "What is wrong?" in history
    assert server.violations == () == server.errors


def talk(shop, url, lines):
    """Run a conversation on a new terminal, and return its output."""
    ours, theirs = pty.openpty()
    environ = os.environ | {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "any", "TERM": "dumb"}
    words = [sys.executable, "-m", "foldline", "maintain", str(shop)]
    words += ["--model", "openai:scripted", "--window", "32000"]
    try:
        with launch(words, stdin=theirs, stdout=theirs, stderr=theirs, env=environ) as child:
            os.close(theirs)
            shown, waits = b"", [*[b"> "] * 5, b"no: ", b"> ", b"> "]
            for line, wait in zip(lines, waits, strict=True):
                shown += read(ours, wait)
                os.write(ours, f"{line}\n".encode())
            shown += read(ours, None)
            assert child.wait(60) == 0
    finally:
        os.close(ours)
    return shown.decode("utf-8", "replace")


def read(number, wait):
    """Return the output up to some words, or up to the end if they are None."""
    shown, data = b"", b"-"
    while data and (wait is None or wait not in shown):
        ready = select.select([number], [], [], 60)[0]
        assert ready, f"{wait!r} was not shown within a minute, but: {shown!r}"
        try:
            data = os.read(number, 65_536)
        except OSError:  # the other end is closed
            data = b""
        shown += data
    assert wait is None or wait in shown, f"it ended before it had shown {wait!r}: {shown!r}"
    return shown


def test_a_question_without_a_model_gives_a_note(shop):
    done = run(shop, "Where are orders priced?")
    assert done.exit_code == 0
    assert "Answering a question needs a --model." in done.stderr
    assert "--model" not in run(shop).stderr
