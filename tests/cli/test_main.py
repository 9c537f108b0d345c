from __future__ import annotations

import subprocess
import sys

import pytest
from tests.cli.sample import foldline

import foldline as package
from foldline.cli.main import SUMMARIES, cli


def test_the_version_is_that_of_the_package() -> None:
    assert foldline("--version").stdout == f"foldline {package.__version__}\n"


def test_the_version_is_printed_without_loading_any_command() -> None:
    code = (
        "import sys\nfrom foldline.cli.main import cli\n"
        "try: cli(['--version'])\nexcept SystemExit: pass\n"
        "print(sorted({'rich', 'sqlite3', 'regex', 'platformdirs'} & set(sys.modules)),"
        " [n for n in sys.modules if n.startswith(('foldline.api', 'foldline.formats'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[] []"


def test_commands_are_listed_without_loading_any() -> None:
    code = (
        "import sys\nfrom foldline.cli.main import cli\n"
        "try: cli(['--help'])\nexcept SystemExit: pass\n"
        "print([n for n in sys.modules if n in ('foldline.cli.commands.compact', 'rich')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_lists_every_command_and_every_exit_code() -> None:
    shown = foldline("--help").stdout
    assert all(name in shown for name in SUMMARIES)
    assert "4 cannot fit" in " ".join(shown.split())


SERVING = {"serve", "wrap", "mcp"}
"""Commands that print an address, another program's output, or a protocol."""


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_command_has_help_with_examples_json_and_quiet(name: str) -> None:
    done = foldline(name, "--help")
    assert done.exit_code == 0
    assert f"foldline {name}" in done.stdout.split("Examples:")[1]
    command = cli.get_command(None, name)  # type: ignore[arg-type]
    for words in [(name, one) for one in getattr(command, "commands", ())] or [(name,)]:
        shown = foldline(*words, "--help").stdout
        if name in SERVING:
            continue
        assert "--json" in shown, words
        assert "--quiet" in shown, words
    assert cli.get_command(None, name).name == name  # type: ignore[arg-type, union-attr]


def test_a_mistyped_command_suggests_the_nearest_one() -> None:
    done = foldline("stat")
    assert done.exit_code == 2
    assert done.stderr == (
        "foldline: There is no command 'stat'. Did you mean 'stats'? Try 'foldline --help'.\n"
    )


def test_no_command_at_all_shows_the_help() -> None:
    done = foldline()
    assert "Commands:" in done.output
    assert "foldline: " not in done.output
    assert done.exit_code in (0, 2)  # as the version of click has it


def test_a_mistyped_option_is_a_usage_error_in_one_line() -> None:
    done = foldline("stats", "--tpo", "3", "x")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "--tpo" in done.stderr
