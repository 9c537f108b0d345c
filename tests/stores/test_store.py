"""Guarantees of every store."""

import threading
from dataclasses import replace

import pytest

from foldline.errors import InputError, StoreError
from foldline.stores.memory import MemoryStore
from foldline.stores.protocol import Change, SessionHead, StoredBatch, StoredMemory, StoredMessage
from foldline.values.messages import Usage

HEAD = SessionHead("s", "openai-chat", "gpt-5", 128_000, 10.0)


def message(number, **changes):
    wire = {"role": "user", "content": f"message {number}"}
    return replace(StoredMessage(f"{number:032x}", "user", wire, time=float(number)), **changes)


def batch(number, at, **changes):
    edits = {"schema": "foldline.edits/1", "edits": []}
    return replace(
        StoredBatch(number, at, "compaction", edits, {"status": "compacted"}, 5.0), **changes
    )


def test_a_session_is_loaded_as_it_was_recorded(store):
    first = message(1, form={"role": "tool"}, usage=Usage(1, 2, 3, 4), pinned=True)
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=(first, message(2)), batches=(batch(0, 2),)))

    loaded = store.load("s")

    assert loaded.head == HEAD
    assert loaded.generation == 1
    assert loaded.messages == (first, message(2))
    assert loaded.batches == (batch(0, 2),)


def test_messages_of_one_change_keep_their_order_and_equal_content_is_stored_once(store):
    said = [
        message(n % 700, id=f"{n:032x}", form={"n": n} if n % 3 else None) for n in range(1_400)
    ]
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=tuple(said[:1])))
    store.commit("s", 1, Change(at=1, messages=tuple(said[1:])))
    assert list(store.load("s").messages) == said


def test_keys_keep_their_order_and_lone_surrogates_survive(store):
    wire = {"z": "\ud83d\ude00 \udc80", "a": [1.5, None, True, {"y": 1, "b": 2}]}
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=(message(1, wire=wire),)))

    back = store.load("s").messages[0].wire

    assert back == wire
    assert list(back) == ["z", "a"]
    assert list(back["a"][3]) == ["y", "b"]


def test_begin_returns_an_existing_session(store):
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=(message(1),)))

    again = store.begin(SessionHead("s", "anthropic"))

    assert again.head == HEAD
    assert len(again.messages) == 1


def test_an_unknown_session_is_none(store):
    assert store.load("nobody") is None


def test_the_later_of_two_writers_gets_an_error_and_nothing_is_lost(store):
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=(message(1),)))

    with pytest.raises(StoreError, match="changed by another writer") as caught:
        store.commit("s", 0, Change(at=0, messages=(message(2),)))

    assert "Open it again" in caught.value.hint
    assert [m.id for m in store.load("s").messages] == [message(1).id]


def test_a_change_is_recorded_whole_or_not_at_all(store):
    store.begin(HEAD)

    with pytest.raises(InputError, match="not JSON"):
        store.commit("s", 0, Change(at=0, messages=(message(1), message(2, wire={"x": {1, 2}}))))

    assert store.load("s").messages == ()
    assert store.commit("s", 0, Change(at=0, messages=(message(1),))) == 1


def test_undo_pins_and_dialect_are_recorded(store):
    store.begin(replace(HEAD, dialect=""))
    store.commit("s", 0, Change(at=0, messages=(message(1), message(2)), dialect="anthropic"))
    store.commit("s", 1, Change(at=2, batches=(batch(0, 2), batch(1, 2))))
    store.commit("s", 2, Change(at=2, undone=1, pinned=message(2).id))

    loaded = store.load("s")

    assert loaded.head.dialect == "anthropic"
    assert [b.undone_at for b in loaded.batches] == [None, 2]
    assert [m.pinned for m in loaded.messages] == [False, True]


def memory(number, **changes):
    content = {"edits": {"schema": "foldline.edits/1", "edits": [number]}, "recall": {}}
    return replace(
        StoredMemory(message(number).id, f"{number:032x}", number, number, 7.0, content), **changes
    )


@pytest.mark.requirement("K28")
def test_a_prepared_compaction_is_stored_and_replaced_by_a_later_one(store):
    store.begin(HEAD)
    assert store.load("s").memory is None
    store.commit("s", 0, Change(at=0, messages=(message(1),), memory=memory(1)))
    assert store.load("s").memory == memory(1)
    store.commit("s", 1, Change(at=1, messages=(message(2),)))
    assert store.load("s").memory == memory(1), "an append leaves it"
    store.commit("s", 2, Change(at=2, memory=memory(2)))
    assert store.load("s").memory == memory(2)
    store.commit("s", 3, Change(at=2, undone=None, forgets=True))
    assert store.load("s").memory is None


@pytest.mark.requirement("K28")
def test_a_batch_adopts_the_prepared_compaction(store):
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=(message(1),), memory=memory(1)))
    used = batch(0, 1, memory=memory(1))
    store.commit("s", 1, Change(at=1, batches=(used,), forgets=True))
    assert store.load("s").memory is None
    store.commit("s", 2, Change(at=1, memory=memory(3)))
    store.commit("s", 3, Change(at=1, memory=memory(4)))

    loaded = store.load("s")
    assert loaded.batches == (used,)
    assert loaded.memory == memory(4)


def test_a_batch_copied_to_another_session_keeps_its_prepared_edits(store):
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, batches=(batch(0, 1, memory=memory(1)),)))
    assert store.load("s").batches[0].memory == memory(1)
    assert store.load("s").memory is None


@pytest.mark.requirement("F94")
def test_a_repeated_attempt_is_counted_and_not_stored_twice(store):
    store.begin(HEAD)
    store.commit("s", 0, Change(at=3, batches=(batch(0, 3), batch(1, 3, kind="attempt"))))
    store.commit("s", 1, Change(at=5, again=1, time=60.0))
    store.commit("s", 2, Change(at=6, again=1, time=70.0))

    loaded = store.load("s").batches
    assert loaded == (batch(0, 3), batch(1, 6, kind="attempt", time=70.0, repeats=3))
    assert store.sessions()[0].updated == 70.0


def test_sessions_are_listed_newest_change_first_with_their_sizes(store):
    for name in ("old", "new"):
        store.begin(replace(HEAD, name=name))
    store.commit("new", 0, Change(at=0, messages=(message(50), message(51))))
    store.commit("new", 1, Change(at=2, batches=(batch(0, 2, time=60.0),)))
    store.commit("old", 0, Change(at=0, messages=(message(20),)))

    listed = store.sessions()

    assert [info.head.name for info in listed] == ["new", "old"]
    assert [info.messages for info in listed] == [2, 1]
    assert [info.batches for info in listed] == [1, 0]
    assert listed[0].updated == 60.0
    assert listed[0].size > listed[1].size > 0


def test_messages_are_found_by_id_prefix_over_all_sessions(store):
    for name, time in (("a", 1.0), ("b", 2.0)):
        store.begin(replace(HEAD, name=name))
        same = message(1, id="abcdef01" + "0" * 24, time=time)
        store.commit(name, 0, Change(at=0, messages=(same, message(2, time=time))))

    assert store.find("abcdef01") == (("b", "abcdef01" + "0" * 24), ("a", "abcdef01" + "0" * 24))
    assert store.find("ffff") == ()
    assert store.find("abcdef01%_") == ()


def test_many_threads_may_use_one_store(store):
    names = [f"s{number}" for number in range(4)]
    failures = []

    def work(name):
        try:
            store.begin(replace(HEAD, name=name))
            for number in range(25):
                store.commit(name, number, Change(at=number, messages=(message(number),)))
        except BaseException as error:  # noqa: BLE001  # reported by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,), daemon=True) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert failures == []
    assert [len(store.load(name).messages) for name in names] == [25] * 4


def test_ids_are_found_in_memory_while_another_thread_waits_to_delete_them():
    store = MemoryStore()
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=(message(1),)))

    class Contended:
        def __enter__(self):
            pass

        def __exit__(self, *_):
            store._kept.clear()

    store._lock = Contended()
    assert store.find("0") == (("s", message(1).id),)


def test_closing_twice_is_allowed_and_releases_the_database(store):
    store.begin(HEAD)
    store.close()
    store.close()
    if isinstance(store, MemoryStore):
        assert store.names() == ("s",)
    else:
        with pytest.raises(StoreError, match="is closed"):
            store.names()


def test_a_deleted_session_is_removed_and_shared_content_is_kept(store):
    for name in ("s", "other"):
        store.begin(replace(HEAD, name=name))
        store.commit(
            name, 0, Change(at=0, messages=(message(1), message(2)), batches=(batch(0, 2),))
        )
    store.commit("s", 1, Change(at=2, memory=StoredMemory("u", "d", 2, 1, 1.0, {"own": "to s"})))

    assert store.delete(["s", "s", "never"]) == 1

    assert store.load("s") is None
    assert store.names() == ("other",)
    assert store.load("other").messages == (message(1), message(2))
    assert store.load("other").batches == (batch(0, 2),)
    assert store.delete([]) == 0


def test_a_name_can_be_used_again_after_its_session_was_deleted(store):
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=(message(1),)))
    before = store.load("s")
    store.delete(["s"])

    assert store.begin(HEAD).generation == 0
    store.commit("s", 0, Change(at=0, messages=(message(2),)))

    assert store.load("s").messages == (message(2),)
    with pytest.raises(StoreError):
        store.commit("s", before.generation + 1, Change(at=1, messages=(message(3),)))


def test_a_writer_of_a_deleted_session_cannot_change_another_of_its_name(store):
    deleted = store.begin(HEAD)
    store.delete(["s"])
    late = Change(at=0, messages=(message(1),), session=deleted.number)
    with pytest.raises(StoreError, match="deleted or replaced"):
        store.commit("s", 0, late)

    made_anew = store.begin(HEAD)

    with pytest.raises(StoreError, match="deleted or replaced"):
        store.commit("s", 0, late)
    assert store.load("s").messages == ()
    assert store.commit("s", 0, replace(late, session=made_anew.number)) == 1
    with pytest.raises(StoreError, match="changed by another writer"):
        store.commit("s", 0, replace(late, session=made_anew.number))


def test_deleting_makes_the_store_smaller(store):
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=(message(1, wire={"a": [*range(80_000)]}),)))
    before = store.size()

    store.delete(["s"])

    assert 0 <= store.size() < before / 2
