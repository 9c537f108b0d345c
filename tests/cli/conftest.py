from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.sample import write_conversation


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An isolated machine: no agent folders, no archive, no settings."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "kept"))
    for name in (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "PI_CODING_AGENT_DIR",
        "GEMINI_CLI_HOME",
        "FOLDLINE_DEBUG",
        "FORCE_COLOR",
    ):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write_conversation(tmp_path / "session.json")
