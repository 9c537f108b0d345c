"""``foldline serve`` reports missing options before anything is bound or written."""

import pytest
from click.testing import CliRunner

from foldline.cli.main import cli


def run(*words):
    return CliRunner().invoke(cli, ["serve", *words])


def test_help_needs_no_server():
    found = run("--help")
    assert found.exit_code == 0
    assert "--upstream" in found.output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "--upstream"),
        (("--upstream", "anthropic", "--port", "99999"), "99999"),
        (("--upstream", "anthropic", "--window", "3"), "3"),
        (("--upstream", "anthropic", "--summarizer", "big"), "big"),
        (("--upstream", "anthropic", "--keep", "for ever"), "for ever"),
    ],
)
def test_impossible_options_are_a_matter_of_usage(words, told):
    found = run(*words)
    assert found.exit_code == 2
    assert told in found.output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--upstream", "no address"), "address"),
        (("--upstream", "anthropic", "--host", "0.0.0.0"), "--token"),  # noqa: S104
        (("--upstream", "anthropic", "--policy", "magic", "--dry-run"), "magic"),
    ],
)
def test_an_impossible_server_is_reported_at_once(words, told):
    found = run(*words)
    assert found.exit_code in (2, 3)
    assert told in found.output


def test_a_server_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr("foldline.cli.commands.serve.find_spec", lambda _: None)
    found = run("--upstream", "anthropic")
    assert "foldline[serve]" in found.output
