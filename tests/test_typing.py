"""The types that a type checker infers for users of Foldline."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
from collections.abc import Mapping
from typing import Any, assert_type
import foldline

class Message:
    role: str

def own(messages: list[Message], body: dict[str, Any]) -> None:
    assert_type(foldline.compact(messages, budget="10%").messages, list[Message])
    assert_type(foldline.compact(body, window=8_000).messages, dict[str, Any])
    assert_type(foldline.compact([{"role": "user"}], budget=8).messages, list[dict[str, str]])
"""


def test_compacted_messages_have_the_type_of_the_input(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(file)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
