from __future__ import annotations

from foldline.formats.weaving import weave

BEFORE = ["s0", "m1", "s2", "m3", "s4", "m5", "s6"]
SILENT = [0, 2, 4, 6]


def test_nothing_changed_gives_the_same_entries() -> None:
    after = [(1, ["m1"]), (3, ["m3"]), (5, ["m5"])]
    assert weave(BEFORE, SILENT, after) == BEFORE


def test_silent_entries_survive_every_message() -> None:
    assert weave(BEFORE, SILENT, []) == ["s0", "s2", "s4", "s6"]


def test_a_changed_message_stays_between_its_neighbours() -> None:
    after = [(1, ["m1"]), (3, ["x", "y"]), (5, ["m5"])]
    assert weave(BEFORE, SILENT, after) == ["s0", "m1", "s2", "x", "y", "s4", "m5", "s6"]


def test_a_new_message_comes_where_it_is_shown() -> None:
    after = [(1, ["m1"]), (None, ["new"]), (5, ["m5"])]
    assert weave(BEFORE, SILENT, after) == ["s0", "m1", "new", "s2", "s4", "m5", "s6"]


def test_messages_that_changed_places_do_not_repeat_what_stood_between() -> None:
    after = [(5, ["m5"]), (1, ["m1"]), (3, ["m3"])]
    assert weave(BEFORE, SILENT, after) == ["s0", "s2", "s4", "m5", "m1", "m3", "s6"]
