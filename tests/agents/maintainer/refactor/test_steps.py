from __future__ import annotations

from itertools import product

import pytest

from foldline import InputError
from foldline.agents.maintainer.refactor.steps import MOVES, moved

EVENTS = ("begin", "edit", "check", "fail", "pass", "undo")


@pytest.mark.requirement("E3.3")
def test_a_step_ends_done_or_undone_and_nothing_else_moves_it():
    ways = {
        (state, event): moved(state, event)
        for state, event in product(MOVES, EVENTS)
        if event in MOVES[state]
    }
    assert {state for state in MOVES if not MOVES[state]} == {"done"}
    assert {before for (before, event) in ways if event == "undo"} == {"editing", "checking"}
    assert [before for (before, event) in ways if event == "pass"] == ["checking"]
    # From every state both ends can be reached.
    for state in set(MOVES) - {"done"}:
        reached = {state}
        for _ in MOVES:
            reached |= {after for (before, _), after in ways.items() if before in reached}
        assert {"done", "undone"} <= reached


@pytest.mark.parametrize(
    ("state", "event"),
    [("planned", "pass"), ("done", "undo"), ("editing", "pass"), ("undone", "edit")],
)
def test_what_does_not_happen_is_refused(state, event):
    with pytest.raises(InputError, match="cannot"):
        moved(state, event)
