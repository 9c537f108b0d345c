import re
import time
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.names import items
from foldline.core.salience.windows import RESTRICTS, SHARE, Words, best_window

PRICE, EXTRA = 0.25, 1.5
WORD = re.compile(r"\w+")

PIECES = st.sampled_from(
    [
        *("a_a", "b_b", "src/app.py", "--flag", "12,000", "retries=3", "x-y_z", "the", "cache"),
        *("汉字", "é", "\ud800", "😀", "ﬁ", "İ", "(", ")", " ", " ", ". "),
    ]
)
LINE = st.lists(PIECES, max_size=25).map("".join)
SAID = st.sets(st.sampled_from(["the", "cache", "a_a", "汉字", "src", "elsewhere"]))
WORTH = st.sampled_from([0.0, 0.01, 0.3, 0.9])


def best(line, values, said=(), missing=0):
    """Return the best part of a line; None if nothing in it is wanted."""
    known = dict.fromkeys(items(line), 0.0) | values
    window = best_window(Words.of(line, missing), known, set(said), PRICE, EXTRA)
    return window and line[window.start : window.stop]


def test_the_part_around_what_is_wanted_is_found():
    line = "well so then a_a is kept in b_b and that was about all of it for today"
    part = best(line, {"a_a": 0.9, "b_b": 0.9})
    assert part in line
    assert "a_a is kept in b_b" in part
    assert len(part) < len(line)


def test_nothing_is_found_where_nothing_is_wanted():
    assert best("the a_a of it", {"a_a": 0.0}) is None
    assert best("", {}) is None


def test_what_is_worth_little_at_an_end_is_left_out():
    line = "a_a b_b c_c d_d e_e z_z"
    values = dict.fromkeys(("a_a", "b_b", "c_c", "d_d", "e_e"), 0.9)
    assert best(line, values | {"z_z": 0.001}) == "a_a b_b c_c d_d e_e"
    assert best(line, values | {"z_z": 0.9}) == line


def test_words_that_stand_beside_it_need_not_be_said_again():
    line = "100 reads src/part_100.py and lib/tool_100.py"
    alone = best(line, {"100": 0.9})
    beside = best(line, {"100": 0.9}, said=WORD.findall(line[3:]))
    assert beside == "100"
    assert len(alone) > len(beside)


def test_a_line_that_has_lost_its_number_keeps_more_of_its_words():
    line = "a_a one two three four five six seven eight nine"
    assert len(best(line, {"a_a": 0.9}, missing=4)) > len(best(line, {"a_a": 0.9}))


@pytest.mark.parametrize("whole", ["12,000", "retries=3", "2.14.7", "src/app.py", "-5%", "10:45"])
def test_no_part_begins_or_ends_inside_of_a_number_a_path_or_an_assignment(whole):
    for line in (f"one two {whole} a_a three", f"one a_a {whole} two three"):
        for missing in range(6):
            part = best(line, {"a_a": 0.9}, missing=missing)
            assert whole in part or not set(WORD.findall(whole)) & set(WORD.findall(part))


@pytest.mark.parametrize(
    "line",
    [
        *("do not touch a_a", "Never use it", "ONLY on Mondays", "unless it rains"),
        *(
            "it doesn't matter",
            "don\u2019t",
            "no a_a",
            "without b_b",
            "不要删除",
            "必须保留",
            "仅限内部",
        ),
    ],
)
def test_a_line_that_forbids_or_restricts_is_recognised(line):
    assert RESTRICTS.search(line)


@pytest.mark.parametrize("line", ["", "a note of it", "nothing", "the annotation", "knot"])
def test_other_lines_restrict_nothing(line):
    assert not RESTRICTS.search(line)


@given(LINE, SAID, st.integers(0, 4), st.data())
def test_a_part_is_a_run_of_whole_words_and_enough_of_them(line, said, missing, data):
    values = {item: data.draw(WORTH) for item in items(line)}
    window = best_window(Words.of(line, missing), values, said, PRICE, EXTRA)
    if window is None:
        assert not any(values.values())
        return
    start, stop = window.start, window.stop
    assert 0 <= start < stop <= len(line)
    spans = [match.span() for match in WORD.finditer(line)]
    assert not any(left < edge < right for left, right in spans for edge in (start, stop))
    words = set(WORD.findall(line))
    told = set(WORD.findall(line[start:stop])) | (said & words)
    assert len(told) >= min(len(words), ceil(SHARE * (len(words) + missing)))


@given(LINE, SAID, st.data())
def test_the_same_line_is_cut_in_the_same_way(line, said, data):
    values = {item: data.draw(WORTH) for item in items(line)}
    first, second = (best_window(Words.of(line), values, said, PRICE, EXTRA) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    "line",
    [
        *("", "a" * 1_000_000, "汉" * 1_000_000, "\ud800" * 100_000, "-" * 1_000_000),
        *("a_a " * 10_000, "汉a_a" * 10_000, "a=" * 20_000),
    ],
)
def test_no_line_is_an_error_or_slow(line):
    start = time.process_time()
    best(line, dict.fromkeys(items(line), 0.5))
    RESTRICTS.search(line)
    assert time.process_time() - start < 4
