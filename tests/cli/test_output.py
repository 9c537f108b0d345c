from __future__ import annotations

import json

import pytest

from foldline.cli.output import (
    BarSegment,
    Output,
    bar,
    json_text,
    moment,
    one_line,
    printable,
    share,
    size,
)

BLUE = BarSegment("blue", 30, "blue")
RED = BarSegment("red", 70, "red")


@pytest.mark.parametrize("width", [1, 7, 10, 80])
def test_a_bar_is_as_wide_as_it_shall_be(width: int) -> None:
    assert len(bar([BLUE, RED], 100, width).plain) == width
    assert bar([BLUE], 100, 10).plain == "███░░░░░░░"
    assert bar([BLUE], 100, 10, "ascii").plain == "###......."


def test_something_is_never_drawn_as_nothing() -> None:
    assert bar([BarSegment("tiny", 1, "red")], 100_000, 10).plain.startswith("█")
    assert "█" not in bar([], 100, 10).plain


@pytest.mark.parametrize(
    ("part", "whole", "shown"), [(1, 4, "25%"), (0, 4, "0%"), (1, 1_000, "<1%"), (3, 0, "0%")]
)
def test_shares_are_percent(part: int, whole: int, shown: str) -> None:
    assert share(part, whole) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 B"), (999, "999 B"), (1_400_000, "1.4 MB"), (2_000, "2 kB"), (10**13, "10000.0 GB")],
)
def test_sizes_have_their_unit(count: int, shown: str) -> None:
    assert size(count) == shown


def test_control_characters_are_shown_and_lines_kept() -> None:
    assert printable("a\x1b[1mb\n\tc\x9b\u202e") == "a\\x1b[1mb\n\tc\\x9b\\u202e"
    assert one_line("a\n  b\x07", 10) == "a b\\x07"
    assert one_line("word " * 50, 9) == "word wor…"


def test_json_is_readable_and_always_writable() -> None:
    assert json_text({"a": "é"}) == '{\n  "a": "é"\n}'
    json_text({"a": "\ud800"}).encode()


def test_a_quiet_voice_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Output(quiet=True).note("words")
    Output().warn(["a warning"])
    assert capsys.readouterr().err == "warning: a warning.\n"


def test_json_commands_no_terminal_and_says_the_same() -> None:
    value = {"a\x9b": "\x7f\x9b2J\u202e"}
    text = json_text(value)
    assert not set(text) & set("\x7f\x9b\u202e")
    assert json.loads(text) == value


def test_half_a_surrogate_pair_is_shown() -> None:
    shown = printable("a\ud800b")
    assert shown.encode()
    assert (shown[0], shown[-1]) == ("a", "b")


def test_every_moment_is_a_date() -> None:
    assert moment(0).year == 1970
    assert moment(1e18).year == 9999
    assert moment(-1e18).year == 1970
