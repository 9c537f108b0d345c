"""Not the same thing twice."""

from __future__ import annotations

from foldline.retrieval import Document, Hit, Index, choose_diverse

TEXTS = {
    "1": "the blue boat sails at dawn",
    "2": "the blue boat sails at dawn today",
    "3": "a boat repair costs money",
}


def test_what_says_the_same_comes_after_what_says_something_else():
    index = Index(Document(name, text) for name, text in TEXTS.items())
    hits = index.search("blue boat sails", 3)
    assert [hit.id for hit in choose_diverse(hits, TEXTS.get, 3, balance=1.0)] == [
        h.id for h in hits
    ]
    chosen = [hit.id for hit in choose_diverse(hits, TEXTS.get, 2, balance=0.3)]
    assert chosen[1] == "3"


def test_nothing_of_nothing():
    assert choose_diverse([], TEXTS.get, 3) == []
    assert choose_diverse([Hit("1", 1.0, {}, (), 1.0)], TEXTS.get, 0) == []
