from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.cli.sample import conversation, foldline, write_conversation

from foldline import count
from foldline.cli import agent_sessions
from foldline.cli.agent_sessions import SessionFile
from foldline.cli.commands.scan import measure_session
from foldline.core.budget import Amount
from foldline.core.config import Config
from foldline.engine.policies import policy
from foldline.errors import InputError

POLICY, CONFIG = policy("default"), Config()


def claude_code(path: Path, project: str, steps: int) -> Path:
    """A session as Claude Code keeps it: records in a chain, with the folder of the project."""
    lines, parent = [], None
    for n in range(steps):
        for role in ("user", "assistant"):
            text = f"{role} says something of some length in turn {n}, about the build. " * 8
            content = text if role == "user" else [{"type": "text", "text": text}]
            record = {
                "type": role,
                "uuid": f"{role}-{n}",
                "parentUuid": parent,
                "sessionId": "s1",
                "cwd": project,
                "message": {"role": role, "content": content},
            }
            lines.append(json.dumps(record))
            parent = record["uuid"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def claude(home: Path) -> Path:
    folder = home / ".claude" / "projects" / "-home-me-app"
    old = claude_code(folder / "old.jsonl", "/home/me/app", 30)
    claude_code(folder / "new.jsonl", "/home/me/app", 12)
    os.utime(old, (1_700_000_000, 1_700_000_000))
    return folder


def scanned(*words: object) -> dict[str, list[dict[str, object]]]:
    done = foldline("scan", "--json", *words)
    assert done.exit_code == 0
    told: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    assert told["schema"] == "foldline.scan/1"
    return told


def test_sessions_of_agents_are_found_newest_first(claude: Path) -> None:
    found = scanned()["sessions"]
    assert [Path(str(s["path"])).name for s in found] == ["new.jsonl", "old.jsonl"]
    assert {s["agent"] for s in found} == {"claude-code"}
    assert {s["project"] for s in found} == {"/home/me/app"}
    assert all(s["tokens_after"] < s["tokens"] for s in found)  # type: ignore[operator]


def test_the_table_names_project_agent_and_saving(claude: Path) -> None:
    shown = foldline("scan", "--budget", "50%").stdout
    assert "app/new.jsonl" in shown
    assert "2 sessions" in shown
    assert "compacted to 50%" in shown


def test_the_order_and_the_number_can_be_chosen(claude: Path) -> None:
    told = scanned("--limit", 1, "--sort", "biggest")
    assert [Path(str(s["path"])).name for s in told["sessions"]] == ["old.jsonl"]
    assert told["not_measured"] == 1


def test_a_window_that_is_not_full_saves_nothing(claude: Path) -> None:
    assert {s["saved"] for s in scanned("--window", "200k")["sessions"]} == {0}
    assert "fits" in foldline("scan", "--window", "200k").stdout


def test_agents_that_moved_are_found_where_they_say(
    tmp_path: Path, claude: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = tmp_path / "moved"
    claude.parents[1].rename(moved)
    assert scanned()["sessions"] == []
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(moved))
    assert len(scanned()["sessions"]) == 2


def test_codex_sessions_are_found_by_their_names(home: Path) -> None:
    folder = home / ".codex" / "sessions" / "2026" / "01" / "02"
    folder.mkdir(parents=True)
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
    record = {"timestamp": "t", "type": "response_item", "payload": said}
    (folder / "rollout-1.jsonl").write_text(json.dumps(record) + "\n")
    (folder / "history.jsonl").write_text("{}\n")
    assert [s["agent"] for s in scanned()["sessions"]] == ["codex"]


def test_a_folder_is_searched_with_everything_below(tmp_path: Path) -> None:
    (tmp_path / "logs" / "deep").mkdir(parents=True)
    write_conversation(tmp_path / "logs" / "deep" / "one.json")
    (tmp_path / "logs" / "settings.json").write_text('{"a": 1}')
    (tmp_path / "logs" / "node_modules").mkdir()
    write_conversation(tmp_path / "logs" / "node_modules" / "two.json")
    told = scanned(tmp_path / "logs")
    assert [s["messages"] for s in told["sessions"]] == [len(conversation())]
    assert told["others"] == 1


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """An older session among newer files that hold no conversation."""
    folder = tmp_path / "crowded"
    folder.mkdir()
    session = write_conversation(folder / "session.json")
    os.utime(session, (1_700_000_000, 1_700_000_000))
    for number in range(25):
        (folder / f"z{number}.json").write_text('{"a": 1}')
    return folder


def test_files_that_are_no_sessions_do_not_count_towards_the_limit(crowded: Path) -> None:
    told = scanned(crowded, "--limit", 1)
    assert [Path(str(s["path"])).name for s in told["sessions"]] == ["session.json"]
    assert (told["others"], told["not_measured"]) == (25, 0)


def test_no_session_is_claimed_to_be_missing_while_files_are_unread(
    crowded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_sessions, "MOST_READ", 10)
    done = foldline("scan", crowded)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "No agent session was found in the first 10 files; the others were not" in done.stderr
    assert "16 files not measured; " in done.stderr
    assert "up to 10 files in one run" in done.stderr
    assert "16 files not measured" in foldline("bench", crowded).stderr


def test_loops_and_unreadable_entries_are_reported_without_ending_the_walk(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    write_conversation(logs / "one.json")
    (logs / "loop").symlink_to(logs)
    (logs / "self").symlink_to(logs / "self")
    (logs / "dangling.json").symlink_to(logs / "gone.json")
    (logs / "bad.json").write_text('[{"role": "user", "content": "x"}, {"role": "tool"}]')
    os.mkfifo(logs / "pipe.jsonl")
    (logs / "empty.json").touch()
    told = scanned(logs)
    assert len(told["sessions"]) == 1
    troubled = {Path(str(t["path"])).name for t in told["trouble"]}
    assert {"self", "dangling.json", "bad.json"} <= troubled
    assert "skipped" in foldline("scan", logs).stderr


def test_a_machine_without_agents_lists_the_searched_folders() -> None:
    done = foldline("scan")
    assert (done.exit_code, done.stdout) == (0, "")
    assert ".claude" in done.stderr


def test_a_file_as_folder_is_bad_input(session: Path, tmp_path: Path) -> None:
    assert foldline("scan", session).exit_code == 3
    assert foldline("scan", tmp_path / "missing").exit_code == 3
    assert foldline("scan", tmp_path, "--budget", "1", "--window", "9").exit_code == 2


def test_a_project_name_that_is_not_text_does_not_end_a_scan(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    text = json.dumps({"cwd": "/x\ud800", "messages": conversation()})
    (folder / "s.json").write_text(text)
    done = foldline("scan", folder)
    assert done.exit_code == 0
    assert "\\ud800" in done.stdout


@pytest.mark.parametrize("columns", [40, 60, 72, 100, 200])
def test_numbers_are_whole_at_every_width(
    claude: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    whole = scanned()["sessions"]
    shown = foldline("scan").stdout
    for session in whole:
        for number in (session["tokens"], session["tokens_after"]):
            assert f" {number:,} " in shown, shown
    assert "saved" in shown
    assert all(len(line) <= columns for line in shown.splitlines())


def found(path: Path) -> SessionFile:
    return SessionFile(path, path.stat().st_size, 0.0)


def test_possible_savings_are_measured(session: Path) -> None:
    before = session.read_bytes()
    goal = Amount("20%", share=0.2)
    measured = measure_session(found(session), goal, None, POLICY, CONFIG)
    assert measured.tokens == count(conversation())
    assert 0 < measured.after <= 0.2 * measured.tokens
    assert measured.saved == measured.tokens - measured.after
    assert session.read_bytes() == before


def test_an_unreachable_goal_is_not_an_error(session: Path) -> None:
    measured = measure_session(found(session), Amount("3", tokens=3), None, POLICY, CONFIG)
    assert (measured.status, measured.saved) == ("failed", 0)
    tiny = measure_session(found(session), None, 2, POLICY, CONFIG)
    assert tiny.saved == 0


def test_unreadable_files_are_reported(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("no")
    with pytest.raises(InputError):
        measure_session(
            found(tmp_path / "x.json"),
            Amount("9k", tokens=9_000),
            None,
            policy(),
            Config(),
        )
