"""A command ends correctly with any state of its standard streams."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.children import launch
from tests.cli.sample import foldline

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


def shell(line: str, *words: object, **variables: str) -> tuple[int, bytes, bytes]:
    """Run ``foldline WORDS`` with the redirections of a shell, written as ``{} >&-``."""
    command = shlex.join([sys.executable, "-m", "foldline", *map(str, words)])
    process = launch(
        ["bash", "-c", line.replace("{}", command)],
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, told = process.communicate(timeout=60)
    return process.returncode, out, told


ONE_AFTER_ANOTHER = """
import json, sys
from foldline.cli.main import main

for words in json.loads(sys.argv[1]):
    sys.argv[1:] = words
    try:
        code = main()
    except SystemExit as end:
        code = end.code
    print("ended", words[0], code or 0, flush=True)
"""


@pytest.mark.parametrize(
    "variables",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "gbk"},
        {"LC_ALL": "C"},
    ],
    ids=["C without UTF-8", "latin-1", "gbk", "C"],
)
def test_a_terminal_of_any_encoding_gets_every_word(
    session: Path, variables: dict[str, str]
) -> None:
    commands = [
        ["stats", str(session)],
        ["compact", "--budget", "10%", "-o", os.devnull, str(session)],
        ["formats"],
    ]
    if "PYTHONUTF8" in variables:  # it looks at all there is: once is enough
        commands.append(["doctor"])
    done = launch(
        [sys.executable, "-c", ONE_AFTER_ANOTHER, json.dumps(commands)],
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, told = done.communicate(timeout=120)
    assert done.returncode == 0, told
    assert b"Unexpected" not in told
    ended = re.findall(r"^ended (\w+) 0$", out.decode("utf-8", "replace"), re.MULTILINE)
    assert ended == [words[0] for words in commands]
    texts = re.split(rb"ended \w+ 0\n", out)
    assert [bool(text) for text in texts] == [*(name != "compact" for name in ended), False]


def test_our_symbols_are_replaced_if_the_terminal_lacks_them(session: Path) -> None:
    words = ("compact", session, "--budget", "10%")
    _, _, told = shell("{} >/dev/null", *words, PYTHONIOENCODING="ascii")
    assert b" -> " in told
    assert b"\\u2192" not in told


@pytest.mark.parametrize("words", [["stats"], ["--help"], ["--version"], ["stats", "--json"]])
def test_a_closed_stdout_is_a_sentence(session: Path, words: list[str]) -> None:
    named = [session] if words[0] == "stats" else []
    code, _, told = shell("{} >&-", *words, *named)
    assert code == 2
    assert told.startswith(b"foldline: There is no stdout")
    assert told.count(b"\n") == 1


def test_a_closed_stdout_matters_only_to_commands_that_write_to_it(
    session: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    code, _, told = shell("{} >&-", "compact", session, "--budget", "10%", "-o", out)
    assert (code, b"bug" in told) == (0, False)
    assert json.loads(out.read_bytes())


@pytest.mark.parametrize("where", ["2>&-", pytest.param("2>/dev/full", marks=needs_full)])
def test_lost_notes_change_neither_result_nor_exit_code(session: Path, where: str) -> None:
    code, out, _ = shell(f"{{}} {where}", "compact", session, "--budget", "10%")
    assert code == 0
    assert json.loads(out)
    assert shell(f"{{}} {where}", "stats", "missing.json")[0] == 3


def test_a_closed_stdin_is_an_empty_one(session: Path) -> None:
    code, _, told = shell("{} <&-", "stats", "-")
    assert code == 3
    assert b"is empty" in told
    assert shell("{} <&- >&- 2>&-", "stats", session)[0] == 2


@pytest.mark.parametrize(
    "words",
    [
        ("memory", "add", "-"),
        ("note", "new", "A title", "--content", "-"),
        ("context", "lint", "-"),
        ("context", "build", "--query", "x", "--system", "-"),
    ],
)
def test_input_that_is_not_text_is_refused(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for data in (bytes(range(1, 200)), b"\x7fELF\0\0\1" * 20):
        done = foldline(*words, stdin=data)
        assert (done.exit_code, done.stdout) == (3, "")
        assert "stdin is not text. Give a text" in done.stderr


def test_a_file_that_is_not_text_is_no_prompt(tmp_path: Path) -> None:
    (tmp_path / "bin.dat").write_bytes(bytes(range(256)))
    done = foldline("context", "lint", tmp_path / "bin.dat")
    assert done.exit_code == 3
    assert "bin.dat is not text" in done.stderr


def test_text_in_other_encodings_is_accepted() -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        stored = foldline("memory", "add", "-", stdin="Grüße 你好\n".encode(encoding))
        assert foldline("memory", "show", stored.stdout.strip()).stdout == "Grüße 你好\n"


@needs_full
@pytest.mark.parametrize("words", [["--help"], ["stats", "--json"], ["stats"]])
def test_a_full_stdout_is_a_sentence(session: Path, words: list[str]) -> None:
    named = [session] if words[0] == "stats" else []
    code, _, told = shell("{} >/dev/full", *words, *named)
    assert (code, told) == (1, b"foldline: stdout: No space left on device.\n")
