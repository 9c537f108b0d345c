from __future__ import annotations

import json
from pathlib import Path

from tests.cli.sample import conversation, foldline, write_conversation


def names() -> list[str]:
    return [
        row["name"]
        for row in json.loads(foldline("recall", "--list", "--json").stdout)["sessions"]
    ]


def test_sessions_of_the_archive_are_named_after_files_and_never_mixed(tmp_path: Path) -> None:
    for folder, steps in (("a", 12), ("b", 20)):
        (tmp_path / folder).mkdir()
        file = write_conversation(tmp_path / folder / "chat.json", steps)
        for _ in range(2):  # the same again goes on in its session
            assert foldline("compact", file, "--budget", "1500", "-q").exit_code == 0
    assert sorted(names()) == ["chat.json", "chat.json (2)"]


def test_what_came_through_a_pipe_is_named_after_its_content(session: Path) -> None:
    for _ in range(2):
        foldline("compact", "-", "--budget", "1500", "-q", stdin=session.read_bytes())
    assert len(names()) == 1
    assert names()[0].startswith("stdin ")


def test_a_result_that_is_no_json_value_is_text_in_the_json_object(tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    lines.write_text("".join(json.dumps(message) + "\n" for message in conversation()))
    told = json.loads(foldline("compact", lines, "--budget", "1500", "--json").stdout)
    assert json.loads(told["result"].splitlines()[0])["role"] == "system"
    assert told["format"] == "wire"
