"""Room that is left over is not wasted while a result that nobody has read yet is cut."""

import pytest
from tests.neutral import A, T, U, c, view

from foldline.core.asks import drive
from foldline.core.edits import Rewrite
from foldline.core.handles import handles
from foldline.core.strategy import Need
from foldline.strategies.summarize import Summarize

WORDS = "amount after balance before branch customer delta handle item later market of order"


def plain(number, lines):
    """Words that name nothing, so that no line of them is chosen for what it says."""
    words = WORDS.split()
    return "\n".join(
        " ".join(words[(number * 7 + line * 3 + word * word) % len(words)] for word in range(9))
        for line in range(lines)
    )


def told(unread):
    read = [m for n in range(12) for m in (A(c(f"r{n}")), T(f"r{n}", plain(n, 60)), A("Read."))]
    asked = A(*(c(f"u{n}") for n in range(unread)))
    return view(
        U("Compare them."), *read, asked, *(T(f"u{n}", plain(n, 14)) for n in range(unread))
    )


def cut(found, target):
    need = Need(target, target, target, handles(found.messages))
    plan = drive(Summarize().propose(found, need), lambda _: None)
    after = found.after(plan.edits)
    assert after.tokens <= target
    return [edit for edit in plan.edits if isinstance(edit, Rewrite)]


@pytest.mark.requirement("F66")
def test_unread_results_stay_whole_where_there_is_room_for_them():
    found = told(unread=5)
    assert cut(found, round(0.3 * found.tokens)) == []


def test_where_there_is_room_for_some_the_newest_stay_whole():
    found = told(unread=5)
    last = [message.id for message in found.messages[-5:]]
    room = sum(found.counts[-2:]) + 450
    short = [edit.message for edit in cut(found, room)]
    assert short == last[: len(short)]
    assert 0 < len(short) < 5
