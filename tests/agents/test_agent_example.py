"""The example of an agent, as a user runs it."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "agent_loop.py"


def test_the_example_is_interrupted_resumed_and_changes_the_file_once():
    ran = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    before, _, after = ran.stdout.partition("-- the program is stopped --\n")
    assert "delegate: [The sub-agent ended with the status 'done', 2 steps.]" in before
    assert "this changed: server.toml (changed) --" in after
    assert "done (6 steps" in after
    assert ran.stdout.endswith('host = "0.0.0.0"\nport = 48113\n')
