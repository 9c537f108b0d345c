"""Every kind of bad input ends in one sentence and the right exit code, and changes nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.sample import foldline, start

from foldline.cli.errors import Exit, exit_code, run
from foldline.cli.main import cli
from foldline.errors import CannotFit, FoldlineError, StoreError


def calling(**call: Any) -> list[dict[str, Any]]:
    function = {"name": "f", "arguments": "{}"}
    asked = {"role": "assistant", "tool_calls": [{"type": "function", "function": function}]}
    return [{"role": "user", "content": "x"}, asked, {"role": "tool", "content": "x", **call}]


BAD = {
    "not JSON": (b"this is not json", "text that begins with"),
    "half JSON": (
        b'[{"role": "user", "content": "x"',
        "is broken JSON: line 1, column 33: Expecting",
    ),
    "a cut string": (b'[\n{"role": "us', "is broken JSON: line 2, column 10: Unterminated string"),
    "a comma too many": (b'{"messages": [],\n}', "is broken JSON: line 2, column 1"),
    "a log": (b"[INFO] it began\n[INFO] it ended\n", "text that begins with"),
    "unknown role": (
        json.dumps([{"role": "wizard", "content": "x"}]).encode(),
        "Message 0, field role: unknown role 'wizard'",
    ),
    "missing call id": (json.dumps(calling()).encode(), "Message 2, field tool_call_id"),
    "wrong type": (
        json.dumps(
            [{"role": "user", "content": "x"}, {"role": "assistant", "content": 5}]
        ).encode(),
        "Message 1, field content: expected a string or a list or null, found a number",
    ),
    "binary": (b"\x7fELF\x02\x01\x01" + bytes(200), "binary file"),
    "empty": (b"", "is empty"),
    "blank": (b" \n\n ", "is empty"),
    "empty list": (b"[]", "empty JSON list"),
    "deep nesting": (b"[" * 100_000, "text that begins with"),
    "damaged gzip": (b"\x1f\x8b\x08broken", "gzip"),
}


@pytest.mark.parametrize(("content", "words"), BAD.values(), ids=BAD)
@pytest.mark.parametrize(
    "command", [["stats"], ["compact", "--budget", "10%"]], ids=lambda c: c[0]
)
def test_bad_content_is_bad_input(
    tmp_path: Path, command: list[str], content: bytes, words: str
) -> None:
    file, out = tmp_path / "input", tmp_path / "out"
    file.write_bytes(content)
    done = foldline(*command, file, *(["-o", out] if command[0] == "compact" else []))
    assert (done.exit_code, done.stdout) == (3, "")
    assert words in done.stderr
    assert done.stderr.startswith("foldline: ")
    assert done.stderr.count("\n") == 1
    assert file.read_bytes() == content
    assert not out.exists()


@pytest.mark.parametrize("content", [content for content, _ in BAD.values()], ids=list(BAD))
def test_bad_content_on_stdin_is_bad_input(content: bytes) -> None:
    done = foldline("stats", "-", stdin=content)
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1


def missing(path: Path) -> None:
    """Leave the file missing."""


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 513 * 1024 * 1024)


@pytest.mark.parametrize("extra", [[], ["--from", "openai-chat"], ["--from", "codex"]])
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (missing, "No such file"),
        (Path.mkdir, "" if os.name == "nt" else "file"),
        (os.mkfifo, "not a regular file"),
        (huge, "larger than 536,870,912 bytes"),
    ],
    ids=["missing", "folder", "fifo", "513 MB"],
)
def test_an_unreadable_file_is_bad_input(
    tmp_path: Path, make: Any, words: str, extra: list[str]
) -> None:
    make(tmp_path / "input")
    done = foldline("stats", tmp_path / "input", *extra)
    assert (done.exit_code, done.stdout) == (3, "")
    assert words in done.stderr


def test_a_hostile_file_name_cannot_control_the_terminal(tmp_path: Path) -> None:
    done = foldline("stats", tmp_path / "a\x1b[2Jb")
    assert done.exit_code == 3
    assert "\x1b" not in done.stderr
    assert r"a\x1b[2Jb" in done.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StoreError("The archive is locked."), Exit.STORE),
        (CannotFit("No.", needed=9, budget=5), Exit.CANNOT_FIT),
    ],
)
def test_every_error_has_its_exit_code(error: FoldlineError, code: Exit) -> None:
    assert exit_code(error) is code


def fails() -> None:
    raise ValueError("the cause")


def test_an_unexpected_error_is_a_sentence_and_debug_shows_where(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(fails, debug=False) == 1
    told = capsys.readouterr().err
    assert "Unexpected ValueError: the cause" in told
    assert "Traceback" not in told
    assert run(fails, debug=True) == 1
    assert "in fails" in capsys.readouterr().err


def test_debug_shows_where_an_error_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in (["--debug", "stats", tmp_path / "no"], ["stats", tmp_path / "no", "--debug"]):
        assert "Traceback" in foldline(*words).stderr
    monkeypatch.setenv("FOLDLINE_DEBUG", "1")
    assert "Traceback" in foldline("stats", tmp_path / "no").stderr


def test_a_reader_that_hangs_up_ends_the_command_quietly(session: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = start("stats", session, stdout=writing)
    os.close(writing)
    _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_on_stdout_is_reported(session: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        process = start("stats", session, "--json", stdout=full)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"No space left" in told
    assert b"Traceback" not in told


def test_an_error_has_no_colour_if_colour_is_disabled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    result = CliRunner().invoke(cli, ["stats", str(tmp_path / "no")], color=True)
    assert result.stderr.startswith("foldline: ")


def test_a_traceback_cannot_control_the_terminal(tmp_path: Path) -> None:
    told = foldline("--debug", "stats", tmp_path / "no\x1b[2J").stderr
    assert "Traceback" in told
    assert "\x1b" not in told


@pytest.mark.parametrize(
    ("words", "kind", "code"),
    [
        (["stats", "no-such-file"], "InputError", 3),
        (["stats"], "UsageError", 2),
        (["compact", "-", "--budget", "x"], "UsageError", 2),
        (["compact", "-", "--budget", "1"], "CannotFit", 4),
        (["recall", "123456"], "StoreError", 5),
    ],
)
def test_a_failure_with_json_is_one_json_object(words: list[str], kind: str, code: int) -> None:
    content = json.dumps([{"role": "user", "content": "Find out why the build fails."}])
    done = foldline(*words, "--json", stdin=content.encode())
    error = json.loads(done.stdout)
    assert (done.exit_code, error["schema"]) == (code, "foldline.error/1")
    assert (error["error"]["type"], error["error"]["exit_code"]) == (kind, code)
    assert error["error"]["message"] in done.stderr
    assert done.stderr.count("\n") == 1
    if kind == "CannotFit":
        assert error["error"]["needed"] > error["error"]["budget"] == 1


def test_an_unexpected_error_with_json_is_one_json_object(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(fails, debug=False, as_json=True) == 1
    assert json.loads(capsys.readouterr().out)["error"]["type"] == "ValueError"


def test_broken_json_names_its_place_in_a_format_that_was_named_too(tmp_path: Path) -> None:
    file = tmp_path / "half.json"
    file.write_text('[\n {"role": "user",\n  "content": "x')
    for named in ([], ["--from", "openai-chat"], ["--from", "anthropic"]):
        done = foldline("stats", file, *named)
        assert (done.exit_code, "line 3, column 14" in done.stderr) == (3, True), done.stderr
