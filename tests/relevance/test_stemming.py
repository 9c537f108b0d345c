"""English forms meet in one stem."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.relevance.stemming import stem

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
def test_forms_that_no_rule_knows_meet_their_word(form, word):
    assert stem(form) == stem(word)


@pytest.mark.parametrize("word", ["", "a", "py", "42", "v2", "naïve", "数据"])
def test_what_is_no_english_word_stays_as_it_is(word):
    assert stem(word) == word


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=40))
def test_a_stem_is_never_empty_and_never_longer_by_more_than_one_letter(word):
    assert bool(stem(word)) == bool(word)
    assert len(stem(word)) <= max(len(word) + 1, 11)
