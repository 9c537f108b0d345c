from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.relevance.terms import (
    LONGEST,
    LONGEST_REMEMBERED,
    cut_terms,
    discount,
    flat_rarity,
    overlap,
    rarity,
    stem,
    term_set,
    terms,
    worth,
)


def test_a_word_is_found_in_any_of_its_forms():
    assert terms("Painted paintings") == terms("painting, PAINTS!")
    assert terms("She went") == terms("she goes") == ["go"]


def test_stop_words_are_removed():
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


def test_a_dictionary_of_words_replaces_pairs():
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


def test_encoded_data_gives_no_overlong_term():
    for text in ("Zm9v" * 10_000 + "_" + "a" * 500, "a_b" * 9_999):
        assert all(len(term) <= LONGEST for term in terms(text))


@given(st.text(max_size=200))
def test_a_term_can_stand_in_a_column_that_is_split_at_blanks(text):
    cut = terms(text)
    assert " ".join(cut).split() == cut
    assert all(term and '"' not in term and len(term) <= LONGEST for term in cut)
    assert terms(text) == cut


@given(st.text(max_size=200))
def test_cached_terms_equal_those_of_the_index(text: str):
    assert list(cut_terms(text)) == terms(text)
    assert term_set(text) == frozenset(terms(text))


def test_only_short_texts_are_cached():
    short, long = "billing port", "billing " * LONGEST_REMEMBERED
    assert cut_terms(short) is cut_terms("".join(short))
    assert cut_terms(long) == cut_terms(long)
    assert cut_terms(long) is not cut_terms(long)


# Pairs of the algorithm's own vocabulary (snowballstem.org/algorithms/english).
PAIRS = {
    "consign": "consign", "consigned": "consign", "consignment": "consign",
    "consistency": "consist", "consolations": "consol", "conspicuous": "conspicu",
    "constables": "constabl", "knackeries": "knackeri", "knavish": "knavish",
    "kneeling": "kneel", "knightly": "knight", "happily": "happili", "generously": "generous",
    "communism": "communism", "national": "nation", "rationalize": "ration",
    "hopping": "hop", "hoped": "hope", "hoping": "hope", "cries": "cri", "ties": "tie",
    "gas": "gas", "gaps": "gap", "kiwis": "kiwi", "exceeds": "exceed", "luxuriated": "luxuri",
    "dying": "die", "skies": "sky", "news": "news", "relational": "relat", "goodness": "good",
}  # fmt: skip


@pytest.mark.parametrize(("word", "expected"), PAIRS.items())
def test_the_algorithm_is_the_published_one(word, expected):
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("form", "word"),
    [
        ("went", "go"),
        ("children", "child"),
        ("bought", "buying"),
        ("mum", "mother"),
        ("ran", "runs"),
    ],
)
def test_irregular_forms_have_the_stem_of_their_word(form, word):
    assert stem(form) == stem(word)


@pytest.mark.parametrize("word", ["", "a", "py", "42", "v2", "naïve", "数据"])
def test_text_that_is_not_an_english_word_is_not_stemmed(word):
    assert stem(word) == word


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=40))
def test_a_stem_is_never_empty_and_never_longer_by_more_than_one_letter(word):
    assert bool(stem(word)) == bool(word)
    assert len(stem(word)) <= max(len(word) + 1, 11)


counts = st.integers(0, 10_000)


@given(counts, counts)
def test_a_rarer_term_weighs_more_and_no_weight_is_negative(held: int, whole: int):
    for measure in (rarity, flat_rarity):
        assert measure(held, whole) > measure(held + 1, whole + 0) >= 0
    assert flat_rarity(0, whole) <= flat_rarity(0, whole + 1)


def test_repeating_a_term_counts_less_and_less_and_long_texts_discount_it():
    assert worth(2, discount(10, 10)) > worth(1, discount(10, 10)) > worth(1, discount(30, 10))
    assert worth(3) - worth(2) < worth(2) - worth(1)
    assert worth(10_000) < 2


@given(st.frozensets(st.text(max_size=3)), st.frozensets(st.text(max_size=3)))
def test_overlap_is_a_share_and_does_not_depend_on_the_order(
    one: frozenset[str], other: frozenset[str]
):
    assert 0 <= overlap(one, other) == overlap(other, one) <= 1
    assert overlap(one, one) == float(bool(one))
