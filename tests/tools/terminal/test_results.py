"""The result of a line as a model reads it."""

import json

import pytest

from foldline.errors import RecallError
from foldline.tools.terminal import CommandResult
from foldline.tools.terminal.results import (
    OutputStore,
    clean_output,
)

pytestmark = pytest.mark.requirement("T7")


def test_the_text_of_a_result_has_errors_code_and_notes():
    ran = CommandResult(
        "failed", "ls x", "out\n", "no x\n", (0, 2), notes=("landlock: less",), seconds=0.12345
    )
    assert ran.text == "out\n[stderr]\nno x\n[exit code 2]\n[landlock: less]"
    assert (ran.ok, ran.code) == (True, 2)
    assert json.loads(json.dumps(ran.to_dict()))["seconds"] == 0.123


def test_the_text_of_a_refusal_begins_with_its_status():
    assert CommandResult("refused", "x", reason="No.").text == "Refused: No."
    asking = CommandResult("needs_approval", "x", reason="rm changes files.")
    assert asking.text.startswith("Needs approval")
    assert CommandResult("timeout", "x", "part", reason="Stopped.").text == "Stopped.\npart"
    assert CommandResult("ok", "true", codes=(0,)).text == "(no output)"
    assert not CommandResult("error", "x").ok


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain\tx\n", "plain\tx\n"),
        (b"a\x1b[1;31mb\x1b[0m", "ab"),
        (b"\x1b]52;c;cHduZWQ=\x07x\x1b]0;t\x1b\\y", "xy"),
        (b"\x1bP1$r\x1b\\z\x1bc", "z"),
        (b"\xc2\x9b2Jq\x00\x08\x7f", "q"),
        (b"l\r\nm\rn", "l\nmn"),
        ("a\u202eb\u2066c\u2028".encode(), "abc"),
        (b"caf\xe9", "caf\ufffd"),
        ("文é".encode(), "文é"),
    ],
)
def test_output_is_cleaned(data, text):
    assert clean_output(data) == text


def test_short_text_is_whole_and_long_text_is_kept():
    kept = OutputStore()
    assert kept.shorten("short", 100) == ("short", "")
    text = "".join(f"{n:05}\n" for n in range(1_000))
    shown, handle = kept.shorten(text, 600)
    assert shown.startswith("00000\n")
    assert shown.endswith("00999\n")
    assert len(shown) < 700
    assert kept.page(handle, most=len(text)).text == text
    assert kept.page(handle, 12, 6).text == "00002\n"
    assert kept.page(handle, 10**9).rest == 0


def test_the_oldest_outputs_are_evicted():
    kept = OutputStore(room=250)
    first = kept.keep("a" * 100)
    kept.keep("b" * 100)
    kept.keep("c" * 100)
    with pytest.raises(RecallError, match="Run the command again"):
        kept.page(first)


def test_a_result_names_its_values_in_one_order():
    told = CommandResult("failed", "ls", codes=(0, 2), seconds=0.12345).to_dict()
    assert " ".join(told) == (
        "status command codes reason handle truncated sandbox directory seconds"
    )
    assert (told["codes"], told["seconds"]) == ([0, 2], 0.123)
