import json

import pytest
from tests.neutral import T, c

from foldline.core.messages import Media, Omitted, Text
from foldline.core.salience.lines import MAX_LINE, MAX_LINES, call_text, text_lines


def found(text):
    return list(text_lines(text))


def test_lines_keep_their_number_and_lose_their_indentation():
    assert found("a\n\n   b\n \t \nc") == [(0, "a"), (2, "b"), (4, "c")]


@pytest.mark.parametrize("line", ["   12→import os", "12\timport os", "  12 | import os"])
def test_the_line_numbers_of_a_reading_tool_are_left_out(line):
    assert found(line) == [(0, "import os")]


def test_a_line_that_is_too_long_is_offered_in_pieces():
    pieces = found("x" * (2 * MAX_LINE + 5))
    assert [len(piece) for _, piece in pieces] == [MAX_LINE, MAX_LINE, 5]


def test_of_too_many_lines_the_middle_is_not_offered():
    numbers = [number for number, _ in found("\n".join(["x"] * (MAX_LINES + 10)))]
    assert len(numbers) == MAX_LINES
    assert numbers[0] == 0
    assert numbers[-1] == MAX_LINES + 9


def test_a_call_reads_as_its_name_and_arguments_with_real_line_feeds():
    call = c("1", "write", json.dumps({"path": "a.py", "text": 'x = "1"\ny = 2'}))
    assert call_text(call) == 'write path=a.py text=x = "1"\ny = 2'


def test_arguments_that_are_no_object_stay_as_they_are():
    assert call_text(c("1", "run", "ls -l")) == "run ls -l"
    assert call_text(c("1", "run", "[" * 100_000)).startswith("run [")


def test_other_parts_read_as_their_text():
    assert call_text(Text("a")) == "a"
    assert call_text(T("1", "out").results[0]) == "out"
    assert call_text(Media("image")) == "[image]"
    assert call_text(Omitted("clear")) == ""
