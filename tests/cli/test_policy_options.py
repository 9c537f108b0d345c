from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.sample import conversation, foldline, write_conversation

from foldline.cli.policy_options import build_policy, pin_messages, split_settings
from foldline.core.config import Config
from foldline.core.settings_codec import leaves
from foldline.engine.policies import POLICIES, policy
from foldline.errors import BudgetError, InputError
from foldline.formats.registry import dialect
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
def test_a_named_model_writes_the_account_with_the_given_focus(session, served):
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


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_is_made_by_name(name: str) -> None:
    assert build_policy(name, ()) == policy(name)
    assert build_policy(name.replace("_", "-"), ()) == policy(name)


def test_settings_are_parsed_by_their_type() -> None:
    assert build_policy("default", ["keep=7", "tail=.2"]) == policy("default", keep=7, tail=0.2)
    assert build_policy("clear", ["only=bash, read"]) == policy("clear", only=("bash", "read"))


@pytest.mark.parametrize(
    "setting", ["keep=1.5", "keep=-1", "keep=", "tail=nan", "tail=inf", "x=1"]
)
def test_an_invalid_setting_is_refused(setting: str) -> None:
    with pytest.raises(BudgetError):
        build_policy("default", [setting])


def test_messages_are_pinned_by_position_from_the_end_and_by_handle() -> None:
    there = dialect("openai-chat").decode(conversation(3))
    size = len(there.messages)
    marked = pin_messages(there, ["2", "-1", there.messages[4].id[:8].upper()], keep=2).messages
    assert [i for i, m in enumerate(marked) if m.pinned] == [2, 4, size - 2, size - 1]


@pytest.mark.parametrize("pin", ["99", "-99", "abc", "", "ffffffffffff", "1.5"])
def test_a_pin_that_names_no_message_is_refused(pin: str) -> None:
    with pytest.raises(InputError, match="no message"):
        pin_messages(dialect("openai-chat").decode(conversation(3)), [pin], 0)


def test_every_setting_that_config_prints_is_one_that_set_takes() -> None:
    for leaf in leaves(Config):
        value = leaf.default if leaf.default is not None else ""
        words = ",".join(value) if isinstance(value, tuple) else str(value)
        changes, rest = split_settings([f"{leaf.key}={words}"])
        assert (list(changes), rest) == ([leaf.key], ())


def test_a_setting_of_the_configuration_applies_to_the_named_policy(tmp_path: Path) -> None:
    file = write_conversation(tmp_path / "session.json")
    words = ("compact", file, "--window", "9k", "--no-archive", "-q", "--json")
    clear = (*words, "--policy", "clear", "--set", "clearing.gain_tokens=1")
    free, guarded = foldline(*clear), foldline(*clear, "--set", "clearing.never=read_file")
    assert "clear" in json.loads(free.stdout)["receipt"]["reason"]
    assert "clear" not in json.loads(guarded.stdout)["receipt"]["reason"]


@pytest.mark.parametrize("setting", ["clearing.kep=1", "clearing=1", "a.b.c=1"])
def test_an_unknown_setting_suggests_the_nearest_one(setting: str) -> None:
    done = foldline("compact", "-", "--budget", "1k", "--set", setting)
    assert done.exit_code == 2
    assert "Did you mean 'clearing.keep'?" in done.stderr or "setting" in done.stderr
