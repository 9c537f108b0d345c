from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests.cli.sample import foldline

from foldline.cli import options
from foldline.cli.output import Output


def test_a_command_receives_its_output_and_keeps_its_other_options() -> None:
    received: dict[str, object] = {}

    @click.command()
    @click.option("--other", type=int)
    @options.output
    def command(**given: object) -> None:
        received.update(given)

    CliRunner().invoke(command, ["--other", "1", "--json", "-q"])
    assert received == {"other": 1, "output": Output(json=True, quiet=True)}


@pytest.mark.parametrize(
    ("group", "makes", "shows"),
    [
        ("memory", ("add", "Tea is served at four"), "list"),
        ("kb", ("add", "-", "--name", "Tea"), "ls"),
    ],
)
def test_the_place_is_named_before_or_after_the_subcommand(
    tmp_path: Path, group: str, makes: tuple[str, ...], shows: str
) -> None:
    file = tmp_path / "kept.db"
    text = b"Tea is served at four."
    assert foldline(group, "--file", file, *makes, stdin=text).exit_code == 0
    for words in (("--file", file, shows), (shows, "--file", file)):
        assert "Tea" in foldline(group, *words).stdout
    assert foldline(group, "--file", file, shows, "--file", tmp_path / "no.db").exit_code == 5


@pytest.mark.parametrize(
    ("group", "makes", "option", "erases"),
    [
        ("memory", ("add", "Tea is served at four"), "--user", ("clear", "--yes")),
        ("kb", ("add", "-", "--name", "Tea"), "--namespace", ("rm", "Tea")),
    ],
)
def test_an_empty_name_is_refused_and_never_means_another_owner(
    group: str, makes: tuple[str, ...], option: str, erases: tuple[str, ...]
) -> None:
    assert foldline(group, *makes, stdin=b"Tea is served at four.").exit_code == 0
    refused = foldline(group, *erases, option, "")
    assert refused.exit_code == 3
    assert "'' is not a name" in refused.stderr
    shows = "list" if group == "memory" else "ls"
    assert "Tea" in foldline(group, shows).stdout


@pytest.mark.parametrize("words", [("stats", "a", "b"), ("note", "task"), ("compact", "--budget")])
def test_a_usage_error_is_one_closed_line(words: tuple[str, ...]) -> None:
    told = foldline(*words).stderr
    assert told.count("\n") == 1
    assert ". Try 'foldline" in told or ") Try 'foldline" in told
