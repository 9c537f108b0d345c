from __future__ import annotations

from typing import get_args

import pytest

from foldline.context.prompt_rules import (
    CONCRETE,
    CONDITION,
    EXAMPLES,
    HARD_LITERAL,
    OPPOSITES,
    SENTENCE,
    VAGUE,
    Rule,
)


@pytest.mark.requirement("E1.3")
def test_every_rule_says_why_and_what_to_write_instead():
    assert set(EXAMPLES) == set(get_args(Rule))
    assert all(len(why) > 20 and len(instead) > 20 for why, instead in EXAMPLES.values())


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Use app.py and 1.5 seconds.", 1),
        ("一句。两句!三句?", 3),
        ("", 0),
    ],
)
def test_sentences_are_cut_where_they_end(text: str, count: int):
    assert len(SENTENCE.findall(text)) == count


def test_ordinary_words_are_no_findings():
    for text in ("Verify the difference", "as soon as possible", "the etching", "10.5 percent"):
        assert not CONDITION.search(text)
        assert not VAGUE.search(text)
        assert not HARD_LITERAL.search(text)
    assert CONCRETE.search("for example a list")


def test_the_sides_of_a_pair_are_never_the_same():
    for left, right in OPPOSITES:
        assert left.pattern != right.pattern
