"""State that other libraries lost, resurrected, doubled or let grow without end."""

import json
import threading

import pytest

import foldline
from foldline import Reply, Session
from foldline.core.asks import Ask
from foldline.core.strategy import Plan, Policy, Rung
from foldline.errors import StoreError
from foldline.snapshot.format import header
from foldline.stores.memory import MemoryStore
from foldline.stores.sqlite import SqliteStore
from foldline.strategies.clear import Clear
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.edits import Fold
from foldline.values.messages import Usage
from foldline.values.snapshot_mark import SNAPSHOT_HEADER, seal_text

COUNTER = EstimatedCounter("o200k")
FILLER = "several words of filler " * 20


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


def opened(store, window=8_000, **rest):
    settings = {"counter": COUNTER, "format": "openai-chat", "policy": "salient"}
    return Session.open(None, "s", store=store, window=window, **{**settings, **rest})


def make_message(number, role=None):
    role = role or ("user" if number % 2 == 0 else "assistant")
    return {"role": role, "content": f"{number}: {FILLER}"}


def filled(store, count=70, **rest):
    session = opened(store, **rest)
    session.extend(make_message(number) for number in range(count))
    return session


@pytest.mark.requirement("F85")
def test_a_thread_that_appends_during_a_summary_waits_and_comes_after_it():
    begun, go_on = threading.Event(), threading.Event()

    def slow(_):
        begun.set()
        assert go_on.wait(60)
        return "an account"

    store = MemoryStore()
    session = filled(store, summarizer=slow)
    compacting = threading.Thread(target=session.compact, daemon=True)
    compacting.start()
    assert begun.wait(60)
    appending = threading.Thread(
        target=session.append, args=(make_message(99, "assistant"),), daemon=True
    )
    appending.start()
    go_on.set()
    compacting.join(60)
    appending.join(60)

    assert session.view()[-1] == make_message(99, "assistant")
    assert "an account" in json.dumps(session.view())
    assert len(opened(store).messages) == 71


@pytest.mark.requirement("F86")
def test_items_removed_by_a_budget_stay_in_the_log():
    store = MemoryStore()
    session = filled(store, 100)
    receipt = session.compact(2_000)
    assert len(session.view()) < 20
    assert [m.raw for m in opened(store).messages] == [make_message(n) for n in range(100)]
    assert all(session.recall(handle).raw for handle in receipt.recall)


@pytest.mark.requirement("F90", "F89")
def test_a_model_that_raises_summarises_nothing():
    class OnlyByModel:
        name = "by model"

        def propose(self, _view, _need):
            reply = yield Ask("?", 10)
            return Plan(reason=reply.error)

    def broken(_):
        raise OSError("no route")

    store = MemoryStore()
    policy = Policy("mine", (Rung(OnlyByModel(), 0.8),))
    session = filled(store, 20, window=2_200, policy=policy, summarizer=broken)
    before = session.view()
    assert before == [make_message(number) for number in range(20)]
    again = opened(store, window=2_200, policy=policy)
    assert [m.raw for m in again.messages] == before
    assert again.view() == before
    assert again.receipts[-1].status == "unchanged"


@pytest.mark.requirement("F91")
def test_a_change_whose_reply_was_lost_is_recorded_once():
    class Deaf(MemoryStore):
        deaf = False

        def commit(self, name, generation, change):
            made = super().commit(name, generation, change)
            if self.deaf:
                raise KeyboardInterrupt
            return made

    store = Deaf()
    session = filled(store)
    store.deaf = True
    with pytest.raises(KeyboardInterrupt):
        session.compact()
    store.deaf = False
    view = session.view()
    assert len(session.receipts) == 1
    assert opened(store).view() == view


@pytest.mark.requirement("F93")
def test_messages_that_the_archive_refused_have_no_handle():
    class Full(MemoryStore):
        def commit(self, name, generation, change):
            if change.batches:
                raise StoreError("The disk is full.")
            return super().commit(name, generation, change)

    session = filled(Full())
    with pytest.raises(StoreError):
        session.view()
    shown = session._state.current_view.wires(session._state.codec.dialect)
    assert shown == [make_message(number) for number in range(70)]


# --- growth ------------------------------------------------------------------------------------


@pytest.mark.requirement("F94", "F57")
def test_a_thousand_attempts_that_change_nothing_leave_one_receipt(tmp_path):
    path = tmp_path / "a.db"
    policy = Policy("clear only", (Rung(Clear(), 0.5),))
    session = filled(SqliteStore(path, durability="process"), 60, policy=policy)
    statuses = {session.compact(force=True).status for _ in range(50)}
    size = path.stat().st_size + path.with_name("a.db-wal").stat().st_size
    statuses |= {session.compact(force=True).status for _ in range(950)}
    session._state.settings.store._database._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    assert "compacted" not in statuses
    assert len(session.receipts) == 1
    assert session._state.history.batches[0].repeats == 1_000
    assert path.stat().st_size <= size
    again = opened(SqliteStore(path), policy=policy)
    assert again.receipts == session.receipts
    assert again._state.history.batches == session._state.history.batches


@pytest.mark.requirement("F94")
def test_the_state_of_many_compactions_grows_linearly_with_the_log():
    store = MemoryStore()
    session = opened(store, window=1_600)
    sizes = []
    for number in range(1_200):
        session.append(make_message(number))
        session.view()
        if number in (600, 1_199):
            stored = store.load("s")
            log = sum(len(json.dumps(m.wire)) for m in stored.messages)
            state = sum(len(json.dumps([b.edits, b.receipt])) for b in stored.batches)
            sizes.append(state / log)

    assert sum(r.status == "compacted" for r in session.receipts) > 100
    assert sizes[1] < sizes[0] * 1.2
    assert sizes[1] < 4
    assert max(len(json.dumps(r.to_dict())) for r in session.receipts) < 10_000


@pytest.mark.requirement("F94", "K21")
def test_an_error_text_of_a_model_is_cut_in_the_receipt():
    def shouting(_):
        return Reply(error="overloaded " * 100_000, retry=False)

    receipt = filled(MemoryStore(), summarizer=shouting).compact()
    assert receipt.status == "compacted"
    assert any(rung.outcome == "fallback" for rung in receipt.rungs)
    assert len(json.dumps(receipt.to_dict()["rungs"])) < 5_000


# --- the view after one and after several compactions -------------------------------------------


@pytest.mark.requirement("H1", "F91")
def test_only_the_latest_snapshot_is_in_view_and_covers_the_first():
    store = MemoryStore()
    session = filled(store)
    first = session.compact()
    session.extend(make_message(number) for number in range(70, 140))
    second = session.compact()
    view = json.dumps(session.view())
    assert view.count("Snapshot by Foldline") == 1
    older, newer = ([e for e in r.edits if isinstance(e, Fold)][-1] for r in (first, second))
    assert older.snapshot.id in newer.messages, "the first snapshot is part of the second"
    assert json.dumps(opened(store).view()) == view, "as told by the whole history"


@pytest.mark.requirement("F58")
def test_usage_from_before_a_compaction_triggers_no_second_one():
    session = opened(MemoryStore())
    session.extend(make_message(number) for number in range(60))
    session.append(make_message(61, "assistant"), usage=Usage(input=7_900, output=50))
    session.view()
    done = len([r for r in session.receipts if r.status == "compacted"])
    session.view()
    session.append(make_message(62))
    session.view()
    assert done == 1
    assert len([r for r in session.receipts if r.status == "compacted"]) == 1


@pytest.mark.requirement("F61", "F57")
def test_a_window_that_is_always_nearly_full_is_compacted_with_pauses():
    tools = [{"type": "function", "function": {"name": "t", "description": "word " * 4_900}}]
    asked = []

    def counting(ask):
        asked.append(ask)
        return Reply(error="no", retry=False)

    clock = Clock()
    session = opened(MemoryStore(), tools=tools, clock=clock, summarizer=counting)
    session.append(make_message(0))
    for number in range(60):
        session.append(make_message(number, "assistant"))
        session.view()
    compacted = sum(receipt.status == "compacted" for receipt in session.receipts)
    grown = 60 * 90
    assert compacted <= grown / (0.05 * session.budget.scale) + 1
    assert len(asked) <= 3, "the breaker is open after three that gave nothing"


def test_a_cut_snapshot_is_not_taken_for_a_user_message():
    lines = "\n".join(f"1f0c{n:02x} step {n} of build_{n}.log" for n in range(14))
    head = header(12, 9_000, "ab" * 16)
    snapshot = {"role": "user", "content": seal_text(f"{head}\n## What happened\n{lines}")}
    task = {"role": "user", "content": "Mend the build."}
    latest = {"role": "user", "content": "LATEST " + "and part_7.py too\n" * 200}
    cut = 0
    for budget in range(260, 420, 10):
        shown = [task, snapshot, latest, {"role": "assistant", "content": "word " * 100}]
        for _ in range(2):
            made = foldline.compact(shown, budget=budget, policy="window")
            if made.receipt.status != "compacted":
                break
            texts = [message["content"] for message in made.messages]
            assert texts[1].startswith(SNAPSHOT_HEADER)
            assert "\nLATEST" in f"\n{texts[2]}"
            cut += texts[1] != snapshot["content"]
            shown = [*made.messages, {"role": "assistant", "content": "more " * 300}]
    assert cut
