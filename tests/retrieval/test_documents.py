"""An order of texts in which what repeats another comes late."""

from foldline.retrieval.documents import diverse

LAUNCH, TEA = frozenset({"launch", "may"}), frozenset({"ann", "tea"})
TEXTS = [LAUNCH, LAUNCH, TEA]


def test_what_repeats_another_comes_after_what_is_new():
    assert [at for at, _, _ in diverse([1.0, 0.9, 0.5], TEXTS, 0.5)] == [0, 2, 1]
    assert [at for at, _, _ in diverse([1.0, 0.9, 0.5], TEXTS, 1.0)] == [0, 1, 2]


def test_the_nearest_of_those_before_is_named():
    assert list(diverse([1.0, 0.9, 0.5], TEXTS, 0.5))[-1] == (1, 1.0, 0)
    assert list(diverse([], [], 0.5)) == []
