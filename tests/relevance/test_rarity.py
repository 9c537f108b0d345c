from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foldline.relevance.rarity import discount, flat_rarity, overlap, rarity, worth

counts = st.integers(0, 10_000)


@given(counts, counts)
def test_a_rarer_term_says_more_and_none_says_less_than_nothing(held: int, whole: int):
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
