"""``foldline bench`` measures the user's sessions, and reports invalid input in a sentence."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.cli.sample import foldline
from tests.evaluation.sample import session as long_session


@pytest.fixture
def long(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "long.json"
    path.parent.mkdir()
    path.write_text(json.dumps(long_session()), encoding="utf-8")
    return path


def test_a_session_is_measured_by_budget_method_and_price(long: Path) -> None:
    done = foldline("bench", long, "--budgets", "5%,10%", "--window", "16k")
    assert done.exit_code == 0
    assert "history cut to" in done.stdout
    for name in ("Foldline default", "clear tool results", "trim to the tail", "no compaction"):
        assert name in done.stdout
    assert "held   compactions that break a promise: 0 (goal ≤ 0)" in done.stdout
    assert "window of 16,000" not in done.stderr


def test_json_is_one_object_with_sections(long: Path) -> None:
    done = foldline("bench", long.parent, "--json", "--budgets", "10%", "--policy", "clear")
    told = json.loads(done.stdout)
    assert told["schema"] == "foldline.bench/1"
    assert [one["name"] for one in told["sections"]] == ["retention", "validity", "speed", "price"]
    rows = told["sections"][0]["tables"][0]["rows"]
    assert [row[0] for row in rows] == ["Foldline clear", "clear tool results", "trim to the tail"]


def test_several_policies_are_compared_and_each_once(long: Path) -> None:
    words = ("--policy", "default", "--policy", "window", "--policy", "default")
    shown = foldline("bench", long, "--budgets", "10%,10%", *words).stdout
    assert shown.index("Foldline default") < shown.index("Foldline window")
    table = shown.split("Kept of what was needed")[1].split("Fractions")[0]
    assert table.count("Foldline default") == 1
    assert table.count("10%") == 1


def test_a_report_has_a_page_and_plots(long: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="NO PLOTS: matplotlib is not installed")
    done = foldline("bench", long, "--budgets", "10%", "-o", tmp_path / "out")
    assert done.exit_code == 0
    assert f"report: {tmp_path / 'out' / 'report.md'}" in done.stderr
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "# Compaction, measured" in text
    assert "![What is kept of what was needed later](./kept.svg)" in text
    assert (tmp_path / "out" / "kept.svg").is_file()


def test_without_arguments_the_sessions_of_agents_are_measured(
    long: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "pi" / "sessions"
    folder.mkdir(parents=True)
    long.rename(folder / "one.jsonl")
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "pi"))
    assert foldline("bench", "--budgets", "10%").exit_code == 0


def test_unmeasurable_sessions_are_reported_and_the_rest_continues(long: Path) -> None:
    folder = long.parent
    (folder / "broken.json").write_text('{"messages": [{"role"')
    (folder / "other.json").write_text('{"name": "package"}')
    (folder / "short.json").write_text(json.dumps(long_session(4)))
    (folder / "empty.jsonl").touch()
    done = foldline("bench", folder, "--budgets", "10%")
    assert done.exit_code == 0
    assert "1 session too small to be meaningful." in done.stderr
    assert "held no conversation" in done.stderr
    assert "Foldline default" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("nowhere",), 3, "nowhere cannot be read: No such file or directory"),
        (("{empty}",), 3, "No session was found in"),
        (("{short}",), 3, "No session is long enough to be measured in"),
        (("{broken}",), 3, "No session could be measured"),
        ((), 3, "No session was found in the places where agents keep theirs"),
        (("{long}", "--budgets", "lots"), 2, "is not an amount"),
        (("{long}", "--budgets", ","), 2, "give 1 to 12 budgets"),
        (("{long}", "--policy", "defualt"), 2, "Did you mean 'default'"),
        (("{long}", "--model", "nobody-knows"), 2, "price of 'nobody-knows' is not known"),
        (("{long}", "--window", "12"), 2, "A window of 12 tokens is too small for any agent"),
        (("{long}", "-o", "{short}"), 2, "is not a folder"),
    ],
)
def test_invalid_options_give_one_sentence_and_an_exit_code(
    long: Path, tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    places = {
        "{long}": long,
        "{empty}": tmp_path / "empty",
        "{short}": tmp_path / "short.json",
        "{broken}": tmp_path / "broken.json",
    }
    places["{empty}"].mkdir()
    places["{short}"].write_text(json.dumps(long_session(3)))
    places["{broken}"].write_text('{"messages": [{"role": 3}]}')
    done = foldline("bench", *(places.get(word, word) for word in words))
    assert done.exit_code == code, done.stderr
    assert said in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_an_unwritable_report_is_reported(long: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = foldline("bench", long, "--budgets", "10%", "-o", tmp_path / "file" / "deeper")
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr


def test_after_the_time_limit_the_rest_is_reported(
    long: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = long.with_name("second.json")
    second.write_bytes(long.read_bytes())
    os.utime(second, (1, 1))
    done = foldline("bench", long.parent, "--budgets", "10%", "--limit", 1)
    assert "1 file not measured" in done.stderr
