"""Counting and scoring the terms of documents."""

from __future__ import annotations

from collections import Counter

import pytest

from foldline.retrieval.documents import Statistics
from foldline.retrieval.lexical import Postings, spread


def filled():
    postings = Postings()
    postings.add(0, ["a", "b", "a"])
    postings.add(1, ["b"])
    postings.add(2, ["c", "b"])
    return postings


def test_rare_terms_have_more_information():
    postings = filled()
    assert postings.information("a") > postings.information("b") > 0
    assert postings.information("nowhere") > postings.information("a")


def test_a_document_that_is_removed_leaves_nothing():
    postings = filled()
    postings.remove(0)
    assert (len(postings), postings.held("a"), postings.held("b")) == (2, 0, 2)
    assert postings.mean_length == 1.5


def test_reading_is_bounded_and_begins_with_the_rarest():
    postings = Postings()
    for number in range(100):
        postings.add(number, ["common", "rare"] if number == 50 else ["common"])
    says = {term: postings.information(term) for term in ("common", "rare")}
    assert len(postings.candidates(says, 1_000)) == 100
    few = postings.candidates(says, 10)
    assert 50 in few
    assert len(few) <= 11
    assert set(postings.candidates({"common": 1.0}, 5)) == {95, 96, 97, 98, 99}


def test_statistics_of_the_store_never_contradict_the_candidates():
    postings = Postings(Statistics(1_000, Counter().__getitem__, 5.0))
    postings.add(0, ["a"])
    assert postings.documents == 1_000
    assert postings.mean_length == 5.0
    assert postings.information("a") == pytest.approx(6.5, abs=0.2)


def test_the_spread_counts_those_without_a_score():
    assert spread({1: 1.0}, 4) == pytest.approx((0.25 * 0.75) ** 0.5)
    assert spread({}, 0) == 1.0
