from dataclasses import replace
from random import Random

from foldline.stores.opening import open_store
from foldline.stores.protocol import Change, SessionHead, StoredMessage
from foldline.stores.retention import IN_USE, Retention, prune

DAY = 86_400.0
NOW = 100 * DAY


def add(store, name, updated, size=0):
    text = Random(name).randbytes(size // 2).hex()  # noqa: S311  # no secret
    wire = {"role": "user", "content": f"{name} {text}"}
    store.begin(SessionHead(name, "openai-chat", created=updated))
    store.commit(name, 0, Change(0, (StoredMessage(name * 8, "user", wire, time=updated),)))


def test_only_sessions_older_than_allowed_are_deleted(store):
    for days in (40, 31, 29, 1):
        add(store, f"of-{days}", NOW - days * DAY)

    gone = prune(store, Retention(keep=30 * DAY), NOW)

    assert set(gone) == {"of-40", "of-31"}
    assert set(store.names()) == {"of-29", "of-1"}


def test_without_limits_nothing_is_deleted(store):
    add(store, "old", 0.0)
    assert prune(store, Retention(), NOW) == ()


def test_the_oldest_are_deleted_until_the_rest_fits(store):
    for days in range(9, 0, -1):
        add(store, f"of-{days}", NOW - days * DAY, 60_000)
    limit = store.size() // 2

    gone = prune(store, Retention(max_size=limit), NOW)

    assert store.size() <= limit
    assert gone == tuple(f"of-{days}" for days in range(9, 9 - len(gone), -1))
    assert len(store.names()) >= 3


def test_a_session_in_use_is_kept_at_any_size(store):
    add(store, "old", NOW - DAY, 1_000)
    add(store, "now", NOW - IN_USE / 2, 60_000)

    assert prune(store, Retention(max_size=1), NOW) == ("old",)
    assert store.names() == ("now",)


def test_shared_content_counts_until_both_sessions_are_deleted(place):
    store = open_store(place)
    add(store, "a", NOW - 9 * DAY, 200_000)
    (message,) = store.load("a").messages
    store.begin(SessionHead("b", "openai-chat"))
    store.commit("b", 0, Change(0, (replace(message, time=NOW - 2 * DAY),)))

    assert prune(store, Retention(max_size=40_000), NOW) == ("a", "b")
    store.close()
