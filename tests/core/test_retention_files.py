from pathlib import Path

import pytest

from foldline.core.config import Config
from foldline.core.retention_settings import FileSettings
from foldline.errors import BudgetError


@pytest.mark.requirement("C15")
def test_the_defaults_are_five_files_and_two_budgets_and_nothing_is_read_without_a_root():
    settings = FileSettings()
    assert (settings.count, settings.file_tokens, settings.total_tokens) == (5, 5_000, 50_000)
    assert not settings.is_on
    assert FileSettings(root=Path("x")).root == "x"
    assert FileSettings(root="x").is_on


@pytest.mark.parametrize("name", ["count", "file_tokens", "total_tokens"])
def test_a_limit_of_zero_disables_it_and_a_negative_one_is_an_error(name):
    assert not FileSettings(root="x", **{name: 0}).is_on
    for wrong in (-1, 1.5, True, "5"):
        with pytest.raises(BudgetError, match=f"files.{name}"):
            FileSettings(root="x", **{name: wrong})


@pytest.mark.parametrize(
    "wrong",
    [{"share": 1.5}, {"share": float("nan")}, {"root": ""}, {"root": 7}, {"reads": ("a", 1)}],
)
def test_invalid_settings_are_errors_at_construction(wrong):
    with pytest.raises(BudgetError, match="files"):
        FileSettings(**wrong)


def test_the_settings_are_a_part_of_the_configuration():
    config = Config().replace(files={"root": "src", "count": 2})
    assert config.files == FileSettings(root="src", count=2)
    assert Config.from_dict(config.to_dict()) == config
