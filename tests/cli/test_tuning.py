from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.sample import conversation, foldline, write_conversation

from foldline.cli.tuning import parted, pinned, tuned_policy
from foldline.core.config import Config
from foldline.core.settings_codec import leaves
from foldline.engine.policies import POLICIES, policy
from foldline.errors import BudgetError, InputError
from foldline.formats.registry import dialect


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_is_made_by_name(name: str) -> None:
    assert tuned_policy(name, ()) == policy(name)
    assert tuned_policy(name.replace("_", "-"), ()) == policy(name)


def test_settings_are_read_as_what_they_are() -> None:
    assert tuned_policy("default", ["keep=7", "tail=.2"]) == policy("default", keep=7, tail=0.2)
    assert tuned_policy("clear", ["only=bash, read"]) == policy("clear", only=("bash", "read"))


@pytest.mark.parametrize(
    "setting", ["keep=1.5", "keep=-1", "keep=", "tail=nan", "tail=inf", "x=1"]
)
def test_a_setting_that_makes_no_sense_is_refused(setting: str) -> None:
    with pytest.raises(BudgetError):
        tuned_policy("default", [setting])


def test_messages_are_pinned_by_position_from_the_end_and_by_handle() -> None:
    there = dialect("openai-chat").decode(conversation(3))
    size = len(there.messages)
    marked = pinned(there, ["2", "-1", there.messages[4].id[:8].upper()], keep=2).messages
    assert [i for i, m in enumerate(marked) if m.pinned] == [2, 4, size - 2, size - 1]


@pytest.mark.parametrize("pin", ["99", "-99", "abc", "", "ffffffffffff", "1.5"])
def test_a_pin_that_names_no_message_is_refused(pin: str) -> None:
    with pytest.raises(InputError, match="no message"):
        pinned(dialect("openai-chat").decode(conversation(3)), [pin], 0)


def test_every_setting_that_config_prints_is_one_that_set_takes() -> None:
    for leaf in leaves(Config):
        value = leaf.default if leaf.default is not None else ""
        words = ",".join(value) if isinstance(value, tuple) else str(value)
        changes, rest = parted([f"{leaf.key}={words}"])
        assert (list(changes), rest) == ([leaf.key], ())


def test_a_setting_of_the_configuration_holds_for_the_policy_that_is_named(tmp_path: Path) -> None:
    file = write_conversation(tmp_path / "session.json")
    words = ("compact", file, "--window", "9k", "--no-archive", "-q", "--json")
    clear = (*words, "--policy", "clear", "--set", "clearing.gain_tokens=1")
    free, guarded = foldline(*clear), foldline(*clear, "--set", "clearing.never=read_file")
    assert "clear" in json.loads(free.stdout)["receipt"]["reason"]
    assert "clear" not in json.loads(guarded.stdout)["receipt"]["reason"]


@pytest.mark.parametrize("setting", ["clearing.kep=1", "clearing=1", "a.b.c=1"])
def test_a_setting_that_does_not_exist_names_the_one_that_was_meant(setting: str) -> None:
    done = foldline("compact", "-", "--budget", "1k", "--set", setting)
    assert done.exit_code == 2
    assert "Did you mean 'clearing.keep'?" in done.stderr or "setting" in done.stderr
