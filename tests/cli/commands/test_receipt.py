from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from tests.cli.sample import PLANTED, conversation, foldline, start, write_conversation


def names() -> list[str]:
    return [
        row["name"]
        for row in json.loads(foldline("recall", "--list", "--json").stdout)["sessions"]
    ]


def test_sessions_of_the_archive_are_named_after_files_and_never_mixed(tmp_path: Path) -> None:
    for folder, steps in (("a", 12), ("b", 20)):
        (tmp_path / folder).mkdir()
        file = write_conversation(tmp_path / folder / "chat.json", steps)
        for _ in range(2):  # a repetition continues its session
            assert foldline("compact", file, "--budget", "1500", "-q").exit_code == 0
    assert sorted(names()) == ["chat.json", "chat.json (2)"]


def test_piped_input_is_named_after_its_content(session: Path) -> None:
    for _ in range(2):
        foldline("compact", "-", "--budget", "1500", "-q", stdin=session.read_bytes())
    assert len(names()) == 1
    assert names()[0].startswith("stdin ")


def test_a_result_that_is_not_json_is_text_in_the_json_object(tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    lines.write_text("".join(json.dumps(message) + "\n" for message in conversation()))
    told = json.loads(foldline("compact", lines, "--budget", "1500", "--json").stdout)
    assert json.loads(told["result"].splitlines()[0])["role"] == "system"
    assert told["format"] == "wire"


def on_a_terminal(*words: object, stream: str = "stderr", **environment: str) -> str:
    """Run a command with one of its streams on a terminal, and return what it showed there."""
    ours, theirs = os.openpty()
    settings = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment}
    process = start(*words, env=settings, **{stream: theirs})
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # what the end of a terminal looks like
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    process.communicate(timeout=60)
    assert process.returncode == 0
    return shown.decode().replace("\r\n", "\n")


def plain(shown: str) -> str:
    """Take out bold and dim, which NO_COLOR leaves."""
    return re.sub(r"\x1b\[[0-9;]*m", "", shown)


def test_the_receipt_is_a_panel_with_bars_rungs_and_a_handle(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a whole path may be wider than the screen
    words = ("compact", session, "--budget", "1500", "-o", "out.json")
    shown = plain(on_a_terminal(*words, NO_COLOR="1"))
    lines = shown.splitlines()
    assert lines[0].startswith("╭─ session.json")
    assert {len(line) for line in lines if line} == {100}
    told = ("before =-", "after  ", "summarize", "folded into a snapshot", "kept", "out.json")
    assert [words for words in told if words not in shown] == []
    handle = shown.split("foldline recall ")[1].split()[0]
    assert foldline("recall", handle).exit_code == 0


def test_colours_follow_the_terminal_and_no_color(session: Path) -> None:
    words = ("compact", session, "--budget", "1500", "--no-archive")
    coloured = on_a_terminal(*words)
    assert "\x1b[3" in coloured
    assert "█" in coloured
    assert "\x1b[3" not in on_a_terminal(*words, NO_COLOR="1")
    assert on_a_terminal(*words, "-q") == ""


def test_an_unchanged_result_gives_the_reason(session: Path) -> None:
    shown = on_a_terminal("compact", session, "--budget", "1M", NO_COLOR="1")
    assert "unchanged" in shown
    assert "within budget" in shown
    assert "rung" not in shown


def test_a_narrow_terminal_is_not_overrun(session: Path) -> None:
    words = ("compact", session, "--budget", "1500", "--no-archive")
    shown = plain(on_a_terminal(*words, NO_COLOR="1", COLUMNS="50"))
    assert {len(line) for line in shown.splitlines() if line} == {50}


def test_a_terminal_without_blocks_gets_plain_signs(session: Path) -> None:
    words = ("compact", session, "--budget", "1500", "--no-archive")
    shown = plain(on_a_terminal(*words, NO_COLOR="1", PYTHONIOENCODING="ascii"))
    assert "before =--###" in shown
    assert shown.isascii()


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_progress_is_only_shown_on_a_terminal(session: Path, stream: str) -> None:
    session.with_name("second.json").write_bytes(session.read_bytes())
    shown = on_a_terminal("scan", session.parent, stream=stream)
    assert ("Measuring sessions" in shown) == (stream == "stderr")
    assert "Measuring" not in foldline("scan", session.parent).output


def test_recalled_text_cannot_control_a_terminal_and_is_exact_in_a_pipe(
    session: Path, tmp_path: Path
) -> None:
    file = tmp_path / "nasty.json"
    file.write_text(session.read_text().replace(PLANTED, f"{PLANTED} \\u001b[2J"))
    receipt = tmp_path / "receipt.json"
    foldline("compact", file, "--budget", "1500", "--receipt", receipt, "-q")
    handle = next(
        word
        for word in receipt.read_text().replace('"', " ").split()
        if PLANTED in foldline("recall", word).stdout
    )
    assert "\x1b[2J" in foldline("recall", handle).stdout
    shown = on_a_terminal("recall", handle, stream="stdout")
    assert "\x1b" not in shown
    assert f"{PLANTED} \\x1b[2J" in shown
