"""The completions that a shell gets on Tab."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli.sample import foldline

from foldline.cli.main import SUMMARIES, cli
from foldline.core.config import POLICY_NAMES


def offered(*words: str) -> list[str]:
    """Request completions as the bash script does: the last word is the one being typed."""
    environment = {
        "_FOLDLINE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("foldline", *words)),
        "COMP_CWORD": str(len(words)),
    }
    ran = CliRunner().invoke(cli, env=environment, prog_name="foldline")
    assert ran.stderr == ""
    return [line.split(",", 1)[1] for line in ran.stdout.splitlines()]


def test_commands_are_completed() -> None:
    assert offered("") == list(SUMMARIES)
    assert offered("co") == [name for name in SUMMARIES if name.startswith("co")]
    assert "--help" in offered("no-such-command", "--he")


@pytest.mark.parametrize("command", ["compact", "scan", "bench"])
def test_policies_are_completed(command: str) -> None:
    assert offered(command, "--policy", "") == list(POLICY_NAMES)
    assert offered(command, "--policy", "keep-") == ["keep_recent"]


def test_options_formats_and_subcommands_are_completed() -> None:
    assert "--budget" in offered("compact", "--bu")
    assert "claude-code" in offered("stats", "--from", "cl")
    assert "search" in offered("note", "se")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_its_script(shell: str) -> None:
    script = foldline("completion", shell).stdout
    assert "_FOLDLINE_COMPLETE" in script
    told = json.loads(foldline("completion", shell, "--json").stdout)
    assert told["script"].rstrip() == script.rstrip()
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_bash_completes_a_policy_with_the_script(tmp_path: Path) -> None:
    place = tmp_path / "foldline"
    place.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m foldline "$@"\n')
    place.chmod(0o755)
    program = (
        'eval "$(foldline completion bash)"\n'
        "COMP_WORDS=(foldline scan --policy rou) COMP_CWORD=3\n"
        "_foldline_completion foldline\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    ran = subprocess.run(
        ["bash", "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert ran.stdout == "rounds\n", ran.stderr
