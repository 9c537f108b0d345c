import json
import sqlite3
from dataclasses import replace

import pytest

from foldline.archive import Archive
from foldline.engine.receipt import Receipt
from foldline.errors import RecallError, StoreError
from foldline.formats.anthropic import AnthropicDialect
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.session import Session
from foldline.stores import rows
from foldline.values.edits import Drop, Fold
from foldline.values.identity import HANDLE_LENGTH, derived_id
from foldline.values.messages import Message, Text, ToolResult
from foldline.values.transcript import Transcript

WIRES = [{"role": "user", "content": f"message {number}"} for number in range(6)]


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        self.now += 1
        return self.now


@pytest.fixture
def archive(place):
    with Archive.open(place) as made:
        made._clock = Clock()
        yield made


def transcript(wires=WIRES):
    return OpenAIChatDialect().decode(wires)


def receipt(*edits):
    return Receipt(
        "compacted" if edits else "unchanged", "test", 100, 50, 6, 3, "c", "p", 60, edits=edits
    )


def dropping(messages, count=2):
    return receipt(Drop(tuple(message.id for message in messages[:count]), "window"))


def test_content_removed_from_a_file_is_recalled(archive):
    log = transcript()

    name = archive.save("chat.json", log, dropping(log.messages))
    found = archive.recall(log.messages[1].id[:8])

    assert name == "chat.json"
    assert found.raw == WIRES[1]
    assert archive.messages("chat.json") == log.messages


def test_saving_twice_changes_nothing(archive):
    log = transcript()
    for _ in range(3):
        archive.save("chat.json", log, dropping(log.messages))

    (info,) = archive.sessions()

    assert (info.messages, info.batches) == (6, 1)


@pytest.mark.parametrize(
    "change",
    [
        lambda archive: archive.undo("a"),
        lambda archive: archive.save("a", transcript(), dropping(transcript().messages, 3)),
    ],
    ids=["undo", "save"],
)
def test_a_session_replaced_meanwhile_is_not_changed(store, monkeypatch, change):
    archive, log = Archive(store, clock=Clock()), transcript()
    edit = dropping(log.messages)
    archive.save("a", log, edit)
    commit = store.commit

    def late(name, generation, made):
        monkeypatch.setattr(store, "commit", commit)
        archive.delete(name)
        archive.save(name, log, edit)
        return commit(name, generation, made)

    monkeypatch.setattr(store, "commit", late)
    with pytest.raises(StoreError, match="deleted or replaced"):
        change(archive)

    assert archive.receipts("a") == (edit,)
    (info,) = archive.sessions()
    assert info.batches == 1


def test_a_file_that_grew_continues_with_the_newest_compaction(archive):
    for count in (3, 6):
        log = transcript(WIRES[:count])
        archive.save("chat.json", log, dropping(log.messages, count - 1))

    (info,) = archive.sessions()

    assert (info.messages, info.batches) == (6, 1)


def test_a_file_with_other_content_becomes_another_session(archive):
    archive.save("chat.json", transcript(), receipt())
    other = transcript([{"role": "user", "content": "else"}])

    assert archive.save("chat.json", other, dropping(other.messages, 1)) == "chat.json (2)"
    assert archive.save("chat.json", other, dropping(other.messages, 1)) == "chat.json (2)"
    assert len(archive.sessions()) == 2


def test_messages_of_a_format_without_a_dialect_are_restored(archive):
    record = {"type": "assistant", "uuid": "1", "message": {"content": "hi"}}
    result = ToolResult("t", (Text("out", raw={"type": "text", "text": "out"}),), raw=record)
    message = Message("tool", (result,), record, "claude-code", pinned=True)
    log = Transcript.of([message, replace(message, raw={"type": "other"})], "claude-code")

    archive.save("session.jsonl", log, dropping(log.messages))
    back = archive.messages("session.jsonl")

    assert back == log.messages
    assert [m.id for m in back] == [m.id for m in log.messages]
    assert [m.raw for m in back] == [record, {"type": "other"}]
    assert back[0].dialect == "claude-code"
    assert archive.recall(back[0].id).text == "out"


def test_snapshots_are_found_over_all_sessions(archive):
    log = transcript()
    gone = tuple(message.id for message in log.messages[:4])
    snapshot = Message("user", (Text("in short"),), id=derived_id(*gone))
    archive.save("a", log, receipt(Fold(gone, snapshot)))
    archive.save("b", transcript([{"role": "user", "content": "newer"}]), receipt())

    found = archive.recall(snapshot.id[:8])

    assert found.raw == WIRES[:4]


def test_the_newest_session_takes_precedence_unless_one_is_named(archive):
    log = transcript()
    for name in ("old", "new"):
        archive.save(name, log, receipt())
    number = log.messages[0].id

    assert archive.recall(number).raw == archive.recall(number, session="old").raw
    assert [info.head.name for info in archive.sessions()] == ["new", "old"]


def test_slice_arguments_are_forwarded(archive):
    archive.save("a", transcript([{"role": "user", "content": "one\ntwo\nthree"}]), receipt())
    number = archive.messages("a")[0].id

    assert archive.recall(number, lines="2").text == "two"
    assert archive.recall(number, grep="thr", context=0).text == "3: three"


def test_an_unknown_handle_suggests_similar_ones(archive):
    log = transcript()
    archive.save("a", log, receipt())
    handle = log.messages[0].id[:HANDLE_LENGTH]
    wrong = handle[:-1] + ("0" if handle[-1] != "0" else "1")

    with pytest.raises(RecallError, match=handle):
        archive.recall(wrong)
    with pytest.raises(RecallError, match="is not a handle"):
        archive.recall("what?")
    with pytest.raises(RecallError, match="no session 'nobody'"):
        archive.messages("nobody")
    with pytest.raises(RecallError):
        archive.recall(handle, session="nobody")


def test_the_session_that_issued_a_handle_precedes_a_newer_one(archive):
    log = transcript()
    first, second = log.messages[0].id, "0" * 32
    handle = first[:HANDLE_LENGTH]
    made = replace(dropping(log.messages, 1), recall={handle: "user message"})
    archive.save("old", log, made)
    twin = replace(log.messages[0], id=handle + second[HANDLE_LENGTH:], parts=(Text("twin"),))
    archive.save("new", log.with_messages([twin]), receipt())

    assert archive.recall(handle).message_id == first
    assert archive.recall(twin.id).text == "twin"


def test_an_archive_reads_concurrent_writes_of_a_session(archive, place):
    with Session.open(place, "live", window=8_000) as session:
        number = session.append(WIRES[0])

        assert archive.recall(number).raw == WIRES[0]
        assert archive.sessions()[0].head.name == "live"


def test_a_message_that_is_not_json_is_rejected_and_nothing_is_stored(archive):
    message = Message("user", (Text("x"),), {"role": "user", "content": "x", "odd": {1}})

    with pytest.raises(Exception, match="not JSON"):
        archive.save("a", Transcript.of([message], "openai-chat"), receipt())

    assert archive.messages("a") == ()


def test_a_closed_archive_raises_an_error(place):
    archive = Archive.open(place)
    archive.close()

    with pytest.raises(StoreError, match="is closed"):
        archive.sessions()


def test_the_given_receipt_is_stored(archive):
    log = transcript()
    made = dropping(log.messages)
    archive.save("a", log, made)

    (batch,) = archive._store.load("a").batches

    assert batch.receipt == json.loads(json.dumps(made.to_dict()))


def test_a_damaged_session_does_not_hide_the_others(tmp_path):
    path = tmp_path / "a.db"
    with Archive.open(path) as archive:
        good, bad = transcript(), transcript([{"role": "user", "content": "other " * 200}])
        archive.save("good", good, dropping(good.messages))
        archive.save("bad", bad, receipt())
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE blobs SET data = x'00' WHERE size > 1000")
        handle = good.messages[0].id[:HANDLE_LENGTH]

        assert archive.recall(handle).text == "message 0"
        with pytest.raises(StoreError, match="damaged"):
            archive.recall(bad.messages[0].id[:HANDLE_LENGTH])


def test_a_file_read_in_another_format_is_another_session(archive):
    calling = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    longer = [*WIRES, {"role": "assistant", "content": [calling]}]
    first, second = transcript(), AnthropicDialect().decode(longer)
    archive.save("f", first, dropping(first.messages))

    name = archive.save("f", second, dropping(second.messages))

    assert name == "f (2)"
    assert archive.messages(name)[-1].calls[0].id == "t1"


def test_a_recall_reads_only_its_message(place, monkeypatch):
    with Session.open(place, "long", window=200_000) as session:
        ids = session.extend({"role": "user", "content": f"fact {n}"} for n in range(50))
    read = []
    plain = rows.messages

    def counted(connection, number, start, stop):
        read.extend(range(start, stop))
        return plain(connection, number, start, stop)

    monkeypatch.setattr(rows, "messages", counted)
    with Archive.open(place) as archive:
        assert archive.recall(ids[17][:12]).text == "fact 17"

    assert read == [17]
