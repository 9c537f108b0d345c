"""The example of an agent with tools, as a user runs it."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "tools_loop.py"


def test_the_example_compacts_on_request_and_keeps_the_file_the_plan_and_the_answer():
    ran = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    shown = ran.stdout.partition("user: ")[2]
    assert "Move the server to the right port." in shown
    assert "[in_progress] Move the server to it" in shown
    assert 'File "server.toml" (whole' in shown
    assert "port = 48113" in shown
    assert "tool: Compacted before you read this: " in shown
