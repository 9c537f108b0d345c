from __future__ import annotations

import subprocess
import sys

import foldline


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "foldline", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, f"foldline {foldline.__version__}\n")
    assert done.stderr == ""
