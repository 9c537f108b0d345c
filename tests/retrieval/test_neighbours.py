"""Neighbours of documents in their groups."""

from hypothesis import given
from hypothesis import strategies as st

from foldline.retrieval.lexical import AFTER, BEFORE, Neighbours


def test_a_window_has_those_before_and_after_in_the_same_group():
    seats = Neighbours()
    for number in range(10):
        seats.add(number, "g", float(number))
    seats.add(99, "other", 5.0)
    seats.add(100, "", 0.0)
    assert seats.window(5) == [2, 3, 4, 5, 6, 7]
    assert seats.window(0) == [0, 1, 2]
    assert seats.window(99) == [99]
    assert seats.window(100) == [100]


@given(st.lists(st.tuples(st.sampled_from(["", "a", "b"]), st.integers(0, 9)), max_size=20))
def test_windows_is_the_other_way_round_and_the_mean_is_exact(places):
    seats = Neighbours()
    for number, (group, place) in enumerate(places):
        seats.add(number, group, float(place))
    everybody = range(len(places))
    for one in everybody:
        assert seats.seen_with(one) == [other for other in sorted(
            everybody, key=lambda n: (places[n][1], n)) if one in seats.window(other)]  # fmt: skip
        assert len(seats.window(one)) <= BEFORE + 1 + AFTER
    if places:
        mean = sum(len(seats.window(one)) for one in everybody) / len(places)
        assert abs(seats.mean_size(len(places)) - mean) < 1e-9
    for one in everybody:
        seats.remove(one)
    assert seats.mean_size(1) == 1
