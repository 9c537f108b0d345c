from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foldline.formats.arrangement import Slot, arranged
from foldline.values.messages import Message, Text


def message(key: str) -> Message:
    return Message("user", (Text(key),), id=key)


PLACES = {"a": (1,), "b": (2, 4), "c": (3,), "d": (6,)}  # 0, 5 and 7 belong to nobody


def shown(order: str, start: int = 0) -> str:
    slots = arranged(range(8), PLACES, [message(key) for key in order], start).slots
    return "".join(slot.id if isinstance(slot, Message) else str(slot) for slot in slots)


def test_an_unchanged_conversation_leaves_every_line_in_place() -> None:
    assert shown("abcd") == "01234567"


def test_lines_of_messages_that_were_left_out_go_and_all_others_stay() -> None:
    assert shown("acd") == "013567"
    assert shown("") == "057"


def test_new_messages_stand_before_the_next_one_that_stays() -> None:
    assert shown("axbcd") == "01x234567"
    assert shown("xd") == "05x67"
    assert shown("abcdxy") == "0123456xy7"
    assert shown("x") == "05x7"


def test_only_the_fewest_messages_move() -> None:
    placed = [message(key) for key in "bcda"]
    arrangement = arranged(range(8), PLACES, placed)
    assert arrangement.moved == {1}
    assert arrangement.slots == (0, 2, 3, 4, 5, 6, 1, 7)


def test_nothing_new_stands_before_the_start() -> None:
    assert shown("xabcd", start=3) == "012x34567"


def test_lines_that_an_earlier_change_took_are_not_needed() -> None:
    slots: tuple[Slot, ...] = (0, 5, 7)
    assert arranged(slots, PLACES, [message("x"), message("d")]).slots[-1] == message("x")


@given(st.lists(st.sampled_from([*PLACES, "x", "y"]), unique=True))
def test_every_message_is_there_in_its_order(order: list[str]) -> None:
    slots = arranged(range(8), PLACES, [message(key) for key in order]).slots
    owners = {lines[0]: key for key, lines in PLACES.items()}
    found = [s.id if isinstance(s, Message) else owners.get(s) for s in slots]
    assert [key for key in found if key] == order
    assert [s for s in slots if s in (0, 5, 7)] == [0, 5, 7]
