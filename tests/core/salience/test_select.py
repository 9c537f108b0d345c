from collections import defaultdict
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.salience.select import LINE_TOKENS, POOL, SHORT, Offer, candidates, select
from foldline.core.salience.windows import RESTRICTS, SHARE, WORD

VALUES = {"a_a": 0.9, "b_b": 0.5, "c_c": 0.1}
LONG = "well so then the a_a was kept in there and that was about all of it today"


def offer(*texts, passage=0, per_char=1.0, **rest):
    return Offer(passage, passage, texts, per_char, **rest)


def apart(*texts, **rest):
    """Offer every text as a passage of its own."""
    return [offer(text, passage=number, **rest) for number, text in enumerate(texts)]


def offered(*texts, **rest):
    return candidates(apart(*texts, **rest), VALUES)


def chosen(found, budget, **rest):
    return [candidate.text for candidate in select(found, VALUES, budget, **rest)]


def test_lines_without_any_value_are_not_offered():
    assert offered("nothing here") == []
    assert len(offered("nothing here", worth=(1.0, 0.1))) == 1


def test_of_lines_with_the_same_text_that_of_the_first_offer_is_offered():
    (candidate,) = offered("a_a", "a_a")
    assert candidate.passage == 0


def test_of_a_line_that_an_offer_repeats_what_is_worth_the_most_counts():
    marked = {0: (1.0, 10.0), 2: (3.0, 0.1)}
    (candidate,) = candidates([offer("a_a", "a_a", "a_a", "a_a", marked=marked)], VALUES)
    assert (candidate.number, candidate.base) == (0, 10.0)


def test_a_marked_line_has_a_worth_of_its_own():
    first, second = candidates(
        [offer("b_b one", "b_b two", worth=(2.0, 0.0), marked={1: (1.0, 5.0)})], VALUES
    )
    assert (first.text, first.weight, first.base) == ("b_b two", 1.0, 5.0)
    assert (second.text, second.weight, second.base) == ("b_b one", 2.0, 0.0)


def test_of_very_many_lines_those_that_offer_most_a_token_are_kept_to_choose_from():
    lines = [f"b_b {n:03}" for n in range(500)]
    found = candidates([offer(*lines, "a_a")], VALUES, budget=20)
    assert found[0].text == "a_a"
    assert sum(candidate.cost for candidate in found) <= POOL * 20
    assert len(candidates([offer(*lines)], VALUES)) == 500


@pytest.mark.parametrize("parts", [False, True])
def test_a_line_that_is_too_long_does_not_drive_the_others_out(parts):
    values = {f"a_{n}": 0.9 for n in range(300)} | {"b_b": 0.1}
    lines = [f"b_b {n}" for n in range(50)]
    offers = [offer(*lines, " ".join(f"a_{n}" for n in range(300)), per_char=0.25, parts=parts)]
    found = candidates(offers, values, budget=20)
    assert any(candidate.text.startswith("b_b") for candidate in found)
    assert select(found, values, 20)


@pytest.mark.parametrize("budget", [-inf, -1, 0])
def test_nothing_is_chosen_where_there_is_no_room(budget):
    assert select(candidates(apart("a_a", "b_b"), VALUES, budget), VALUES, budget) == []


def test_the_most_valuable_lines_come_first():
    assert chosen(offered("c_c", "a_a", "b_b"), 100) == ["a_a", "b_b", "c_c"]


def test_what_is_covered_once_is_not_paid_for_twice():
    assert chosen(offered("a_a", "a_a b_b", "a_a again"), 100) == ["a_a", "a_a b_b"]
    assert chosen(offered("a_a", "b_b"), 100, covered=["a_a"]) == ["b_b"]


def test_opening_a_group_costs_extra_once():
    room = 2 * (3 + LINE_TOKENS) + 50
    same = candidates([offer("a_a", "b_b", passage=7)], VALUES)
    assert len(chosen(same, room, opening=50.0)) == 2
    assert len(chosen(offered("a_a", "b_b"), room, opening=50.0)) == 1


def test_a_line_that_leads_is_counted_exactly():
    assert chosen(offered("a_a"), 10, exact=lambda _: 1_000) == []
    assert chosen(offered("a_a"), 10, exact=lambda _: 1) == ["a_a"]


# --- parts of lines -----------------------------------------------------------------------


def test_a_part_stands_for_a_long_line_where_that_is_allowed():
    (part,) = chosen(offered(LONG, parts=True), 100)
    assert part in LONG
    assert "a_a" in part
    assert len(part) < len(LONG)
    assert chosen(offered(LONG), 100) == [LONG]


def test_a_line_that_is_named_stays_whole():
    assert chosen(offered(LONG, parts=True, whole=frozenset({0})), 100) == [LONG]


def test_a_short_line_stays_whole():
    line = "some words and the a_a with more words"
    assert len(line) <= SHORT
    assert chosen(offered(line, parts=True), 100) == [line]


@pytest.mark.parametrize(
    "word", ["not", "never", "Only", "doesn't", "doesn\u2019t", "unless", "不"]
)
def test_a_line_that_restricts_is_never_cut(word):
    line = f"{LONG} and {word} b_b"
    assert chosen(offered(line, parts=True), 1_000) == [line]
    assert chosen(offered(line, parts=True), len(line) / 2) == []


def test_more_of_a_line_may_follow_its_first_part():
    filler = "so it went on and on for quite a while " * 3
    line = f"a_a {filler}b_b"
    parts = select(offered(line, parts=True), VALUES, 1_000)
    assert {item for part in parts for item in part.items} == {"a_a", "b_b"}
    assert all(line[part.start :].startswith(part.text) for part in parts)


WORDS = [
    "a_a",
    "b_b",
    "c_c",
    "the",
    "cache",
    "of",
    "never",
    "12,000",
    "汉字",
    "\ud800",
    "😀",
    "x" * 30,
]
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join), max_size=20
)
BUDGETS = st.floats(0, 200, allow_nan=False)


def made(texts, parts):
    """Offer texts as the lines of a passage; anew every time."""
    return candidates([offer(*texts, per_char=0.25, parts=parts, worth=(1.0, 0.01))], VALUES)


@given(TEXTS, BUDGETS, st.booleans(), st.sampled_from([0.0, 5.0]))
def test_the_budget_is_never_passed(texts, budget, parts, opening):
    taken = select(made(texts, parts), VALUES, budget, opening=opening)
    assert sum(part.cost for part in taken) + (opening if taken else 0) <= budget


@given(TEXTS, BUDGETS)
def test_the_budget_is_never_passed_by_what_is_counted(texts, budget):
    taken = select(made(texts, parts=False), VALUES, budget, exact=len)
    assert sum(len(part.text) for part in taken) <= budget


@given(TEXTS, BUDGETS)
def test_what_is_chosen_is_verbatim_and_enough_of_its_line(texts, budget):
    beside = defaultdict(set)
    for part in select(made(texts, parts=True), VALUES, budget):
        line = texts[part.number]
        assert line[part.start : part.start + len(part.text)] == part.text
        words, told = set(WORD.findall(line)), set(WORD.findall(part.text))
        if part.text != line:
            assert len(line) > SHORT
            assert not RESTRICTS.search(line)
            assert len(words & (told | beside[part.row])) >= SHARE * len(words)
        if part.parts:
            beside[part.row] |= told


@given(TEXTS, BUDGETS, st.booleans())
def test_the_same_lines_are_chosen_again(texts, budget, parts):
    first, second = (select(made(texts, parts), VALUES, budget) for _ in range(2))
    assert [(part.place, part.text) for part in first] == [
        (part.place, part.text) for part in second
    ]


@pytest.mark.parametrize(
    "text", ["", "a" * 1_000_000, "汉" * 300_000, "\ud800 a_a", "a_a " * 5_000]
)
@pytest.mark.parametrize("parts", [False, True])
def test_no_text_is_an_error(text, parts):
    found = candidates([offer(text, parts=parts, worth=(1.0, 0.1))], VALUES)
    for part in select(found, VALUES, 1_000, exact=len):
        assert part.text in text
