"""None"""

from __future__ import annotations

from itertools import product

import pytest

from foldline import InputError, StoreError
from foldline.agents.maintainer.step_log import MOVES, StepLog, next_state

EVENTS = ("begin", "edit", "check", "fail", "pass", "undo")


@pytest.mark.requirement("E3.3")
def test_a_step_ends_done_or_undone_and_nothing_else_moves_it():
    ways = {
        (state, event): next_state(state, event)
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
def test_an_impossible_event_is_refused(state, event):
    with pytest.raises(InputError, match="cannot"):
        next_state(state, event)


@pytest.mark.requirement("E3.3", "E4.2")
def test_the_state_after_a_restart_is_the_state_before(tmp_path):
    log = StepLog(tmp_path / "log")
    log.add("a", "begin", checkpoint="c0ffee")
    log.add("a", "edit", path="x.py", hash="1")
    log.add("a", "check")
    log.add("a", "fail", told="no", files={"x.py": "2"})
    log.add("b", "begin", checkpoint="c0ffee")
    again = StepLog(tmp_path / "log")
    assert again.all == log.all
    assert (again.of("a").state, again.of("a").failures) == ("editing", 1)
    assert dict(again.of("a").files) == {"x.py": "2"}
    assert again.of("never").state == "planned"


def test_an_impossible_event_is_not_logged(tmp_path):
    log = StepLog(tmp_path / "log")
    with pytest.raises(InputError):
        log.add("a", "pass", commit="c")
    assert not (tmp_path / "log").exists()


@pytest.mark.requirement("E4.2")
def test_half_a_line_and_lines_of_others_are_passed_over(tmp_path):
    log = StepLog(tmp_path / "log")
    log.add("a", "begin", checkpoint="c")
    with (tmp_path / "log").open("ab") as file:
        file.write(b'[1]\n{"step": "a", "event": "sing", "data": {}}\n{"step": "a", "ev')
    assert StepLog(tmp_path / "log").of("a").state == "editing"


def test_a_log_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(StoreError):
        StepLog(tmp_path)


def test_a_log_that_is_a_link_is_not_written_through(tmp_path):
    (tmp_path / "file").write_text("of somebody else")
    (tmp_path / "log").symlink_to(tmp_path / "file")
    log = StepLog(tmp_path / "log")
    with pytest.raises(StoreError, match="cannot be written"):
        log.add("a", "begin", checkpoint="c")
    assert (tmp_path / "file").read_text() == "of somebody else"
    assert log.of("a").state == "planned"


def test_a_log_that_is_too_large_is_kept_for_undoing_steps(tmp_path):
    with (tmp_path / "log").open("wb") as file:
        file.truncate((64 << 20) + 1)
    with pytest.raises(StoreError, match="keep it"):
        StepLog(tmp_path / "log")
