from __future__ import annotations

import json

import pytest

from foldline.cli.output import (
    Output,
    json_text,
    one_line,
    printable,
)


def test_control_characters_are_shown_and_lines_kept() -> None:
    assert printable("a\x1b[1mb\n\tc\x9b\u202e") == "a\\x1b[1mb\n\tc\\x9b\\u202e"
    assert one_line("a\n  b\x07", 10) == "a b\\x07"
    assert one_line("word " * 50, 9) == "word wor…"


def test_json_is_readable_and_always_writable() -> None:
    assert json_text({"a": "é"}) == '{\n  "a": "é"\n}'
    json_text({"a": "\ud800"}).encode()


def test_quiet_output_has_no_notes(capsys: pytest.CaptureFixture[str]) -> None:
    Output(quiet=True).note("words")
    Output().warn(["a warning"])
    assert capsys.readouterr().err == "warning: a warning.\n"


def test_json_escapes_terminal_controls_without_changing_the_value() -> None:
    value = {"a\x9b": "\x7f\x9b2J\u202e"}
    text = json_text(value)
    assert not set(text) & set("\x7f\x9b\u202e")
    assert json.loads(text) == value


def test_a_lone_surrogate_is_visible() -> None:
    shown = printable("a\ud800b")
    assert shown.encode()
    assert (shown[0], shown[-1]) == ("a", "b")


ROWS = [("one", 12_345, "a\x1b[2J long title"), ("two", 0, "")]


def records(output: Output, rows: list[tuple[str, int, str]]) -> None:
    value = {"things": [row[0] for row in rows]}
    output.records("things/1", value, ("name", ">n", "*title"), rows, empty="None.", noun="thing")


def test_records_are_one_json_object_or_a_table_with_a_count(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    records(Output(json=True), ROWS)
    told = capsysbinary.readouterr()
    assert json.loads(told.out) == {"schema": "foldline.things/1", "things": ["one", "two"]}
    assert told.err == b""
    records(Output(), ROWS)
    told = capsysbinary.readouterr()
    assert b"12,345" in told.out
    assert b"\x1b" not in told.out
    assert told.err == b"2 things.\n"


def test_no_records_are_a_note_and_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    records(Output(), [])
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "None.\n")


def test_skipped_files_are_named_and_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Output().note_unreadable([(f"file{n}", "damaged") for n in range(7)])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "skipped file0: damaged"
    assert lines[5:] == ["skipped 2 more; --json lists them all."]
