from __future__ import annotations

import re
from pathlib import Path

import pytest

import foldline
from foldline.core.config import Config
from foldline.core.settings_codec import leaves
from foldline.errors import BudgetError
from foldline.settings import load
from foldline.settings.environment import NO_SETTINGS, said_in_environment, variable


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("no", "enabled", False),
        ("TRUE", "enabled", True),
        ("0.25", "thresholds.target", 0.25),
        ("12", "clearing.keep", 12),
        ("none", "room.window", None),
        ("", "limits.usd", None),
        ("a, b,,c", "clearing.never", ("a", "b", "c")),
        ("salient", "outputs.style", "salient"),
    ],
)
def test_a_text_is_read_as_what_its_setting_is(text: str, name: str, value: object) -> None:
    assert dict(said_in_environment({variable(name): text})) == {name: value}


@pytest.mark.parametrize("name", ["thresholds.target", "clearing.keep", "enabled"])
def test_what_is_something_else_is_an_error_that_does_not_repeat_it(name: str) -> None:
    with pytest.raises(BudgetError, match=variable(name)) as caught:
        list(said_in_environment({variable(name): "sk-ant-secret-0123456789"}))
    assert "secret" not in str(caught.value)


def test_every_setting_has_a_variable_and_other_variables_are_no_settings() -> None:
    names = {variable(leaf.key) for leaf in leaves(Config)}
    assert len(names) == len(list(leaves(Config)))
    assert names.isdisjoint(NO_SETTINGS)
    assert load(environ=dict.fromkeys(NO_SETTINGS, "/nowhere")).config == Config()


def test_every_other_variable_that_the_package_reads_is_known_to_be_no_setting() -> None:
    source = Path(foldline.__file__).parent.rglob("*.py")
    variable = re.compile(r'"(FOLDLINE_[A-Z_]+[A-Z])"')
    read = {name for file in source for name in variable.findall(file.read_text())}
    assert read == set(NO_SETTINGS)


def test_an_unknown_variable_of_ours_is_an_error_that_names_it_by_its_key() -> None:
    with pytest.raises(BudgetError, match=r"'thresholds\.acts_at', in environment.*act_at"):
        load(environ={"FOLDLINE_HOME": "/nowhere", "FOLDLINE_THRESHOLDS__ACTS_AT": "0.7"})
