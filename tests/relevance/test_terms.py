"""One function cuts documents and queries, in any script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.relevance.terms import LONGEST, LONGEST_REMEMBERED, cut_terms, term_set, terms


def test_a_word_is_found_in_any_of_its_forms():
    assert terms("Painted paintings") == terms("painting, PAINTS!")
    assert terms("She went") == terms("she goes") == ["go"]


def test_words_of_grammar_are_left_out():
    assert terms("What is the name of it?") == ["name"]
    assert terms("为什么服务慢") == terms("服务慢")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("getUserName", {"getusername", "get", "user", "name"}),
        ("parse_HTTP_response", {"parse_http_response", "pars", "http", "respons"}),
        ("app.py", {"app_py", "app", "py"}),
        ("x86-64", {"x86_64", "x", "86", "64"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
    ],
)
def test_an_identifier_is_found_whole_and_by_its_parts(name, parts):
    assert set(terms(name)) == parts


@pytest.mark.requirement("T9")
def test_chinese_is_found_by_characters_and_pairs():
    cut = terms("咖啡偏好")
    assert {"咖", "啡", "咖啡", "偏好"} <= set(cut)


def test_a_dictionary_of_words_takes_the_place_of_pairs():
    cut = terms("数据分析", words=lambda run: [run[:2], run[2:]])
    assert cut == ["数", "据", "分", "析", "数据", "分析"]


def test_each_run_of_characters_is_cut_by_its_own_script():
    assert set(terms("用Python写爬虫")) >= {"python", "爬虫"}
    assert terms("東京タワー")[:2] == ["東", "京"]
    assert terms("서울에") == ["서", "울", "에", "서울", "울에"]
    assert terms("Привет, мир") == ["привет", "мир"]
    assert terms("हिन्दी में") == ["हिन्दी", "में"]


def test_width_case_and_accents_make_no_difference():
    assert terms("ＣＡＦÉ") == terms("café") == terms("cafe")


def test_encoded_data_makes_no_term_without_end():
    for text in ("Zm9v" * 10_000 + "_" + "a" * 500, "a_b" * 9_999):
        assert all(len(term) <= LONGEST for term in terms(text))


@given(st.text(max_size=200))
def test_a_term_can_stand_in_a_column_that_is_split_at_blanks(text):
    cut = terms(text)
    assert " ".join(cut).split() == cut
    assert all(term and '"' not in term and len(term) <= LONGEST for term in cut)
    assert terms(text) == cut


@given(st.text(max_size=200))
def test_remembered_terms_are_those_of_the_index(text: str):
    assert list(cut_terms(text)) == terms(text)
    assert term_set(text) == frozenset(terms(text))


def test_only_short_texts_are_remembered():
    short, long = "billing port", "billing " * LONGEST_REMEMBERED
    assert cut_terms(short) is cut_terms("".join(short))
    assert cut_terms(long) == cut_terms(long)
    assert cut_terms(long) is not cut_terms(long)
