"""A conversation to try the command line on, and two ways to run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from tests.children import launch

from foldline.cli.main import cli

PLANTED = "the deploy key is named heron-48113"


def conversation(steps: int = 12) -> list[dict[str, Any]]:
    """A task, then file reads with long results; the first one names something to recall."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a careful agent."},
        {"role": "user", "content": "Find out why the build of src/app.py fails."},
    ]
    for step in range(steps):
        path = f"src/file_{step % 9}.py"
        lines = [f"value_{step}_{row} = compute({row}, {step})" for row in range(60)]
        lines.insert(30, f"# {PLANTED}" if step == 0 else f"# step {step}")
        messages += [
            {
                "role": "assistant",
                "content": f"I read {path}.",
                "tool_calls": [
                    {
                        "id": f"call_{step}",
                        "type": "function",
                        "function": {"name": "read_file", "arguments": json.dumps({"path": path})},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": f"call_{step}", "content": "\n".join(lines)},
        ]
    return [*messages, {"role": "assistant", "content": "The import of app is missing."}]


def write_conversation(path: Path, steps: int = 12) -> Path:
    """Write the conversation as JSON."""
    path.write_text(json.dumps(conversation(steps), indent=1))
    return path


def foldline(*words: object, stdin: bytes | None = None) -> Result:
    """Run a command in this process; stdout and stderr are apart."""
    return CliRunner().invoke(cli, [str(word) for word in words], input=stdin)


def start(*words: object, **settings: Any) -> subprocess.Popen[bytes]:
    """Start a command in a separate process."""
    command = [sys.executable, "-m", "foldline", *map(str, words)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = {key: value for key, value in os.environ.items() if key != "FORCE_COLOR"}
    return launch(command, **{"env": environment, **pipes, **settings})
