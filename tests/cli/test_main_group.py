from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from foldline.cli.main import SUMMARIES, cli


def test_commands_are_listed_in_the_order_of_the_help() -> None:
    context = click.Context(cli)
    assert cli.list_commands(context) == list(SUMMARIES)
    assert cli.get_command(context, "nothing") is None


@pytest.mark.parametrize("name", ["os", "../main", "main", "exits"])
def test_no_other_module_is_a_command(name: str) -> None:
    done = CliRunner().invoke(cli, [name])
    assert done.exit_code == 2
    assert "There is no command" in done.stderr


@pytest.mark.parametrize(
    ("words", "called"),
    [
        (["compact", "x.json", "--budget"], "foldline compact"),
        (["kb", "add", "x.md", "--name"], "foldline kb add"),
        (["kb", "--file"], "foldline kb"),
        (["--color"], "foldline"),
    ],
)
def test_an_option_without_its_value_points_at_the_help_of_its_command(
    words: list[str], called: str
) -> None:
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 2
    assert f"Try '{called} --help'." in done.stderr
