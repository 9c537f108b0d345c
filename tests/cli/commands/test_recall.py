from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.sample import PLANTED, conversation, foldline, start

from foldline.session import Session


@pytest.fixture
def handle(session: Path) -> str:
    """The handle of the result that names the secret, given out by a compaction."""
    told = json.loads(foldline("compact", session, "--budget", "1500", "--json").stdout)
    for handle, words in told["receipt"]["recall"].items():
        if "result" in words and PLANTED in foldline("recall", handle).stdout:
            return str(handle)
    raise AssertionError("the secret is lost")


def original() -> str:
    return next(m["content"] for m in conversation() if PLANTED in str(m["content"]))


def test_another_process_recalls_every_byte(handle: str) -> None:
    out, told = start("recall", handle).communicate(timeout=60)
    assert out.decode() == original() + "\n"
    assert told == b""


def test_lines_and_hits_can_be_chosen(handle: str) -> None:
    hits = foldline("recall", handle, "--grep", "deploy.key", "--context", 1)
    assert f"31: # {PLANTED}" in hits.stdout
    assert "1 matching line." in hits.stderr
    assert foldline("recall", handle, "--lines", "31").stdout == f"# {PLANTED}\n"


def test_a_page_links_to_the_next_one(handle: str) -> None:
    first = foldline("recall", handle, "--max-tokens", 50)
    start_at = first.stderr.rsplit("start=", 1)[1].rstrip(".\n")
    rest = foldline("recall", handle, "--start", start_at)
    assert first.stdout.rstrip("\n") + "\n" + rest.stdout == original() + "\n"


@pytest.mark.parametrize("way", ["--query", "--grep"])
def test_a_small_answer_holds_what_matches_and_ends_with_what_is_left(
    handle: str, way: str
) -> None:
    small = foldline("recall", handle, way, "compute", "--max-tokens", 60).stdout
    assert "compute" in small
    assert "start=" in small.splitlines()[-1]
    one = foldline("recall", handle, way, "heron", "--max-tokens", 40).stdout
    assert PLANTED in one


def test_the_wire_original_is_json(handle: str) -> None:
    assert json.loads(foldline("recall", handle, "--raw").stdout)["content"] == original()
    told = json.loads(foldline("recall", handle, "--raw", "--json").stdout)
    assert (told["schema"], told["text"]) == ("foldline.recall/1", original())
    assert told["raw"]["role"] == "tool"


def test_a_json_path_into_other_content_is_reported(handle: str) -> None:
    done = foldline("recall", handle, "--json-path", "$.a")
    assert done.exit_code == 3
    assert "not JSON" in done.stderr


@pytest.mark.parametrize("wrong", ["xyz", "abcdef", "../../etc", "0" * 33])
def test_a_wrong_handle_is_bad_input(handle: str, wrong: str) -> None:
    assert handle != wrong
    done = foldline("recall", wrong)
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("pattern", ["(", "(a+)+$" * 100])
def test_a_wrong_pattern_is_bad_input(handle: str, pattern: str) -> None:
    assert foldline("recall", handle, "--grep", pattern).exit_code == 3


def test_sessions_are_listed(handle: str, session: Path) -> None:
    assert handle
    assert session.name in foldline("recall", "--list").stdout
    told = json.loads(foldline("recall", "--list", "--json").stdout)
    assert told["schema"] == "foldline.sessions/1"
    assert told["sessions"][0]["name"] == session.name
    assert told["sessions"][0]["messages"] == len(conversation())
    assert foldline("recall", handle, "--session", session.name).exit_code == 0
    missing = foldline("recall", handle, "--session", "another")
    assert missing.exit_code == 3
    assert "There is no session 'another'." in missing.stderr


def test_a_missing_archive_is_reported_and_not_created(tmp_path: Path) -> None:
    done = foldline("recall", "abcdef", "--archive", tmp_path / "no.db")
    assert done.exit_code == 5
    assert "foldline compact" in done.stderr
    assert not (tmp_path / "no.db").exists()


def test_a_file_that_is_not_an_archive_is_reported(tmp_path: Path) -> None:
    (tmp_path / "other.db").write_text("not a database at all, but long enough to look at" * 50)
    done = foldline("recall", "abcdef", "--archive", tmp_path / "other.db")
    assert done.exit_code == 5
    assert "not a SQLite file" in done.stderr


def test_a_handle_or_a_list_is_needed() -> None:
    assert foldline("recall").exit_code == 2
    assert foldline("recall", "abcdef", "--list").exit_code == 2


def test_the_original_of_a_message_object_is_its_stored_json(tmp_path: Path) -> None:
    messages = pytest.importorskip("langchain_core.messages")
    with Session.open(tmp_path / "a.db", "s", window=8_000) as opened:
        number = opened.append(messages.HumanMessage("hello"))
    done = foldline("recall", number[:8], "--raw", "--archive", tmp_path / "a.db")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["fields"]["content"] == "hello"
