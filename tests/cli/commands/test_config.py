from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.sample import foldline, write_conversation

from foldline import Config
from foldline.core.settings_codec import leaves


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.requirement("C22")
def test_every_setting_is_shown_with_its_value_and_origin(project: Path, monkeypatch) -> None:
    (project / "foldline.toml").write_text("[clearing]\nkeep = 7\n", encoding="utf-8")
    monkeypatch.setenv("FOLDLINE_ENABLED", "false")
    told = json.loads(foldline("config", "show", "--json").stdout)
    assert told["schema"] == "foldline.config/1"
    rows = {row["key"]: (row["value"], row["origin"]) for row in told["settings"]}
    assert list(rows) == [leaf.key for leaf in leaves(Config)]
    assert rows["clearing.keep"] == (7, str(project / "foldline.toml"))
    assert rows["enabled"] == (False, "FOLDLINE_ENABLED")
    assert rows["thresholds.act_at"] == (0.8, "default")
    shown = foldline("config").stdout
    assert all(key in shown for key in rows)


def test_only_changed_settings_are_shown(project: Path) -> None:
    done = foldline("config", "show", "--changed")
    assert (done.stdout, done.stderr) == ("", "Every setting has its default value.\n")
    (project / "foldline.toml").write_text("scenario = 'support'\n", encoding="utf-8")
    assert "scenario support" in foldline("config", "--changed").stdout


def test_a_mistake_is_named_with_its_place(project: Path) -> None:
    (project / "foldline.toml").write_text("[clearing]\nkep = 7\n", encoding="utf-8")
    done = foldline("config", "show")
    assert done.exit_code == 2
    assert "'clearing.kep'" in done.stderr
    assert "Did you mean 'clearing.keep'?" in done.stderr


def test_a_setting_cannot_control_the_terminal(project: Path, monkeypatch) -> None:
    monkeypatch.setenv("FOLDLINE_SUMMARIZER", "\x1b[2Jx")
    done = foldline("config", "show")
    assert "2Jx" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.requirement("C22")
def test_other_commands_apply_the_settings(project: Path) -> None:
    file = write_conversation(project / "session.json")
    first = json.loads(foldline("compact", file, "--budget", "1500", "--json").stdout)
    (project / "foldline.toml").write_text("policy = 'window'\n", encoding="utf-8")
    second = json.loads(foldline("compact", file, "--budget", "1500", "--json").stdout)
    assert first["receipt"]["policy"] == "default"
    assert second["receipt"]["policy"] == "window"
    third = foldline("compact", file, "--budget", "1500", "--policy", "salient", "--json").stdout
    assert json.loads(third)["receipt"]["policy"] == "salient"
