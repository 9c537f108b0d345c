from __future__ import annotations

from datetime import UTC, datetime

import pytest

from foldline.notes.fields import card_of, changes, fields_of
from foldline.notes.problems import BrokenNote
from foldline.notes.ulid import UlidMaker

BOOK = {
    "id": "note_20250119_153000_0",
    "title": "项目进展 - 第一阶段",
    "type": "task_state",
    "tags": ["refactoring", "phase1"],
    "created_at": "2025-01-19T15:30:00",
    "updated_at": "2025-01-19T15:30:00",
}


def test_a_note_with_the_fields_of_the_book_is_read() -> None:
    card = card_of(BOOK)
    assert card.created_at == datetime(2025, 1, 19, 15, 30, tzinfo=UTC)
    assert (card.type, card.level, card.version) == ("task_state", "task", 1)


def test_what_is_read_is_written_again() -> None:
    fields = fields_of(card_of(BOOK))
    again = {name: str(v) if isinstance(v, int) else v for name, v in fields.items()}
    assert card_of(again) == card_of(BOOK)


def test_what_a_person_typed_is_read_kindly() -> None:
    card = card_of({"id": "a", "type": " Blocker ", "tags": "one, two,one,", "mine": ["x"]})
    assert (card.title, card.type, card.tags) == ("a", "blocker", ("one", "two"))
    assert card.extra == {"mine": ["x"]}


def test_a_ulid_tells_when_a_note_was_made() -> None:
    card = card_of({"id": UlidMaker(lambda: 1_000.0)()})
    assert card.created_at.timestamp() == card.updated_at.timestamp() == 1_000.0


def test_only_what_differs_is_a_change() -> None:
    before = card_of(BOOK | {"outcome": "x"})
    assert changes(before, before) == {}
    after = card_of(BOOK | {"tags": []})
    assert changes(before, after) == {"tags": [], "outcome": None}


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("id", "", "no id"),
        ("id", "../x", "no id"),
        ("id", ["a"], "id is no text"),
        ("type", "idea", "not one of task_state"),
        ("tags", {"a": "b"}, "tags is no list"),
        ("tags", [["a"]], "tags is no list"),
        ("version", "-1", "version is no number"),
        ("version", "9" * 5_000, "version is no number"),
        ("created_at", "yesterday", "created_at is no date"),
        ("updated_at", "0001-01-01T00:00:00+23:59", "updated_at is no date"),
        ("status", "soon", "not one of pending"),
    ],
)
def test_a_field_that_makes_no_sense_is_named(field: str, value: object, why: str) -> None:
    with pytest.raises(BrokenNote, match=why):
        card_of(BOOK | {field: value})
