import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.relevance.alarms import LINE_HEAD, WORDS, find_alarms, is_alarm

PIECES = st.sampled_from([*WORDS, "ok", " ", "x" * (LINE_HEAD - 3), "\ud800", "😀", "err", "or"])
LINES = st.lists(st.lists(PIECES, max_size=4).map("".join), max_size=12)


@pytest.mark.parametrize("word", WORDS)
def test_a_line_that_reports_a_failure_is_an_alarm(word):
    assert is_alarm(f"12:00 {word}: it")
    assert find_alarms(["fine", f"12:00 {word}: it", "fine"]) == {1}


@pytest.mark.parametrize("line", ["", "all is well", "ERR", "\ud800", "汉字"])
def test_other_lines_are_no_alarms(line):
    assert not is_alarm(line)
    assert find_alarms([line, line]) == set()


def test_only_whole_words_at_the_beginning_of_a_line_count():
    last = "x" * (LINE_HEAD - len("error"))
    assert find_alarms([f"{last}error", f"{last}xerror", "error"]) == {0, 2}


def test_a_word_is_not_found_across_two_lines():
    assert find_alarms(["err", "or", "fa", "il"]) == set()


@given(LINES)
def test_searching_all_lines_at_once_equals_searching_each(lines):
    assert find_alarms(lines) == {place for place, line in enumerate(lines) if is_alarm(line)}


@pytest.mark.parametrize(
    "lines",
    [[], [""], ["e" * 1_000_000], ["error" * 200_000], ["error"] * 50_000, ["x" * 999 + "fail"]],
)
def test_no_lines_are_an_error_or_slow(lines):
    start = time.process_time()
    assert find_alarms(lines) == {place for place, line in enumerate(lines) if is_alarm(line)}
    assert time.process_time() - start < 2
