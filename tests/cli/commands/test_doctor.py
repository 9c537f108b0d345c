from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.sample import foldline

from foldline.stores.migrations import MIGRATIONS


def checks(*words: object) -> dict[str, dict[str, str]]:
    told = json.loads(foldline("doctor", "--json", *words).stdout)
    assert told["schema"] == "foldline.doctor/1"
    return {check["name"]: check for check in told["checks"]}


def test_a_working_installation_is_healthy() -> None:
    done = foldline("doctor")
    assert done.exit_code == 0
    assert "none yet" in done.stdout
    assert checks()["counter"]["health"] == "ok"


def test_keys_are_named_but_never_printed(monkeypatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "FOLDLINE_MODELS"):
        monkeypatch.delenv(name, raising=False)
    assert "no key is set" in checks()["models"]["words"]
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    told = checks()["models"]
    assert "OPENAI_API_KEY" in told["words"]
    assert "ANTHROPIC_API_KEY" not in told["words"]
    assert "sk-0123456789" not in foldline("doctor", "--json").stdout


def test_a_file_of_models_that_cannot_be_read_is_a_problem(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FOLDLINE_MODELS", str(tmp_path / "nowhere.json"))
    told = checks()["models"]
    assert (told["health"], "nowhere.json" in told["words"]) == ("problem", True)


def test_the_archive_is_described(session: Path) -> None:
    foldline("compact", session, "--budget", "1500")
    words = checks()["archive"]["words"]
    assert "1 session" in words
    assert f"schema {len(MIGRATIONS)}" in words


def test_a_damaged_archive_is_a_problem(tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_text("this is no database, and never was one" * 100)
    assert foldline("doctor", "--archive", broken).exit_code == 1
    assert checks("--archive", broken)["archive"]["health"] == "problem"
    assert broken.read_text().startswith("this is no database")


def test_folders_of_agents_are_found(home: Path) -> None:
    (home / ".codex" / "sessions").mkdir(parents=True)
    assert "0 session files" in checks()["codex"]["words"]


def test_integrations_are_tried_and_named() -> None:
    found = checks()
    for name in ("langchain", "openai-agents", "pydantic-ai", "openai", "anthropic"):
        assert found[f"for {name}"]["health"] == "ok"
    assert "FoldlineMiddleware" in found["for langchain"]["words"]


def test_an_incompatible_framework_is_a_problem_and_a_missing_one_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "foldline.cli.commands.doctor.INTEGRATIONS",
        (
            ("langchain", "click", "no_such_adapter", ""),
            ("pydantic-ai", "no-such-package", "pydantic_ai", ""),
        ),
    )
    found = checks()
    assert found["for langchain"]["health"] == "problem"
    assert found["for pydantic-ai"]["health"] == "note"
    assert "pip install 'foldline[pydantic-ai]'" in found["for pydantic-ai"]["words"]


def test_the_first_line_is_a_check() -> None:
    assert "foldline" in foldline("doctor").stdout.splitlines()[0]
