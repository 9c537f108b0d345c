from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_linearly, repeated

from foldline.context.settings import WORDS
from foldline.context.shorten import (
    Shortening,
    shorten_mixed,
    shorten_to_ends,
    shorten_to_excerpt,
    shorten_to_window,
    split_units,
)
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.tokens import TokenCounter

COUNTER = TokenCounter(EstimatedCounter())


def how(query: str = "", language: str = "en") -> Shortening:
    return Shortening(query, COUNTER, WORDS[language])


LINES = [f"line {n} says nothing of any interest to anybody" for n in range(200)]
TEXTS = st.text(
    alphabet=st.sampled_from(list("ab c.\n你好。Error 12/x_y\t")), max_size=3_000
) | st.just("\n".join(LINES))


@pytest.mark.requirement("T5")
@given(TEXTS, st.integers(0, 400))
def test_no_way_of_shortening_takes_more_than_its_room(text: str, room: int):
    for short in (
        shorten_to_ends(text, room, how()),
        shorten_to_window(text, room, how()),
        shorten_to_excerpt(text, room, how("Error 你好", "zh")),
        shorten_mixed(text, room, how("Error 你好", "zh")),
    ):
        assert COUNTER.text(short) <= max(room, 0)
        if COUNTER.text(text) <= room:
            assert short == text


@pytest.mark.requirement("T5", "E2.3")
def test_a_truncation_keeps_both_ends_and_marks_the_gap():
    short = shorten_to_ends("\n".join(LINES), 200, how())
    assert short.startswith("line 0 ")
    assert short.endswith(LINES[-1])
    assert "tokens left out" in short


@pytest.mark.requirement("E2.3")
def test_a_window_keeps_the_end():
    short = shorten_to_window("\n".join(LINES), 200, how())
    assert short.startswith("[… ")
    assert short.endswith(LINES[-1])
    assert "line 0 " not in short


@pytest.mark.requirement("E2.3")
@pytest.mark.parametrize("shorten", [shorten_to_excerpt, shorten_mixed])
def test_the_answer_to_the_query_is_kept_word_for_word(shorten):
    lines = [*LINES]
    lines[77] = "The billing port is 8443."
    short = shorten("\n".join(lines), 150, how("Which port has billing?"))
    assert "The billing port is 8443." in short.split("\n")
    assert "lines left out" in short


def test_chinese_prose_is_cut_at_its_sentences():
    text = "今天天气很好。" * 100 + "计费服务的端口是8443。" + "大家都很高兴。" * 100
    short = shorten_to_excerpt(text, 80, how("计费服务的端口是多少?", "zh"))
    assert "计费服务的端口是8443。" in short
    assert "省略" in short


def test_errors_are_kept_even_if_the_query_does_not_name_them():
    lines = [*LINES]
    lines[120] = "Traceback: KeyError 'owner'"
    assert "Traceback: KeyError 'owner'" in shorten_to_excerpt("\n".join(lines), 120, how("go on"))


@given(TEXTS)
def test_units_lose_only_line_feeds(text: str):
    assert "".join(split_units(text)).replace("\n", "") == text.replace("\n", "")


def test_a_point_inside_a_name_or_a_number_ends_no_sentence():
    said = "The file src/app.py of version 1.2.3 is read first, before any other file of it."
    assert split_units(" ".join([said] * 8))[:2] == [said, f" {said}"]


@pytest.mark.parametrize("end", ["", ".b"])
@pytest.mark.parametrize("piece", ["a", ".", "a.", "a. "])
def test_units_are_cut_in_linear_time(piece: str, end: str):
    assert grows_linearly(lambda text: split_units(text + end), repeated(piece), 2_000, 16_000)
