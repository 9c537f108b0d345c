import json
import sys

import pytest
from tests.children import launch

from foldline.errors import InputError, StoreError
from foldline.tools import ErrorCode, Journal
from foldline.tools.journal import CATEGORIES


class Clock:
    def __init__(self):
        self.now = 1_700_000_000.0

    def __call__(self):
        self.now += 60
        return self.now


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "dev.jsonl", clock=Clock())


def texts(entries):
    return [entry.text for entry in entries]


@pytest.mark.requirement("H17")
def test_entries_come_back_newest_first_by_category_tag_time_and_number(journal):
    first = journal.add("decision", "Use SQLite.", ["store"])
    journal.add("issue", "It locks.", ["Store", "sqlite"])
    third = journal.add("solution", "Use WAL.", ["sqlite", "store", "store"])
    assert texts(journal.entries()) == ["Use WAL.", "It locks.", "Use SQLite."]
    assert texts(journal.entries("issue")) == ["It locks."]
    assert texts(journal.entries(tags=["STORE"], limit=2)) == ["Use WAL.", "It locks."]
    assert texts(journal.entries(tags=["store", "sqlite"])) == ["Use WAL.", "It locks."]
    assert texts(journal.entries(since=third.time)) == ["Use WAL."]
    assert journal.entries(limit=0) == []
    assert third.tags == ("sqlite", "store")
    assert first.id < third.id


@pytest.mark.requirement("H17")
def test_there_are_seven_categories_and_every_other_one_is_refused(journal):
    assert len(CATEGORIES) == 7
    for category in CATEGORIES:
        journal.add(category, "x")
    for category, text in (
        ("opinion", "x"),
        ("", "x"),
        (None, "x"),
        ("cleared", "x"),
        ("issue", ""),
        ("issue", " \n"),
        ("issue", "x" * 4_001),
    ):
        with pytest.raises(InputError):
            journal.add(category, text)
    with pytest.raises(InputError, match="tags"):
        journal.add("issue", "x", ["t"] * 13)
    assert journal.stats().total == 7


@pytest.mark.requirement("H17")
def test_it_is_read_again_by_another_and_counted(journal, tmp_path):
    journal.add("issue", "一个问题 with\nlines", ["中文"])
    journal.add("issue", "another")
    journal.add("test", "green", ["中文"])
    again = Journal(tmp_path / "dev.jsonl")
    stats = again.stats()
    assert (stats.total, dict(stats.categories)) == (3, {"issue": 2, "test": 1})
    assert dict(stats.tags) == {"中文": 2}
    assert again.entries() == journal.entries()
    assert again.summary(1).splitlines()[0] == "3 entries: 2 issue, 1 test"
    assert "test #中文: green" in again.summary(1)


@pytest.mark.requirement("H17")
def test_clearing_hides_entries_and_removes_none(journal, tmp_path):
    journal.add("issue", "old")
    assert journal.clear() == 1
    assert journal.entries() == []
    journal.add("issue", "new")
    assert texts(Journal(tmp_path / "dev.jsonl").entries()) == ["new"]
    assert '"old"' in (tmp_path / "dev.jsonl").read_text()


def test_a_line_that_a_crash_cut_off_loses_itself_and_nothing_else(journal, tmp_path):
    journal.add("issue", "before")
    path = tmp_path / "dev.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    assert texts(journal.entries()) == ["before"]
    journal.add("issue", "after")
    path.write_bytes(path.read_bytes() + b"[1]\nnull\n" + b"[" * 10_000 + b"\n")
    assert texts(journal.entries()) == ["after", "before"]
    assert journal.stats().damaged == 4


def test_two_processes_write_at_once_and_lose_nothing(tmp_path):
    path = tmp_path / "dev.jsonl"
    code = (
        "import sys; from foldline.tools import Journal; j = Journal(sys.argv[1]);"
        "[j.add('progress', f'{sys.argv[2]} {n}') for n in range(60)]"
    )
    children = [launch([sys.executable, "-c", code, path, who]) for who in "ab"]
    assert [child.wait(60) for child in children] == [0, 0]
    entries = Journal(path).entries()
    assert len({entry.id for entry in entries}) == len(entries) == 120
    assert [e.text for e in reversed(entries) if e.text[0] == "a"] == [f"a {n}" for n in range(60)]


def test_a_journal_may_be_named_by_a_link(journal, tmp_path):
    journal.add("issue", "first")
    (tmp_path / "link").symlink_to(journal._path)
    linked = Journal(tmp_path / "link")
    linked.add("issue", "second")
    assert {entry.text for entry in journal.entries()} == {"first", "second"}
    assert linked.stats().total == 2


def test_a_folder_that_is_not_there_is_a_store_error(tmp_path):
    with pytest.raises(StoreError, match="cannot be written"):
        Journal(tmp_path / "none" / "dev.jsonl").add("issue", "x")
    with pytest.raises(StoreError, match="cannot be read"):
        Journal(tmp_path).entries()
    assert Journal(tmp_path / "none.jsonl").entries() == []


@pytest.mark.requirement("H17")
def test_a_model_keeps_it_with_one_tool(journal):
    tool = journal.tool
    done = tool.run({"action": "add", "category": "issue", "text": "slow", "tags": '["perf"]'})
    assert done.text == f"Noted as {journal.entries()[0].id}."
    assert "issue #perf: slow" in tool.run({"action": "read", "tags": ["perf"]}).text
    assert json.loads(done.to_json())["data"]["category"] == "issue"
    assert tool.run({"action": "read", "category": "test"}).text == "There is no such entry."
    assert tool.run({"action": "summary"}).text.startswith("1 entries: 1 issue")
    for wrong in ({"action": "add"}, {"action": "add", "category": "issue"}, {"action": "drop"}):
        assert tool.run(wrong).code is ErrorCode.INVALID_ARGUMENTS


@pytest.mark.requirement("H17")
def test_a_line_with_a_time_that_no_calendar_has_is_damaged_and_hides_no_other(tmp_path):
    path = tmp_path / "dev.jsonl"
    line = '{"id": "a", "time": %s, "category": "issue", "text": "t", "tags": []}\n'
    path.write_text("".join(line % time for time in ("1e300", "NaN", "Infinity")))
    journal = Journal(path)
    journal.add("issue", "It locks.")
    assert journal.stats().damaged == 3
    assert journal.summary().endswith("issue: It locks.")
