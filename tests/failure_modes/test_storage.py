"""State that was lost, doubled or left behind by a compaction."""

import asyncio
import json
import re
import subprocess
import sys

import pytest
from tests.neutral import A, T, U, c, log

import foldline
from foldline.archive import Archive
from foldline.errors import InputError, RecallError, StoreError
from foldline.session import Session
from foldline.stores.memory import MemoryStore
from foldline.stores.sqlite import SqliteStore
from foldline.testing.promises import check_atomic, check_lossless
from foldline.testing.wires import wire
from foldline.tokens.estimate import EstimatedCounter

COUNTER = EstimatedCounter("o200k")


def long_history(steps=30):
    work = [
        m
        for n in range(steps)
        for m in (A(c(str(n))), T(str(n), f"result {n} 结果 👍 " + "word " * 300))
    ]
    return wire(log(U("task"), *work, A("done"), U("next")), "openai-chat")


def opened(store, name="s", window=8_000, **rest):
    return Session.open(
        None, name, store=store, window=window, counter=COUNTER, format="openai-chat", **rest
    )


@pytest.mark.requirement("F85")
def test_messages_appended_during_a_compaction_are_kept():
    store = MemoryStore()

    async def main():
        session = opened(store)
        await session.aextend(long_history())
        compacting = asyncio.ensure_future(session.acompact())
        await session.aappend({"role": "assistant", "content": "said meanwhile"})
        await compacting
        return await session.aview()

    view = asyncio.run(main())
    assert view[-1]["content"] == "said meanwhile"
    assert len(opened(store).messages) == len(long_history()) + 1


@pytest.mark.requirement("F86")
def test_a_compaction_deletes_nothing_from_the_log():
    store = MemoryStore()
    session = opened(store)
    session.extend(long_history())
    assert session.compact().status == "compacted"
    assert [m.raw for m in opened(store).messages] == long_history()


@pytest.mark.requirement("F89", "F90")
def test_a_change_that_is_not_recorded_is_not_in_view():

    class Full(MemoryStore):
        full = False

        def commit(self, name, generation, change):
            if self.full and change.batches:
                raise StoreError("The disk is full.")
            return super().commit(name, generation, change)

    store = Full()
    session = opened(store)
    session.extend(long_history())
    store.full = True
    check_atomic(
        lambda: [[m.raw for m in session.messages], session.tokens, len(session.receipts)],
        session.compact,
    )
    store.full = False
    assert session.compact().status == "compacted"


KILL = """
import os, sys
from foldline.tokens.estimate import EstimatedCounter
from foldline.session import Session
from foldline.stores.sqlite import SqliteStore

class Dying(SqliteStore):
    def commit(self, name, generation, change):
        generation = super().commit(name, generation, change)
        if change.batches:
            os._exit(9)
        return generation

session = Session.open(None, "s", store=Dying(sys.argv[1]), window=8_000, format="openai-chat",
                       counter=EstimatedCounter("o200k"))
session.view()
"""


@pytest.mark.requirement("F91")
def test_a_process_that_dies_right_after_recording_leaves_the_new_state_once(tmp_path):
    path = tmp_path / "a.db"
    with opened(SqliteStore(path)) as session:
        session.extend(long_history())
    done = subprocess.run([sys.executable, "-c", KILL, str(path)], check=False)
    assert done.returncode == 9
    with opened(SqliteStore(path)) as session:
        assert len(session.receipts) == 1
        view = session.view()
        assert len(session.receipts) == 1
        assert foldline.count(view, counter=COUNTER) < 8_000
        assert len(session.messages) == len(long_history())


RECALL = """
import json, sys
from foldline.archive import Archive

with Archive.open(sys.argv[1]) as archive:
    print(json.dumps({handle: archive.recall(handle, session=sys.argv[2]).raw
                      for handle in json.loads(sys.stdin.read())}))
"""


def test_everything_removed_is_recalled_by_another_process(tmp_path):
    """F93, and LOSSLESS."""
    path, value = tmp_path / "a.db", long_history()
    result = foldline.compact(value, budget=2_000, counter=COUNTER)
    with Archive.open(path) as archive:
        name = archive.save("run", result.transcript, result.receipt)
    done = subprocess.run(
        [sys.executable, "-c", RECALL, str(path), name],
        input=json.dumps(list(result.receipt.recall)),
        capture_output=True,
        text=True,
        check=True,
    )
    recalled = list(json.loads(done.stdout).values())
    shown = [json.dumps(message) for message in result.messages]
    assert all(message in recalled or json.dumps(message) in shown for message in value)


@pytest.mark.requirement("F93", "J3")
def test_every_handle_in_view_can_be_recalled(tmp_path):
    session = opened(SqliteStore(tmp_path / "a.db"), policy="clear")
    session.extend(long_history())
    named = re.findall(r"recall ([0-9a-f.]+)", json.dumps(session.view()))
    assert named
    for handle in named:
        assert session.recall(handle).text.startswith("result ")


@pytest.mark.requirement("F94")
def test_the_state_grows_by_what_is_appended_and_not_by_compactions():
    store = MemoryStore()
    session = opened(store)
    session.extend(long_history())
    session.view()
    recorded = len(session.receipts)
    for _ in range(200):
        session.compact()
        session.view()
    assert len(session.receipts) == recorded


@pytest.mark.requirement("F97")
def test_sessions_in_one_store_never_see_each_other():
    store = MemoryStore()
    parent, child = opened(store, "parent"), opened(store, "child")
    parent.extend(long_history())
    child.append({"role": "user", "content": "the secret of the child"})
    assert "secret of the child" not in json.dumps(parent.view())
    assert len(child.messages) == 1
    handle = child.messages[0].id[:8]
    with pytest.raises(RecallError):
        parent.recall(handle)


@pytest.mark.requirement("F99")
def test_recalled_text_has_pages_and_is_not_removed_again_at_once():
    session = opened(MemoryStore())
    session.extend(long_history())
    session.view()
    handle = next(iter(session.receipts[-1].recall))
    page = session.recall(handle, max_tokens=100)
    assert COUNTER.count(page.text) <= 100
    assert "Go on with start=" in page.note


def test_a_session_keeps_what_the_compaction_promised(tmp_path):
    """LOSSLESS over a restart."""
    value = long_history()
    result = foldline.compact(value, budget=2_000, counter=COUNTER)
    with Archive(SqliteStore(tmp_path / "a.db")) as archive:
        name = archive.save("run", result.transcript, result.receipt)
    with Archive(SqliteStore(tmp_path / "a.db")) as archive:
        check_lossless(result, lambda handle: archive.recall(handle, session=name))


def test_a_message_that_cannot_be_stored_changes_nothing():
    """ATOMIC."""
    session = opened(MemoryStore())
    session.append({"role": "user", "content": "task"})
    bad = {"role": "user", "content": object()}
    with pytest.raises(InputError):
        session.append(bad)
    check_atomic(
        lambda: [m.raw for m in session.messages],
        lambda: session.extend([{"role": "user", "content": "fine"}, bad]),
    )
