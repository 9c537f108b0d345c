"""A diverse order of texts, with repetitions last."""

from foldline.retrieval import Document, Hit, Index, choose_diverse
from foldline.retrieval.documents import diverse

BOATS = {
    "1": "the blue boat sails at dawn",
    "2": "the blue boat sails at dawn today",
    "3": "a boat repair costs money",
}
LAUNCH, TEA = frozenset({"launch", "may"}), frozenset({"ann", "tea"})
TEXTS = [LAUNCH, LAUNCH, TEA]


def test_repetitions_come_after_new_texts():
    assert [at for at, _, _ in diverse([1.0, 0.9, 0.5], TEXTS, 0.5)] == [0, 2, 1]
    assert [at for at, _, _ in diverse([1.0, 0.9, 0.5], TEXTS, 1.0)] == [0, 1, 2]


def test_the_nearest_of_those_before_is_named():
    assert list(diverse([1.0, 0.9, 0.5], TEXTS, 0.5))[-1] == (1, 1.0, 0)
    assert list(diverse([], [], 0.5)) == []


def test_a_repeated_hit_is_chosen_after_new_ones():
    hits = Index(Document(name, text) for name, text in BOATS.items()).search("blue boat sails", 3)
    assert choose_diverse(hits, BOATS.__getitem__, 3, balance=1.0) == hits
    chosen = choose_diverse(hits, BOATS.__getitem__, 2, balance=0.3)
    assert [hit.id for hit in chosen] == [hits[0].id, "3"]


def test_nothing_is_chosen_from_no_hits_or_for_k_of_0():
    assert choose_diverse([], BOATS.__getitem__, 3) == []
    assert choose_diverse([Hit("1", 1.0, {}, (), 1.0)], BOATS.__getitem__, 0) == []
