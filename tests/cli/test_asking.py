from __future__ import annotations

import json

import pytest
from tests.cli.sample import foldline

from foldline.testing import ScriptedServer
from foldline.testing.scripted import Status

ACCOUNT = "The exporter drops rows when the batch is empty. Next: write the test."


@pytest.fixture
def served(monkeypatch):
    def serve(*steps, default=None):
        server = ScriptedServer(steps, default=default)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-not-shown")
        return server

    return serve


def compacted(session, *words):
    done = foldline(
        "compact", session, "--budget", "1500", "--no-archive",
        "--summarizer", "anthropic:claude-haiku-4-5", *words,
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "sk-not-shown" not in done.stdout + done.stderr
    return done


@pytest.mark.requirement("K19", "K42")
def test_a_model_that_is_named_writes_the_account_about_what_is_asked_for(session, served):
    with served(ACCOUNT) as server:
        done = compacted(session, "--focus", "the empty batch")
    assert ACCOUNT in json.dumps(json.loads(done.stdout), ensure_ascii=False)
    assert "the empty batch" in server.requests[0].text
    assert "asked: claude-haiku-4-5: 1 request" in done.stderr.replace("anthropic:", "")


@pytest.mark.requirement("F45")
def test_a_template_may_be_a_file(session, served, tmp_path):
    mine = tmp_path / "handover"
    mine.write_text("List what {nobody} knows.", encoding="utf-8")
    with served(ACCOUNT) as server:
        done = compacted(session, "--template", str(mine))
    assert ACCOUNT in json.dumps(json.loads(done.stdout), ensure_ascii=False)
    assert "List what {nobody} knows." in server.requests[0].text


def test_a_template_that_is_neither_a_name_nor_a_file_is_a_usage_error(session):
    done = foldline("compact", session, "--budget", "1500", "--template", "acount")
    assert done.exit_code == 2
    assert "neither a file nor one of account, state_snapshot" in " ".join(done.stderr.split())


@pytest.mark.requirement("F62", "K42")
def test_a_model_that_fails_is_named_as_the_reason_for_the_fallback(session, served):
    with served(default=Status(500, again=False)):
        done = compacted(session)
    assert "summarize (fallback)" in done.stderr
    assert "summarize, without a model:" in done.stderr


@pytest.mark.requirement("K37")
def test_more_money_than_allowed_is_not_spent(session, served):
    with served(ACCOUNT) as server:
        done = compacted(session, "--max-usd", "0.000001")
    assert server.requests == ()
    assert "US dollars" in done.stderr
