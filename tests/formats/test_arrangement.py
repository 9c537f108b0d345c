from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foldline.formats.arrangement import (
    Arrangement,
    LineTree,
    Slot,
    arrange,
    merge_entries,
    relink,
)
from foldline.values.messages import Message, Text


def message(key: str) -> Message:
    return Message("user", (Text(key),), id=key)


PLACES = {"a": (1,), "b": (2, 4), "c": (3,), "d": (6,)}  # 0, 5 and 7 belong to no message


def arranged(order: str, start: int = 0) -> str:
    slots = arrange(range(8), PLACES, [message(key) for key in order], start).slots
    return "".join(slot.id if isinstance(slot, Message) else str(slot) for slot in slots)


def test_an_unchanged_conversation_leaves_every_line_in_place() -> None:
    assert arranged("abcd") == "01234567"


def test_lines_of_removed_messages_are_dropped_and_others_kept() -> None:
    assert arranged("acd") == "013567"
    assert arranged("") == "057"


def test_new_messages_are_placed_before_the_next_unmoved_one() -> None:
    assert arranged("axbcd") == "01x234567"
    assert arranged("xd") == "05x67"
    assert arranged("abcdxy") == "0123456xy7"
    assert arranged("x") == "05x7"


def test_only_the_fewest_messages_move() -> None:
    placed = [message(key) for key in "bcda"]
    arrangement = arrange(range(8), PLACES, placed)
    assert arrangement.moved == {1}
    assert arrangement.slots == (0, 2, 3, 4, 5, 6, 1, 7)


def test_nothing_new_is_placed_before_the_start() -> None:
    assert arranged("xabcd", start=3) == "012x34567"


def test_lines_removed_by_an_earlier_change_are_not_needed() -> None:
    slots: tuple[Slot, ...] = (0, 5, 7)
    assert arrange(slots, PLACES, [message("x"), message("d")]).slots[-1] == message("x")


@given(st.lists(st.sampled_from([*PLACES, "x", "y"]), unique=True))
def test_every_message_is_present_in_order(order: list[str]) -> None:
    slots = arrange(range(8), PLACES, [message(key) for key in order]).slots
    owners = {lines[0]: key for key, lines in PLACES.items()}
    found = [s.id if isinstance(s, Message) else owners.get(s) for s in slots]
    assert [key for key in found if key] == order
    assert [s for s in slots if s in (0, 5, 7)] == [0, 5, 7]


def tree(*parents: str | None) -> LineTree:
    """Return lines "0", "1", "2" and so on with these parents."""
    return LineTree.of([str(n) for n in range(len(parents))], parents)


CHAIN = tree(None, "0", "1", "2", "3")
NEW = Message("user", (), id="new")


def links(of: LineTree, slots: list[int | Message], moved: set[int] | None = None) -> list[str]:
    """Return the key and the parent of each slot after relinking."""
    arrangement = Arrangement(tuple(slots), frozenset(moved or ()))
    path = of.path(len(of.keys) - 1)
    changed = relink(of, arrangement, path, lambda message: message.id)
    out = []
    for position, slot in enumerate(slots):
        key = slot.id if isinstance(slot, Message) else of.keys[slot]
        parent = None if isinstance(slot, Message) else of.parents[slot]
        out.append(f"{key}<{changed.get(position, parent)}")
    return out


def test_a_path_leads_from_a_leaf_to_its_root() -> None:
    assert tree(None, "0", "0", "2").path(3) == {0, 2, 3}


def test_a_missing_parent_is_replaced_by_the_previous_line() -> None:
    assert tree(None, "0", "gone", "2").path(3) == {0, 1, 2, 3}
    assert tree("gone", "0").path(1) == {0, 1}


def test_a_cycle_ends_the_path() -> None:
    assert tree("2", "0", "1").path(2) == {0, 1, 2}
    assert links(tree("2", "0", "1"), [2]) == ["2<None"]


def test_nothing_changes_without_removals() -> None:
    assert relink(CHAIN, Arrangement((0, 1, 2, 3, 4)), CHAIN.path(4), lambda m: m.id) == {}


def test_children_of_removed_lines_are_attached_to_the_nearest_ancestor() -> None:
    assert links(CHAIN, [0, 3, 4]) == ["0<None", "3<0", "4<3"]
    assert links(CHAIN, [3, 4]) == ["3<None", "4<3"]
    assert links(tree(None, "0", "1", "1", "3"), [0, 2, 3, 4]) == ["0<None", "2<0", "3<0", "4<3"]


def test_a_new_line_is_on_the_path_to_the_root() -> None:
    assert links(CHAIN, [0, NEW, 3, 4]) == ["0<None", "new<0", "3<new", "4<3"]
    assert links(CHAIN, [NEW, 0, 1, 2, 3, 4])[:2] == ["new<None", "0<new"]
    assert links(CHAIN, [0, 1, 2, 3, 4, NEW])[-1] == "new<4"


def test_a_new_line_before_a_side_branch_waits_for_the_path() -> None:
    branched = tree(None, "0", "1", "1")
    assert links(branched, [0, 1, NEW, 2, 3]) == ["0<None", "1<0", "new<1", "2<1", "3<new"]


def test_a_moved_line_changes_its_place_in_the_chain() -> None:
    assert links(CHAIN, [0, 2, 3, 1, 4], {1}) == ["0<None", "2<0", "3<2", "1<3", "4<1"]


BEFORE = ["s0", "m1", "s2", "m3", "s4", "m5", "s6"]
SILENT = [0, 2, 4, 6]


def test_nothing_changed_gives_the_same_entries() -> None:
    after = [(1, ["m1"]), (3, ["m3"]), (5, ["m5"])]
    assert merge_entries(BEFORE, SILENT, after) == BEFORE


def test_silent_entries_survive_every_message() -> None:
    assert merge_entries(BEFORE, SILENT, []) == ["s0", "s2", "s4", "s6"]


def test_a_changed_message_stays_between_its_neighbours() -> None:
    after = [(1, ["m1"]), (3, ["x", "y"]), (5, ["m5"])]
    assert merge_entries(BEFORE, SILENT, after) == ["s0", "m1", "s2", "x", "y", "s4", "m5", "s6"]


def test_a_new_message_is_placed_at_its_position() -> None:
    after = [(1, ["m1"]), (None, ["new"]), (5, ["m5"])]
    assert merge_entries(BEFORE, SILENT, after) == ["s0", "m1", "new", "s2", "s4", "m5", "s6"]


def test_swapped_messages_do_not_repeat_entries_between_them() -> None:
    after = [(5, ["m5"]), (1, ["m1"]), (3, ["m3"])]
    assert merge_entries(BEFORE, SILENT, after) == ["s0", "s2", "s4", "m5", "m1", "m3", "s6"]
