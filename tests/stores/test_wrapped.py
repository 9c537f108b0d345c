from __future__ import annotations

import sqlite3
from contextlib import closing
from inspect import signature

import pytest

from foldline.errors import StoreError
from foldline.redaction import redact_json
from foldline.session import Session
from foldline.stores.protocol import Store
from foldline.stores.sqlite import SqliteStore
from foldline.stores.wrapped import RedactingStore, WrappedStore

CALLS = [name for name in vars(Store) if not name.startswith("_") and name != "commit"]


class Recording:
    """A store that records its calls, and returns them."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def answer(*given):
            self.calls.append((name, given))
            return name, given

        return answer


@pytest.mark.parametrize("name", CALLS)
def test_every_call_except_commit_is_delegated_unchanged(name):
    behind = Recording()
    call = getattr(WrappedStore(behind), name)
    given = tuple(signature(call).parameters)
    answer = call(*given)
    assert answer == (None if name == "close" else (name, given))
    assert behind.calls == [(name, given)]


def test_commit_is_left_to_subclasses():
    assert not hasattr(WrappedStore(Recording()), "commit")


KEY = "sk-proj-abcdefghijklmnop1234"
WIRES = [
    {"role": "user", "content": f"Deploy with the key {KEY}."},
    {"role": "assistant", "content": "Done with " + KEY},
]


def everything(path):
    with closing(sqlite3.connect(path)) as connection:
        return "\n".join(connection.iterdump())


def test_no_secret_reaches_the_file_and_everything_else_does(tmp_path):
    path = tmp_path / "a.db"
    store = RedactingStore(SqliteStore(path), redact_json)
    with Session.open(None, "s", store=store, window=20_000) as session:
        session.extend([*WIRES, *({"role": "user", "content": f"{n} " * 900} for n in range(12))])
        session.compact(4_000, force=True)
        assert KEY in str(session.messages[0].raw), "the program itself keeps what came"
    with Session.open(None, "s", store=store, window=20_000) as again:
        assert again.messages[0].raw["content"] == "Deploy with the key [redacted]."
        assert again.length == 14
    store.close()

    for file in tmp_path.iterdir():
        assert KEY.encode() not in file.read_bytes()


def test_a_message_keeps_the_id_of_its_original_content(tmp_path):
    ids = []
    for redact in (redact_json, lambda value: value):
        store = RedactingStore(SqliteStore(tmp_path / f"{len(ids)}.db"), redact)
        with Session.open(None, "s", store=store, window=20_000) as session:
            ids.append(session.extend(WIRES))
        assert list(store.load("s").ids) == ids[-1]
        store.close()
    assert ids[0] == ids[1]


def test_after_a_failing_hook_nothing_is_written_or_quoted(tmp_path):
    def broken(value):
        raise ValueError(f"cannot read {value}")

    store = RedactingStore(SqliteStore(tmp_path / "a.db"), broken)
    with Session.open(None, "s", store=store, window=20_000) as session:
        with pytest.raises(StoreError, match="redaction hook failed") as caught:
            session.extend(WIRES)
        assert KEY not in str(caught.value)
        assert session.length == 0
    assert KEY not in everything(tmp_path / "a.db")
    store.close()
