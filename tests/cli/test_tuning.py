from __future__ import annotations

import pytest
from tests.cli.sample import conversation

from foldline.cli.tuning import pinned, tuned_policy
from foldline.core.errors import BudgetError, InputError
from foldline.formats.registry import dialect
from foldline.strategies.presets import POLICIES, policy


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
