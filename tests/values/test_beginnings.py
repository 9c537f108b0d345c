from operator import is_

import pytest

from foldline.values.beginnings import shared_length


@pytest.mark.parametrize(
    ("left", "right", "length"),
    [
        ("", "", 0),
        ("abc", "abd", 2),
        ("abc", "abcd", 3),
        ("abcb", "xbcb", 0),
        ([1, 2], (1, 2), 2),
        ([float("nan")], [float("nan")], 0),
    ],
)
def test_it_counts_up_to_the_first_difference(left, right, length):
    assert shared_length(left, right) == shared_length(right, left) == length


def test_an_item_is_equal_to_itself_whatever_it_says():
    item = float("nan")
    assert shared_length([item], [item]) == 1


def test_what_counts_as_the_same_is_up_to_the_caller():
    one, other = [1], [1]
    assert shared_length([one, one], [one, other], is_) == 1
    assert shared_length(["a", "b"], [1, 2], lambda word, number: ord(word) == number + 96) == 2
