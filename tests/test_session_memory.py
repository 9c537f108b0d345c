"""A session prepares its next compaction in the background, and takes it up without a model."""

import asyncio
import gc
import json
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest

from foldline import Config, Reply, Session
from foldline.core.limits import BreakerSettings
from foldline.core.prepared import MemorySettings
from foldline.core.strategy import Plan, Policy, Rung
from foldline.session.hooks import Hooks
from foldline.stores.memory import MemoryStore
from foldline.stores.opening import open_store
from foldline.stores.protocol import Change
from foldline.stores.sqlite import SqliteStore
from foldline.summary.summarize import Summarize
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.edits import Fold
from foldline.values.identity import derived_id
from foldline.values.messages import Message, Text

COUNTER = EstimatedCounter("o200k")
ON = Config(memory=MemorySettings(enabled=True, every=500))
FILLER = "several words of filler " * 20
DUE, FULL = 56, 96
"""Numbers of messages at which the target of a compaction and its trigger are passed."""


def make_message(number):
    role = "user" if number % 2 == 0 else "assistant"
    return {"role": role, "content": f"{number}: {FILLER}"}


def opened(store, config=ON, **changes):
    settings = {"window": 12_000, "format": "openai-chat", "counter": COUNTER, "config": config}
    return Session.open(None, "s", store=store, **{**settings, **changes})


@pytest.fixture
def reopen(place):
    """Open the archive of a test once more; every store is closed at its end."""
    with ExitStack() as stores:
        yield lambda: stores.enter_context(closing(open_store(place)))


def until(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.002)


def quiet():
    """Wait until no preparation is running."""
    until(lambda: all(t.name != "foldline-memory" for t in threading.enumerate()))


def fill(session, start, end):
    """Append messages; the memory is renewed whenever that is due."""
    for number in range(start, end):
        session.append(make_message(number))
        quiet()


class Model:
    """A summarizer that counts its calls and answers, after an event if one is given."""

    def __init__(self, *, answer="The agent works on the build.", hold=False):
        self.asked = 0
        self.answer = answer
        self.begun = threading.Event()
        self.go_on = threading.Event()
        if not hold:
            self.go_on.set()

    def __call__(self, _ask):
        self.asked += 1
        self.begun.set()
        assert self.go_on.wait(60)
        return self.answer


# --- the memory is written ---------------------------------------------------------------------


@pytest.mark.requirement("C9")
def test_nothing_is_prepared_unless_enabled():
    session = opened(MemoryStore(), Config())
    fill(session, 0, FULL)
    assert session.memory is None
    assert "session memory" not in [rung.name for rung in session.compact().rungs]


@pytest.mark.requirement("K27", "K28")
def test_a_memory_is_prepared_above_the_target_and_updated_as_messages_are_appended():
    session = opened(MemoryStore())
    fill(session, 0, 30)
    assert session.memory is None
    fill(session, 30, DUE)
    first = session.memory
    fill(session, DUE, FULL - 3)
    second = session.memory

    assert 30 < first.at <= DUE < second.at
    assert second.until == session.messages[second.at - 1].id
    assert session.receipts == (), "nothing is shown otherwise before it is due"


def test_listeners_receive_an_event_for_a_prepared_memory():
    heard = []
    session = opened(MemoryStore(), summarizer=Model(), hooks=Hooks(listeners=heard.append))
    fill(session, 0, DUE)
    told = [event for event in heard if event.kind == "memory.prepared"]
    event = told[-1]
    assert len({event.messages for event in told}) == len(told)
    assert event.messages == session.memory.at <= DUE
    assert event.requests > 0
    assert 0 < event.tokens < session.budget.target


@pytest.mark.requirement("K27", "C10")
def test_a_compaction_applies_the_memory_without_a_model_and_keeps_later_messages_verbatim():
    model = Model()
    session = opened(MemoryStore(), summarizer=model)
    fill(session, 0, FULL - 4)
    at, asked = session.memory.at, model.asked
    late = [make_message(number) for number in range(FULL - 4, FULL + 6)]
    model.go_on.clear()  # later requests block
    session.extend(late)
    before = session.messages
    view = session.view()
    receipt = session.receipts[-1]

    assert receipt.reason == "session memory"
    assert asked > 0
    assert receipt.spent.attempts > 0, "what the memory cost is told when it is used"
    assert receipt.tokens_after < session.budget.target * 1.3
    assert view[-len(late) :] == late
    assert "The agent works on the build." in json.dumps(view)
    covered = [m.raw for m in before[: at - 10]]
    assert [m for m in view if m in covered] == [make_message(0)], "the task stays"
    model.go_on.set()


def test_undo_restores_everything_and_discards_the_memory():
    session = opened(MemoryStore())
    fill(session, 0, FULL + 6)
    whole = [message.raw for message in session.messages]
    session.view()
    assert session.undo().reason == "session memory"
    quiet()
    assert session.view() == whole
    session.append(make_message(FULL + 6))
    assert len(session.view()) == len(whole) + 1


@pytest.mark.requirement("K27", "F93")
def test_everything_that_it_folded_is_recalled_by_its_handle_after_a_restart_too(reopen):
    with opened(reopen()) as session:
        fill(session, 0, FULL + 6)
        session.view()
        receipt = session.receipts[-1]
        view = session.view()
    with opened(reopen()) as session:
        assert session.view() == view
        assert session.receipts[-1] == receipt
        recalled = [session.recall(handle).raw for handle in receipt.recall]
        wires = [message.raw for message in session.messages]
    shown = [wire for wire in wires if wire in view]
    assert all(wire in recalled or wire in shown for wire in wires)
    assert receipt.reason == "session memory"


@pytest.mark.requirement("K28", "F91")
def test_it_survives_a_restart(reopen):
    model = Model()
    with opened(reopen(), summarizer=model) as session:
        fill(session, 0, FULL)
        prepared = session.memory
    asked = model.asked
    with opened(reopen(), summarizer=model) as session:
        assert session.memory == prepared
        session.append({"role": "assistant", "content": FILLER * 3})
        receipt = session.compact(force=True)
    assert receipt.rungs[0].outcome == "applied"
    assert model.asked == asked


@pytest.mark.parametrize(
    "wrong",
    [
        {"spent": {"attempts": "many"}},
        {"spent": {"seconds": None}},
        {"recall": {"handle": 7}},
        {"recall": []},
        {"dialect": 7},
    ],
    ids=str,
)
def test_an_invalid_stored_memory_is_prepared_again(wrong):
    store = MemoryStore()
    with opened(store, summarizer=Model()) as session:
        fill(session, 0, DUE + 4)
        assert session.memory is not None
    stored = store.load("s")
    changed = replace(stored.memory, content=stored.memory.content | wrong)
    store.commit("s", stored.generation, Change(DUE + 4, memory=changed))

    with opened(store, summarizer=Model()) as session:
        assert session.memory is None
        fill(session, DUE + 4, FULL)
        assert session.memory is not None


# --- what happens meanwhile --------------------------------------------------------------------


@pytest.mark.requirement("F85", "K27")
def test_messages_appended_during_preparation_follow_the_memory():
    model = Model(hold=True)
    session = opened(MemoryStore(), summarizer=model)
    session.extend(make_message(number) for number in range(DUE))
    assert model.begun.wait(60)
    late = [make_message(number) for number in range(DUE, FULL + 6)]
    for wire in late:
        session.append(wire)  # returns although the model does not answer
    model.go_on.set()
    until(lambda: session.memory is not None)
    quiet()

    # It was updated at once, since many messages had come; the messages it covers are first.
    session.append(make_message(FULL + 6))
    view = session.view()
    assert session.receipts[-1].reason == "session memory"
    assert [message.raw for message in session.messages] == [
        *(make_message(number) for number in range(FULL + 7))
    ]
    assert view[-1] == make_message(FULL + 6)


CHANGES = {
    "a compaction": lambda session: session.compact(2_000),
    "a pin": lambda session: session.pin(session.messages[5].id),
    "a compaction that is undone": lambda session: (session.compact(2_000), session.undo()),
}


@pytest.mark.requirement("F85", "K27")
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_meanwhile_discards_the_prepared_memory(change):
    model = Model(hold=True)
    store = MemoryStore()
    session = opened(store, summarizer=model)
    session._summarizer = None  # only what is prepared asks
    session.extend(make_message(number) for number in range(DUE))
    assert model.begun.wait(60)
    CHANGES[change](session)
    shown = session._state.current_view.wires(session._state.codec.dialect)
    # Nothing more is due, so that only the fate of the first one is seen.
    session._state.prepared_slot.appended = -(10**6)
    model.go_on.set()
    quiet()

    assert session.memory is None
    assert store.load("s").memory is None
    assert session._state.current_view.wires(session._state.codec.dialect) == shown


@pytest.mark.requirement("K27")
def test_a_pin_discards_the_memory_which_may_have_folded_the_message():
    store = MemoryStore()
    session = opened(store)
    fill(session, 0, FULL - 3)
    assert session.memory is not None
    session._state.prepared_slot.appended = 0
    pinned = session.messages[7]
    session._background.start_if_due = lambda: None
    session.pin(pinned.id)
    assert session.memory is None
    assert store.load("s").memory is None
    session.extend(make_message(number) for number in range(FULL - 3, FULL + 6))
    assert pinned.raw in session.view()


@pytest.mark.requirement("K27", "K28")
@pytest.mark.parametrize("column", ["until", "digest"])
def test_a_memory_that_does_not_fit_the_view_is_refused_and_the_next_rung_runs(tmp_path, column):
    path = tmp_path / "a.db"
    with opened(SqliteStore(path)) as session:
        fill(session, 0, FULL)
        assert session.memory is not None
    _tampered(path, column, "0" * 32)
    with opened(SqliteStore(path)) as session:
        assert session.memory is None
        receipt = session.compact(force=True)
    assert receipt.status == "compacted"
    assert receipt.rungs[0].name == "session memory"
    assert receipt.rungs[0].reason == "nothing is prepared"


def _tampered(path, column, value):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE memories SET {column} = ?", (value,))  # noqa: S608  # above


# --- failures ----------------------------------------------------------------------------------


class Blank(Summarize):
    """Folds everything into nothing."""

    def propose(self, view, _need):
        yield from ()
        ids = tuple(m.id for group in view.foldable() for m in [view.messages[group.start]])
        snapshot = Message("user", (Text(" \n "),), id=derived_id(*ids), origin="snapshot")
        return Plan((Fold(ids, snapshot),))


def test_an_empty_memory_leaves_everything_unchanged():
    session = opened(MemoryStore(), policy=Policy("blank", (Rung(Blank(), 2.0),)))
    fill(session, 0, DUE)
    assert session.memory is None
    assert session.receipts == ()


def test_a_failure_is_not_raised_but_reported_by_the_next_receipt():
    class Broken(Summarize):
        def propose(self, _view, _need):
            raise LookupError("no such thing")

    session = opened(
        MemoryStore(), policy=Policy("broken", (Rung(Broken(), 2.0), Rung(Summarize(), 0.8)))
    )
    fill(session, 0, FULL + 6)
    receipt = session.compact()
    assert session.memory is None
    assert any("LookupError: no such thing" in warning for warning in receipt.warnings)


@pytest.mark.requirement("F62")
def test_a_fallback_memory_is_marked_in_the_receipt():
    def failing(ask):
        return Reply(error="the model is gone", retry=False)

    session = opened(MemoryStore(), summarizer=failing)
    fill(session, 0, DUE)
    receipt = session.compact(force=True)
    rung = receipt.rungs[0]
    assert (rung.name, rung.outcome) == ("session memory", "fallback")
    assert "the model is gone" in rung.reason
    assert receipt.spent.attempts > 0


def test_a_change_by_another_process_is_no_reason_to_overwrite_it(reopen):
    model = Model(hold=True)
    mine = opened(reopen(), summarizer=model)
    mine.extend(make_message(number) for number in range(DUE))
    assert model.begun.wait(60)
    with opened(reopen(), Config()) as other:
        other.append(make_message(DUE))
    model.go_on.set()
    quiet()
    assert mine.memory is None
    mine.close()
    with opened(reopen()) as again:
        assert len(again.messages) == DUE + 1


# --- the end of a session ----------------------------------------------------------------------


def test_closing_does_not_wait_for_the_model_and_nothing_is_written_after_it(place, reopen):
    model = Model(hold=True)
    session = Session.open(
        place,
        "s",
        window=12_000,
        counter=COUNTER,
        config=ON,
        format="openai-chat",
        summarizer=model,
    )
    session.extend(make_message(number) for number in range(DUE))
    assert model.begun.wait(60)
    began = time.monotonic()
    session.close()
    assert time.monotonic() - began < 10
    model.go_on.set()
    quiet()
    assert reopen().load("s").memory is None


def test_no_model_is_called_after_closing():
    asked, go_on = [], threading.Event()

    def model(ask):
        asked.append(ask)
        assert go_on.wait(60)
        return Reply(error="not now", retry=True)

    session = opened(MemoryStore(), summarizer=model)
    session.extend(make_message(number) for number in range(DUE))
    until(lambda: asked)
    session.close()
    go_on.set()
    quiet()
    assert len(asked) == 1


HANGING = """
import sys, threading
from foldline import Config, Session
from foldline.core.prepared import MemorySettings
from foldline.tokens.estimate import EstimatedCounter
from foldline.stores.memory import MemoryStore

begun = threading.Event()

def hang(ask):
    begun.set()
    threading.Event().wait()

session = Session.open(None, "s", store=MemoryStore(), window=12_000, format="openai-chat",
                       counter=EstimatedCounter("o200k"), summarizer=hang,
                       config=Config(memory=MemorySettings(enabled=True, every=500)))
session.extend({"role": role, "content": f"{n} " + "some words to fill it " * 20}
               for n in range(30) for role in ("user", "assistant"))
assert begun.wait(60)
print("end")
"""


def test_a_model_that_hangs_does_not_keep_a_program_from_ending():
    ran = subprocess.run(
        [sys.executable, "-c", HANGING], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("end\n", "", 0)


# --- async programs ----------------------------------------------------------------------------


@pytest.mark.requirement("K20", "K27")
def test_an_async_summarizer_is_awaited_in_a_task_of_its_own():
    loops = set()

    async def model(ask):
        loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return "The agent works on the build."

    async def main():
        session = opened(MemoryStore(), summarizer=model)
        for number in range(FULL - 3):
            await session.aappend(make_message(number))
        await asyncio.to_thread(until, lambda: session.memory is not None)
        await session.aextend([make_message(number) for number in range(FULL - 3, FULL + 3)])
        view = await session.aview()
        await session.aclose()
        return loops == {asyncio.get_running_loop()}, session.receipts[-1], view

    here, receipt, view = asyncio.run(main())
    assert here
    assert receipt.reason == "session memory"
    assert "The agent works on the build." in json.dumps(view)


def test_appends_of_threads_leave_an_async_summarizer_to_tasks():
    asked = []

    async def model(ask):
        asked.append(asyncio.get_running_loop())
        return "The agent works on the build."

    async def main():
        session = opened(MemoryStore(), summarizer=model)
        # As a follower does it, and a program that appends in threads.
        await asyncio.to_thread(session.extend, [make_message(number) for number in range(DUE)])
        assert session.memory is None
        assert not asked
        await session.aview()
        await asyncio.to_thread(until, lambda: session.memory is not None)
        memory = session.memory
        await session.aclose()
        return memory

    memory = asyncio.run(main())
    assert asked
    assert not memory.fallback
    assert "The agent works on the build." in memory.folds[0].snapshot.text


@pytest.mark.requirement("F85")
def test_closing_an_async_session_ends_its_task_and_appends_do_not_wait_for_it():
    async def main():
        begun, ended = asyncio.Event(), asyncio.Event()

        async def model(ask):
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        session = opened(MemoryStore(), summarizer=model)
        await session.aextend([make_message(number) for number in range(DUE)])
        await asyncio.wait_for(begun.wait(), 60)
        await asyncio.wait_for(session.aappend(make_message(DUE)), 60)
        await session.aclose()
        assert ended.is_set()
        assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []
        return len(session.messages)

    assert asyncio.run(main()) == DUE + 1


def test_a_session_survives_the_end_of_its_loop():
    store = MemoryStore()

    async def forever(ask):
        await asyncio.Event().wait()

    session = opened(store, summarizer=forever)

    async def main():
        await session.aextend([make_message(number) for number in range(DUE)])

    asyncio.run(main())
    session._background._summarizer = None
    fill(session, DUE, FULL - 3)
    assert session.memory is not None
    gc.collect()


# --- a summarizer with unusable answers ---------------------------------------------------------


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


def failing_session(store, clock, **changes):
    asked = []

    def failing(ask):
        asked.append(ask)
        return Reply(error="overloaded", retry=False)

    config = Config(breaker=BreakerSettings(failures=3, seconds=300.0))
    settings = {"summarizer": failing, "policy": "salient", "window": 4_000, **changes}
    session = opened(store, config, clock=clock, **settings)
    if not session.messages:
        session.append(make_message(0))
        session.extend([{"role": "assistant", "content": f"{n} {FILLER}"} for n in range(10)])
    return session, asked


def work(session, number):
    """Append answers and tool results, without a user message, and compact."""
    for step in range(8):
        session.append({"role": "assistant", "content": f"{number}.{step} {FILLER}"})
    return session.compact(force=True)


@pytest.mark.requirement("C5", "F61", "K13")
def test_after_three_failures_in_a_row_the_summarizer_is_paused():
    clock = Clock()
    session, asked = failing_session(MemoryStore(), clock)
    fell_back = [work(session, number) for number in range(3)]
    paused = work(session, 3)

    assert len(asked) == 3
    assert all(r.rungs[-1].outcome == "fallback" for r in fell_back)
    assert paused.status == "compacted", "it goes on without a model"
    assert any("was not called" in warning for warning in paused.warnings)
    assert session.breaker.state(clock()) == "open"


@pytest.mark.requirement("C5")
def test_after_the_pause_the_summarizer_is_called_once_and_its_answer_decides():
    clock = Clock()
    session, asked = failing_session(MemoryStore(), clock)
    for number in range(4):
        work(session, number)
    clock.now += 301
    work(session, 4)
    work(session, 5)
    assert len(asked) == 4
    clock.now += 301
    session._summarizer = lambda _: "The agent works on the build."
    assert work(session, 6).rungs[-1].outcome == "applied"
    assert session.breaker.state(clock()) == "closed"


@pytest.mark.requirement("C5")
def test_the_pause_continues_after_a_user_message():
    session, asked = failing_session(MemoryStore(), Clock())
    for number in range(5):
        session.append({"role": "user", "content": f"go on with {number}"})
        work(session, number)
    assert len(asked) == 3


@pytest.mark.requirement("C5")
def test_the_pause_goes_on_after_a_restart_unless_the_settings_are_others(reopen):
    clock = Clock()
    session, _ = failing_session(reopen(), clock)
    for number in range(3):
        work(session, number)
    session.close()
    session, asked = failing_session(reopen(), clock)
    work(session, 3)
    assert asked == []
    session.close()
    session, asked = failing_session(reopen(), clock, policy="default")
    work(session, 4)
    assert len(asked) == 1
    session.close()


@pytest.mark.requirement("C5")
def test_nothing_to_do_is_not_a_failure():
    session, asked = failing_session(MemoryStore(), Clock())
    for _ in range(10):
        session.compact()
    assert asked == []
    assert session.breaker.failures == 0
    assert session.breaker.state(1_000.0) == "closed"


@pytest.mark.requirement("F61")
def test_the_background_worker_does_not_call_a_paused_summarizer():
    asked = []

    def failing(ask):
        asked.append(ask)
        return Reply(error="overloaded", retry=False)

    config = Config(memory=MemorySettings(enabled=True, every=100))
    session = opened(MemoryStore(), config, summarizer=failing, clock=Clock())
    session.append(make_message(0))
    for number in range(FULL):
        session.append({"role": "assistant", "content": f"{number} {FILLER}"})
        quiet()
    assert len(asked) == 3
    assert session.memory.at > DUE + 20, "it goes on without a model"
    assert session.memory.fallback
    assert "was not called" in session.memory.reason
