"""Replaying a log reads only messages in view, and equals applying all edits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.session.logs import Kept, log_of, make_messages

from foldline.errors import StoreError
from foldline.session.log import replay_log
from foldline.values.edits import Drop, Fold, Insert, Move, Rewrite, apply
from foldline.values.messages import Message, Text

MESSAGES = make_messages(30)


@st.composite
def compactions(draw):
    """Generate steps as sessions make them: each edits the view of its time."""
    steps, at = [], 0
    while at < len(MESSAGES):
        at = min(len(MESSAGES), at + draw(st.integers(1, 12)))
        shown = apply(MESSAGES[:at], [edit for _, edits in steps for edit in edits])
        edits = []
        for _ in range(draw(st.integers(0, 3))):
            now = [message.id for message in apply(shown, edits)]
            if len(now) > 1:
                edits.append(draw(one_edit(now, f"{at}-{len(edits)}")))
        steps.append((at, tuple(edits)))
    return steps


def one_edit(ids, name):
    made = Message("user", (Text(f"made {name}"),), id=f"made-{name}")
    number = st.sampled_from(ids)
    several = st.lists(number, min_size=1, max_size=len(ids), unique=True).map(tuple)
    return st.one_of(
        several.map(lambda gone: Fold(gone, made)),
        several.map(lambda gone: Drop(gone, "window")),
        number.map(lambda one: Rewrite(one, 0, "shorter", "clear")),
        st.one_of(number, st.just("")).map(lambda after: Insert(after, made)),
        st.tuples(number, number).map(lambda pair: Move(*pair)),
    )


@given(compactions())
def test_a_replay_equals_applying_all_edits_to_the_whole_log(steps):
    kept = Kept(MESSAGES)

    shown = replay_log(log_of(kept=kept), steps)

    assert shown == apply(MESSAGES, [edit for _, edits in steps for edit in edits])
    there = {message.id for message in MESSAGES} & {message.id for message in shown}
    assert kept.reads == len(there)


def test_a_replay_without_edits_shows_everything():
    assert replay_log(log_of(MESSAGES), ()) == MESSAGES


def test_steps_that_cannot_be_read_are_a_damaged_session():
    kept = ["no number"]
    with pytest.raises(StoreError, match="ValueError") as caught:
        replay_log(log_of(MESSAGES), ((int(one), ()) for one in kept))
    assert caught.value.damaged
