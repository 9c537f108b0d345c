from __future__ import annotations

import json
from pathlib import Path

from tests.cli.sample import foldline


def checks(*words: object) -> dict[str, dict[str, str]]:
    told = json.loads(foldline("doctor", "--json", *words).stdout)
    assert told["schema"] == "foldline.doctor/1"
    return {check["name"]: check for check in told["checks"]}


def test_a_working_installation_is_healthy() -> None:
    done = foldline("doctor")
    assert done.exit_code == 0
    assert "none yet" in done.stdout
    assert checks()["counter"]["health"] == "ok"


def test_the_archive_is_described(session: Path) -> None:
    foldline("compact", session, "--budget", "1500")
    words = checks()["archive"]["words"]
    assert "1 session" in words
    assert "schema 1" in words


def test_a_damaged_archive_is_a_problem(tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_text("this is no database, and never was one" * 100)
    assert foldline("doctor", "--archive", broken).exit_code == 1
    assert checks("--archive", broken)["archive"]["health"] == "problem"
    assert broken.read_text().startswith("this is no database")


def test_folders_of_agents_are_found(home: Path) -> None:
    (home / ".codex" / "sessions").mkdir(parents=True)
    assert "0 session files" in checks()["codex"]["words"]
