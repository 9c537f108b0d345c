from __future__ import annotations

from foldline.formats.arrangement import Arrangement
from foldline.formats.line_tree import LineTree, relinked
from foldline.values.messages import Message


def tree(*parents: str | None) -> LineTree:
    """Lines "0", "1", "2" and so on with these parents."""
    return LineTree.of([str(n) for n in range(len(parents))], parents)


CHAIN = tree(None, "0", "1", "2", "3")
NEW = Message("user", (), id="new")


def links(of: LineTree, slots: list[int | Message], moved: set[int] | None = None) -> list[str]:
    """What each slot is called and what its parent is, after relinking."""
    arrangement = Arrangement(tuple(slots), frozenset(moved or ()))
    path = of.path(len(of.keys) - 1)
    changed = relinked(of, arrangement, path, lambda message: message.id)
    out = []
    for position, slot in enumerate(slots):
        key = slot.id if isinstance(slot, Message) else of.keys[slot]
        parent = None if isinstance(slot, Message) else of.parents[slot]
        out.append(f"{key}<{changed.get(position, parent)}")
    return out


def test_a_path_leads_from_a_leaf_to_its_root() -> None:
    assert tree(None, "0", "0", "2").path(3) == {0, 2, 3}


def test_a_missing_parent_is_the_line_before() -> None:
    assert tree(None, "0", "gone", "2").path(3) == {0, 1, 2, 3}
    assert tree("gone", "0").path(1) == {0, 1}


def test_a_circle_ends() -> None:
    assert tree("2", "0", "1").path(2) == {0, 1, 2}
    assert links(tree("2", "0", "1"), [2]) == ["2<None"]


def test_nothing_changes_where_nothing_is_gone() -> None:
    assert relinked(CHAIN, Arrangement((0, 1, 2, 3, 4)), CHAIN.path(4), lambda m: m.id) == {}


def test_children_of_lines_that_are_gone_hang_on_what_is_left() -> None:
    assert links(CHAIN, [0, 3, 4]) == ["0<None", "3<0", "4<3"]
    assert links(CHAIN, [3, 4]) == ["3<None", "4<3"]
    assert links(tree(None, "0", "1", "1", "3"), [0, 2, 3, 4]) == ["0<None", "2<0", "3<0", "4<3"]


def test_a_new_line_is_met_by_who_walks_up() -> None:
    assert links(CHAIN, [0, NEW, 3, 4]) == ["0<None", "new<0", "3<new", "4<3"]
    assert links(CHAIN, [NEW, 0, 1, 2, 3, 4])[:2] == ["new<None", "0<new"]
    assert links(CHAIN, [0, 1, 2, 3, 4, NEW])[-1] == "new<4"


def test_a_new_line_before_a_side_branch_waits_for_the_path() -> None:
    branched = tree(None, "0", "1", "1")
    assert links(branched, [0, 1, NEW, 2, 3]) == ["0<None", "1<0", "new<1", "2<1", "3<new"]


def test_a_moved_line_changes_its_place_in_the_chain() -> None:
    assert links(CHAIN, [0, 2, 3, 1, 4], {1}) == ["0<None", "2<0", "3<2", "1<3", "4<1"]
