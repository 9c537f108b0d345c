"""The view after a compaction is stored with it: opening equals replaying everything."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.session.logs import Kept, log_of, make_messages, pinned
from tests.session.test_replaying import MESSAGES, compactions

from foldline import Session
from foldline.session.checkpoint import EVERY, checkpoint_of, restore_checkpoint
from foldline.session.log import replay_log
from foldline.stores.blobs import pack, unpack
from foldline.stores.opening import open_store
from foldline.stores.protocol import StoredCheckpoint


@given(compactions(), st.data())
def test_replaying_from_any_checkpoint_equals_replaying_everything(steps, data):
    cut = data.draw(st.integers(0, len(steps) - 1))
    at = steps[cut][0]
    written = log_of(kept=Kept(MESSAGES[:at]))
    made = checkpoint_of(written, replay_log(written, steps[: cut + 1]), cut)
    stored = replace(made, content=unpack(pack(made.content)))

    log = log_of(kept=Kept(MESSAGES))
    shown = replay_log(log, steps[cut + 1 :], restore_checkpoint(log, stored))

    whole = replay_log(log_of(kept=Kept(MESSAGES)), steps)
    assert shown == whole
    assert [(m.id, m.raw, m.intact, m.origin) for m in shown] == [
        (m.id, m.raw, m.intact, m.origin) for m in whole
    ]


def test_messages_pinned_after_a_checkpoint_are_pinned():
    log = log_of(kept=Kept(MESSAGES))
    made = checkpoint_of(log, MESSAGES[10:], 0)
    later = log_of(kept=Kept([*MESSAGES[:20], pinned(MESSAGES[20]), *MESSAGES[21:]]))
    found = restore_checkpoint(later, made)
    assert [message.id for message in found.messages if message.pinned] == [MESSAGES[20].id]


def test_unchanged_messages_take_no_room_in_a_checkpoint():
    log = log_of(kept=Kept(make_messages(2_000)))
    made = checkpoint_of(log, [*log[:1], *log[500:]], 0)
    assert made.content["shown"] == [[0, 1], [500, 2_000]]


@pytest.mark.parametrize(
    "content",
    [
        None,
        {"schema": "foldline.checkpoint/9", "shown": []},
        {"schema": "foldline.checkpoint/1", "shown": [[0, 10**15]]},
        {"schema": "foldline.checkpoint/1", "shown": [[-5, 3]]},
        {"schema": "foldline.checkpoint/1", "shown": [[0, 3], [2, 4]]},
        {"schema": "foldline.checkpoint/1", "shown": [{"at": 3, "parts": [{"type": "x"}]}]},
        {"schema": "foldline.checkpoint/1", "shown": [{"message": {"role": 3}}]},
        {"schema": "foldline.checkpoint/1", "shown": [{}]},
    ],
)
def test_an_invalid_checkpoint_is_ignored(content):
    log = log_of(kept=Kept(MESSAGES))
    assert restore_checkpoint(log, StoredCheckpoint(0, len(MESSAGES), content)) is None


@pytest.mark.parametrize("at", [-1, len(MESSAGES) + 1, 10**15, "3", None])
def test_a_checkpoint_of_another_length_is_ignored(at):
    log = log_of(kept=Kept(MESSAGES))
    assert restore_checkpoint(log, StoredCheckpoint(0, 3, _whole(log))) is not None
    assert restore_checkpoint(log, StoredCheckpoint(0, at, _whole(log))) is None


def _whole(log):
    return checkpoint_of(log, MESSAGES[:2], 0).content


# --- in a session ------------------------------------------------------------------------------


class WithoutCheckpoints:
    """A store without checkpoints."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)

    def load(self, name):
        stored = self._store.load(name)
        return None if stored is None else replace(stored, checkpoint=None)


def opened(store):
    return Session.open(None, "s", store=store, window=3_000)


def turn(number):
    call = {"name": "read_file", "arguments": f'{{"path": "src/{number}.py"}}'}
    asked = {"id": f"c{number}", "type": "function", "function": call}
    return [
        {"role": "user", "content": f"Look at {number}. " + f"why{number} " * 20},
        {"role": "assistant", "content": f"Reading {number}.", "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"line {number}\n" * 150},
        {"role": "assistant", "content": f"It is {number}."},
    ]


def test_the_view_is_the_same_with_and_without_checkpoints_and_after_undo(store):
    with opened(store) as session:
        for number in range(40):
            session.extend(turn(number))
            session.view()
        session.pin(session.messages[-2].id)
        view = session.view()
        assert sum(bool(receipt.edits) for receipt in session.receipts) > 4
    assert store.load("s").checkpoint is not None

    while True:
        with opened(WithoutCheckpoints(store)) as session:
            assert session._state.current_view.wires(session._state.codec.dialect) == view
        with opened(store) as session:
            assert session._state.current_view.wires(session._state.codec.dialect) == view
            if session.undo() is None:
                break
            view = session._state.current_view.wires(session._state.codec.dialect)
    assert view == [wire for number in range(40) for wire in turn(number)]
    assert store.load("s").checkpoint is None


def test_a_checkpoint_is_stored_every_few_batches(store):
    found = []
    with opened(store) as session:
        for number in range(40):
            session.extend(turn(number))
            session.view()
            found.append(store.load("s").checkpoint)
        late = len(session._state.history.batches) - 1 - found[-1].number
    numbers = sorted({one.number for one in found if one is not None})
    assert len(numbers) > 2
    assert all(later - earlier >= EVERY for earlier, later in pairwise([-1, *numbers]))
    assert late < 2 * EVERY


def test_a_copied_session_opens_from_the_checkpoint_of_the_first(store, tmp_path):
    from foldline.stores.transfer import copy_sessions

    with opened(store) as session:
        for number in range(20):
            session.extend(turn(number))
            view = session.view()
    assert store.load("s").checkpoint is not None
    target = open_store(tmp_path / "copy.db")
    assert list(copy_sessions(store, target))
    assert target.load("s").checkpoint == store.load("s").checkpoint
    with opened(target) as session:
        assert session.view() == view
    target.close()
