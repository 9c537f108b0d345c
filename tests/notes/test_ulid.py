from __future__ import annotations

import pytest

from foldline.notes.ulid import ALPHABET, LENGTH, UlidMaker, encoded, milliseconds


def test_ids_of_one_maker_grow_even_when_the_clock_stands_or_goes_back() -> None:
    times = iter([5.0, 5.0, 5.0, 3.0, 1.0, 6.0])
    make = UlidMaker(lambda: next(times))
    made = [make() for _ in range(6)]
    assert made == sorted(set(made))
    assert all(len(one) == LENGTH and set(one) <= set(ALPHABET) for one in made)


@pytest.mark.requirement("T6")
def test_ids_of_two_makers_do_not_collide_in_the_same_moment() -> None:
    one, other = UlidMaker(lambda: 1_000.0), UlidMaker(lambda: 1_000.0)
    made = [make() for _ in range(5_000) for make in (one, other)]
    assert len(set(made)) == len(made)


def test_the_time_of_an_id_is_read_back() -> None:
    assert milliseconds(UlidMaker(lambda: 1_737_300_600.123)()) == 1_737_300_600_123
    assert milliseconds("01ARZ3NDEKTSV4RRFFQ69G5FAV") == 1_469_922_850_259  # of the specification


@pytest.mark.parametrize("wrong", ["", "note_1", "8" + "Z" * 25, "0" * 25 + "U", "0" * 27])
def test_what_is_no_ulid_has_no_time(wrong: str) -> None:
    assert milliseconds(wrong) is None


def test_the_largest_number_fits() -> None:
    assert encoded((1 << 128) - 1) == "7" + "Z" * 25
