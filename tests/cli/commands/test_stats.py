from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.sample import conversation, foldline

from foldline import count


def test_tables_show_where_the_tokens_go(session: Path) -> None:
    done = foldline("stats", session)
    assert done.exit_code == 0
    for words in ("tool results", "read_file", "src/file_0.py", "superseded reads", "13"):
        assert words in done.stdout


def test_json_adds_up_to_the_counts_of_the_library(session: Path) -> None:
    told = json.loads(foldline("stats", session, "--json").stdout)
    assert told["schema"] == "foldline.stats/1"
    assert told["tokens"] == count(conversation())
    assert sum(kind["tokens"] for kind in told["kinds"]) == told["tokens"]
    assert told["tools"][0]["calls"] == 12
    assert told["files"][0]["operations"] == {"read": 2}
    assert [w["count"] for w in told["waste"] if w["name"] == "superseded reads"] == [3]


def test_the_number_of_rows_can_be_chosen(session: Path) -> None:
    told = json.loads(foldline("stats", session, "--json", "--top", 2).stdout)
    assert (len(told["files"]), len(told["largest"])) == (2, 2)


def test_overhead_and_reported_usage_are_printed(tmp_path: Path) -> None:
    body = {
        "system": "Be brief.",
        "tools": [{"name": "f", "description": "It does f.", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": "Hello"}],
    }
    file = tmp_path / "body.json"
    file.write_text(json.dumps(body))
    told = json.loads(foldline("stats", file, "--json").stdout)
    assert told["overhead"]["system"] > 3
    assert told["overhead"]["tool_schemas"] > 9
    assert "1 tool schema of" in foldline("stats", file).stdout


def test_a_transcript_cannot_control_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    nasty = "\x1b]0;owned\x07\x1b[2J\u202etxt.exe [bold red]"
    call = {"id": "1", "type": "function", "function": {"name": nasty, "arguments": "{}"}}
    messages = [
        {"role": "user", "content": nasty},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": nasty},
    ]
    file = tmp_path / "nasty.json"
    file.write_text(json.dumps(messages))
    done = foldline("stats", file)
    assert done.exit_code == 0
    assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout)
    assert "[bold red]" in done.stdout


def test_a_narrow_and_a_wide_terminal_keep_the_numbers(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = json.loads(foldline("stats", session, "--json").stdout)
    numbers = [row["tokens"] for name in ("kinds", "tools", "largest") for row in told[name]]
    for columns in ("30", "40", "80", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        shown = foldline("stats", session).stdout
        assert all(f"{number:,}" in shown for number in (count(conversation()), *numbers))
        assert all(len(line) <= int(columns) for line in shown.splitlines())


def test_a_user_sets_how_much_is_read(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = foldline("stats", session, "--max-bytes", 100)
    assert done.exit_code == 3
    assert "larger than 100 bytes" in done.stderr
    monkeypatch.setenv("FOLDLINE_MAX_BYTES", "101")
    assert "larger than 101 bytes" in foldline("compact", session, "--budget", "2k").stderr
    assert foldline("stats", session, "--max-bytes", 10**6).exit_code == 0


def test_a_bar_without_colours_and_its_legend_have_a_sign_per_kind(session: Path) -> None:
    shown = foldline("stats", session).stdout
    bar = shown.splitlines()[2]
    for sign, kind in (("=", "assistant"), ("-", "tool calls"), ("#", "tool results")):
        assert f"{sign} {kind}" in shown
        assert sign in bar
    assert "█" not in bar


def test_columns_that_do_not_fit_are_listed(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    told = foldline("stats", session).stderr
    assert "Left out, since the terminal is 40 columns wide: " in told
    assert "in calls, in results" in told
    monkeypatch.setenv("COLUMNS", "200")
    assert "Left out" not in foldline("stats", session).stderr
