import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.neutral import T, c

from foldline.values.messages import Media, Omitted, Text
from foldline.values.part_text import MAX_LINE, MAX_LINES, call_text, text_lines


def test_lines_lose_their_indentation_and_empty_ones_are_omitted():
    assert text_lines("a\n\n   b  \n \t \nc") == ["a", "b", "c"]


@pytest.mark.parametrize("line", ["   12→import os", "12\timport os", "  12 | import os"])
def test_line_numbers_of_a_reading_tool_are_removed(line):
    assert text_lines(line) == ["import os"]


def test_a_line_that_is_too_long_is_split():
    pieces = text_lines("x" * (2 * MAX_LINE + 5))
    assert [len(piece) for piece in pieces] == [MAX_LINE, MAX_LINE, 5]


def test_the_middle_of_too_many_lines_is_omitted():
    lines = text_lines("\n".join(f"x{n}" for n in range(MAX_LINES + 10)))
    assert len(lines) == MAX_LINES
    assert (lines[0], lines[-1]) == ("x0", f"x{MAX_LINES + 9}")


@given(st.text(st.characters(codec=None), max_size=200))
def test_every_line_is_a_nonempty_verbatim_part_of_the_text(text):
    for line in text_lines(text):
        assert line.strip()
        assert line in text
        assert "\n" not in line
        assert len(line) <= MAX_LINE


@pytest.mark.parametrize(
    "text", ["", "\n" * 1_000_000, "9" * 1_000_000, " " * 1_000_000, "\ud800", "1→" * 100_000]
)
def test_no_text_is_an_error_or_slow(text):
    start = time.process_time()
    text_lines(text)
    assert time.process_time() - start < 2


def test_a_call_reads_as_its_name_and_arguments_with_real_line_feeds():
    call = c("1", "write", json.dumps({"path": "a.py", "text": 'x = "1"\ny = 2'}))
    assert call_text(call) == 'write path=a.py text=x = "1"\ny = 2'


def test_arguments_that_are_not_an_object_are_unchanged():
    assert call_text(c("1", "run", "ls -l")) == "run ls -l"
    assert call_text(c("1", "run", "[" * 100_000)).startswith("run [")


def test_other_parts_read_as_their_text():
    assert call_text(Text("a")) == "a"
    assert call_text(T("1", "out").results[0]) == "out"
    assert call_text(Media("image")) == "[image]"
    assert call_text(Omitted("clear")) == ""


def test_a_very_long_line_is_cut_between_words():
    pieces = text_lines("some_name " * MAX_LINE)
    assert {word for piece in pieces for word in piece.split()} == {"some_name"}
