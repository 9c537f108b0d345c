from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foldline.context.cuts import LONGEST, cut, terms_in
from foldline.relevance.terms import terms


@given(st.text(max_size=200))
def test_a_text_is_cut_as_it_is_for_the_index(text: str):
    assert list(cut(text)) == terms(text)
    assert terms_in(text) == frozenset(terms(text))


def test_only_short_texts_are_remembered():
    short, long = "billing port", "billing " * LONGEST
    assert cut(short) is cut("".join(short))
    assert cut(long) == cut(long)
    assert cut(long) is not cut(long)
