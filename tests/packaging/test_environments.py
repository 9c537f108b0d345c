"""Every environment of the Makefile is made from a lock file."""

import subprocess

import pytest
from tests.packaging.installing import ROOT


@pytest.mark.parametrize(
    ("environment", "lock"),
    [(".venv-demo", "run"), (".venv-dev", "dev"), (".venv-docs", "docs")],
)
def test_an_environment_is_made_from_its_lock_file(environment, lock):
    planned = subprocess.run(
        ["make", "--dry-run", "--always-make", f"{environment}/.ready"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    ).stdout
    assert f"--require-hashes -r requirements/{lock}.lock" in planned
