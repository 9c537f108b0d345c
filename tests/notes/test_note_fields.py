from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.errors import InputError
from foldline.notes.note import BrokenNote
from foldline.notes.note_fields import (
    ALPHABET,
    LENGTH,
    LONGEST_TITLE,
    UlidMaker,
    changed_fields,
    check_title,
    encode_ulid,
    file_name,
    to_fields,
    to_metadata,
    ulid_milliseconds,
)

BOOK = {
    "id": "note_20250119_153000_0",
    "title": "项目进展 - 第一阶段",
    "type": "task_state",
    "tags": ["refactoring", "phase1"],
    "created_at": "2025-01-19T15:30:00",
    "updated_at": "2025-01-19T15:30:00",
}


def test_a_note_with_the_reference_fields_is_read() -> None:
    card = to_metadata(BOOK)
    assert card.created_at == datetime(2025, 1, 19, 15, 30, tzinfo=UTC)
    assert (card.type, card.level, card.version) == ("task_state", "task", 1)


def test_a_note_survives_a_round_trip() -> None:
    fields = to_fields(to_metadata(BOOK))
    again = {name: str(v) if isinstance(v, int) else v for name, v in fields.items()}
    assert to_metadata(again) == to_metadata(BOOK)


def test_hand_typed_fields_are_read_leniently() -> None:
    card = to_metadata({"id": "a", "type": " Blocker ", "tags": "one, two,one,", "mine": ["x"]})
    assert (card.title, card.type, card.tags) == ("a", "blocker", ("one", "two"))
    assert card.extra == {"mine": ["x"]}


def test_a_ulid_holds_the_creation_time() -> None:
    card = to_metadata({"id": UlidMaker(lambda: 1_000.0)()})
    assert card.created_at.timestamp() == card.updated_at.timestamp() == 1_000.0


def test_only_different_fields_are_changes() -> None:
    before = to_metadata(BOOK | {"outcome": "x"})
    assert changed_fields(before, before) == {}
    after = to_metadata(BOOK | {"tags": []})
    assert changed_fields(before, after) == {"tags": [], "outcome": None}


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("id", "", "no valid id"),
        ("id", "../x", "no valid id"),
        ("id", ["a"], "id is not text"),
        ("type", "idea", "not one of task_state"),
        ("tags", {"a": "b"}, "tags is not a list"),
        ("tags", [["a"]], "tags is not a list"),
        ("version", "-1", "version is not a number"),
        ("version", "9" * 5_000, "version is not a number"),
        ("created_at", "yesterday", "created_at is not a date"),
        ("updated_at", "0001-01-01T00:00:00+23:59", "updated_at is not a date"),
        ("status", "soon", "not one of pending"),
    ],
)
def test_an_invalid_field_is_named(field: str, value: object, why: str) -> None:
    with pytest.raises(BrokenNote, match=why):
        to_metadata(BOOK | {field: value})


DAY = datetime(2025, 1, 19, tzinfo=UTC)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Fix the Login!", "2025-01-19-fix-the-login-X1.md"),
        ("重构项目 - 第一阶段", "2025-01-19-重构项目-第一阶段-X1.md"),
        ("../../etc/passwd", "2025-01-19-etc-passwd-X1.md"),
        ("🚀🚀", "2025-01-19-X1.md"),
        ("a" * 10_000, f"2025-01-19-{'a' * 80}-X1.md"),
    ],
)
def test_a_file_name_is_readable_and_safe(title: str, name: str) -> None:
    assert file_name(DAY, title, "X1") == name


@pytest.mark.requirement("T6")
@given(st.text(max_size=400))
def test_any_title_is_one_printable_line_and_makes_a_plain_file_name(text: str) -> None:
    try:
        title = check_title(text)
    except InputError:
        return
    assert title
    assert title == " ".join(title.split())
    assert not any(letter < " " or "\ud800" <= letter <= "\udfff" for letter in title)
    name = file_name(DAY, title, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert len(name.encode()) < 255
    assert not set(name) & set('/\\\0:*?"<>|')
    assert name.endswith(".md")
    assert not name.startswith(".")


def test_a_title_is_kept_whole_up_to_its_limit() -> None:
    assert check_title("好" * LONGEST_TITLE) == "好" * LONGEST_TITLE
    with pytest.raises(InputError, match="16,385 characters"):
        check_title("好" * (LONGEST_TITLE + 1))


@pytest.mark.parametrize("empty", ["", " \n\t", "\x00\x1b", "\u202e"])
def test_an_empty_title_is_refused(empty: str) -> None:
    with pytest.raises(InputError, match="title"):
        check_title(empty)


def test_ids_of_one_maker_grow_even_if_the_clock_stops_or_goes_back() -> None:
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
    assert ulid_milliseconds(UlidMaker(lambda: 1_737_300_600.123)()) == 1_737_300_600_123
    assert (
        ulid_milliseconds("01ARZ3NDEKTSV4RRFFQ69G5FAV") == 1_469_922_850_259
    )  # of the specification


@pytest.mark.parametrize("wrong", ["", "note_1", "8" + "Z" * 25, "0" * 25 + "U", "0" * 27])
def test_an_invalid_ulid_has_no_time(wrong: str) -> None:
    assert ulid_milliseconds(wrong) is None


def test_the_largest_number_fits() -> None:
    assert encode_ulid((1 << 128) - 1) == "7" + "Z" * 25
