"""A history is matched to the session that it continues, and to no other."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from tests.proxy.rewriting import compacted, decide, rewriter, turns, view_sent

from foldline.archive import Archive

LONG = turns(60)
MARK = {"type": "ephemeral"}


def test_a_continued_history_stays_in_its_session(tmp_path):
    who = rewriter(tmp_path / "a.db")
    names = {decide(who, LONG[:length]).session for length in (1, 3, 3, 5, 9)}
    assert len(names) == 1
    assert names.pop().startswith("serve-tester-")


def test_cache_marks_do_not_start_another_session(tmp_path):
    who = rewriter(tmp_path / "a.db")
    first = decide(who, LONG[:3])
    block = {"type": "text", "text": LONG[2]["content"], "cache_control": MARK}
    marked = [*LONG[:2], {"role": "user", "content": [block]}, *LONG[3:5]]
    assert decide(who, marked).session == first.session


def test_a_title_request_with_the_same_id_is_not_a_continuation(tmp_path):
    who = rewriter(tmp_path / "a.db")
    same = {"user-agent": "claude-cli/2.1", "x-claude-code-session-id": "one"}
    tools = [{"name": "read", "input_schema": {"type": "object"}}]
    main = decide(who, LONG[:1], headers=same, tools=tools)
    title = decide(who, [{"role": "user", "content": "Name this."}], headers=same)
    alike = decide(who, LONG[:1], headers=same)
    later = decide(who, LONG[:3], headers=same, tools=tools)
    assert len({main.session, title.session, alike.session}) == 3
    assert later.session == main.session
    assert main.session.startswith("serve-claude-code-")


def test_branches_and_parallel_agents_get_their_own_sessions(tmp_path):
    who = rewriter(tmp_path / "a.db")
    begun = decide(who, LONG[:5]).session
    other = [*LONG[:4], {"role": "user", "content": "something else"}]
    branch = decide(who, other).session
    agents = [decide(who, turns(2, name=name)[:3]).session for name in ("a", "b")]
    assert len({begun, branch, *agents}) == 4
    assert decide(who, LONG[:7]).session == begun
    assert decide(who, [*other, *turns(1, name="c")]).session == branch


def test_a_branch_keeps_the_view_of_its_shared_beginning(tmp_path):
    who = rewriter(tmp_path / "a.db")
    length, before = compacted(who, LONG)
    decide(who, LONG[: length + 2])
    edited = [*LONG[: length - 1], {"role": "user", "content": "no, do something else"}]
    branch = decide(who, edited)
    assert branch.session != before.session
    assert branch.outcome == "view"
    assert view_sent(branch)[:-1] == view_sent(before)[:-1]
    assert view_sent(branch)[-1] == edited[-1]


def test_a_branch_from_before_a_compaction_is_sent_whole(tmp_path):
    who = rewriter(tmp_path / "a.db")
    compacted(who, LONG)
    early = [*LONG[:4], {"role": "user", "content": "something else from here"}]
    found = decide(who, early)
    assert (found.outcome, view_sent(found)) == ("unchanged", early)


def test_a_rewound_question_is_never_hidden(tmp_path):
    who = rewriter(tmp_path / "a.db")
    length, _ = compacted(who, LONG)
    for back in range(1, length, 2):
        assert view_sent(decide(who, LONG[:back]))[-1] == LONG[back - 1]


def test_after_a_restart_the_same_bytes_are_sent(tmp_path):
    first = rewriter(tmp_path / "a.db")
    length, before = compacted(first, LONG)
    first.close()
    again = decide(rewriter(tmp_path / "a.db"), LONG[: length + 2])
    assert (again.session, again.outcome) == (before.session, "view")
    assert view_sent(again)[: len(view_sent(before))] == view_sent(before)
    cut = before.body.rindex(b"]")
    assert again.body[:cut] == before.body[:cut]


@pytest.mark.parametrize(
    "damage",
    ["UPDATE messages SET id = x'07' WHERE seq = 1", "UPDATE batches SET receipt = edits"],
)
@pytest.mark.parametrize("more", [0, 2])
def test_a_conversation_with_a_damaged_session_starts_a_new_one(tmp_path, damage, more):
    first = rewriter(tmp_path / "a.db")
    length, before = compacted(first, LONG)
    first.close()
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection, connection:
        connection.execute(damage)
    body = {"role": "user", "content": "and now something else"}
    again = decide(rewriter(tmp_path / "a.db"), [*LONG[: length - 1 + more], body])
    assert again.outcome == "compacted"
    with Archive.open(tmp_path / "a.db") as archive:
        assert {info.head.name for info in archive.sessions()} == {before.session, again.session}


def test_two_proxies_on_one_archive_lose_nothing(tmp_path):
    both = [rewriter(tmp_path / "a.db"), rewriter(tmp_path / "a.db")]
    seen = [decide(both[n % 2], LONG[: 2 * n + 1]) for n in range(50)]
    assert {one.outcome for one in seen} == {"unchanged", "compacted", "view"}
    assert len({one.session for one in seen}) == 1
    with Archive.open(tmp_path / "a.db") as archive:
        kept = archive.messages(seen[0].session)
    assert [message.raw for message in kept] == LONG[:99]


def test_without_an_archive_a_session_lives_while_it_is_open():
    who = rewriter()
    length, before = compacted(who, LONG)
    assert decide(who, LONG[: length + 2]).session == before.session


def test_sessions_of_other_programs_are_not_continued(tmp_path):
    from foldline.session import Session

    with Session.open(tmp_path / "a.db", "mine", window=20_000) as mine:
        mine.extend(LONG[:3])
    assert decide(rewriter(tmp_path / "a.db"), LONG[:5]).session != "mine"


def test_concurrent_requests_keep_every_session_whole(tmp_path):
    who = rewriter(tmp_path / "a.db")

    def run(number: int) -> set[str]:
        mine = turns(12, 30, f"agent{number}x")
        found = [decide(who, mine[: 2 * n + 1]) for n in range(12)]
        assert all(json.loads(one.body)["messages"] for one in found)
        assert {one.outcome for one in found} == {"unchanged"}
        return {one.session for one in found}

    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(run, range(24)))
    assert all(len(one) == 1 for one in names)
    assert len(set.union(*names)) == 24


def test_the_same_request_sent_concurrently_is_one_session(tmp_path):
    who = rewriter(tmp_path / "a.db")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: decide(who, LONG[:9]), range(24)))
    assert {one.outcome for one in found} == {"unchanged"}
    assert len({one.session for one in found}) == 1


def test_closed_sessions_are_found_again(tmp_path, monkeypatch):
    monkeypatch.setattr("foldline.proxy.request_rewriting.MAX_OPEN", 2)
    who = rewriter(tmp_path / "a.db")
    names = ["a", "b", "c", "d"]
    first = [decide(who, turns(2, name=name)[:3]).session for name in names]
    assert who.sessions == 2
    assert [decide(who, turns(3, name=name)[:5]).session for name in names] == first
